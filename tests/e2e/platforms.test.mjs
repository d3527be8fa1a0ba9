// SPDX-License-Identifier: Apache-2.0
// The table that studies of platforms print, from uploads alone: two models on two vendors, each
// job with its traces, log, monitor, link test and configuration, in five commands; every figure
// equals the truth.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { start_server } from "./helpers/server.mjs";
import { run_status, temporary, tracegen_bin } from "./helpers/tools.mjs";

const AS_EVIDENCE = fileURLToPath(new URL("../tracegen/as_evidence.py", import.meta.url));
const PRICES = { cuda: "2.5", rocm: "2.0" };
const JOBS = ["small", "large"].flatMap((model) => ["cuda", "rocm"].map((flavour) =>
  ({ name: `${model}-${flavour}`, model, flavour, layers: model === "small" ? "2" : "4" })));

const home = temporary("platforms");
let server;
let report;

async function command(program, ...args) {
  const { status, stdout, stderr } = await run_status(program, args);
  assert.equal(status, 0, `${program} ${args.join(" ")}: ${stderr}`);
  return stdout;
}

async function generate({ name, flavour, layers }) {
  const out = join(home, name);
  await command(tracegen_bin(), "--ranks", "2", "--world", "2", "--steps", "5", "--memory",
    "--layers", layers, "--flavour", flavour, "--out", out);
  await command("python3", AS_EVIDENCE, out, "--price", PRICES[flavour]);
}

const left_by = ({ name }) => readdirSync(join(home, name))
  .filter((file) => !["truth.json", "figures.json"].includes(file))
  .flatMap((file) => ["-F", `trace=@${join(home, name, file)}`]);

const upload = (job) => command("curl", "-sS", "--fail-with-body", "-F", `run=${job.name}`,
  "-F", `meta=model=${job.model}`, "-F", `meta=gpu_hour_price=${PRICES[job.flavour]}`,
  ...left_by(job), `${server.base}/upload?wait=60`);

before(async () => {
  server = await start_server();
  await Promise.all(JOBS.map(generate));
  for (const job of JOBS) await upload(job);
  report = JSON.parse(await command("curl", "-sS", "--fail-with-body",
    `${server.base}/api/v1/report?${JOBS.map(({ name }) => `run=${name}`).join("&")}&format=json`));
});
after(() => server?.stop());

const truth_of = ({ name }) => JSON.parse(readFileSync(join(home, name, "figures.json"), "utf8"));

/** Holds a row of a section against the truth, in the column of a job. */
function hold(section, label, column, wanted, tolerance = 1e-9) {
  const row = section.rows.find(([first]) => first.text === label);
  assert.ok(row, `${label} is missing in ${section.title}`);
  const found = row[column].value;
  assert.ok(Math.abs(found - wanted) <= tolerance * Math.abs(wanted),
    `${label}: ${found}, expected ${wanted}`);
}

const section_of = (title) => report.sections.find((one) => one.title === title);

for (const [i, job] of JOBS.entries()) {
  test(`${job.name}: every figure equals the truth`, () => {
    const platforms = section_of("Platforms");
    for (const [label, wanted] of Object.entries(truth_of(job).report)) {
      hold(platforms, label, i + 1, wanted);
    }
  });

  test(`${job.name}: losses and links equal the truth`, () => {
    const truth = truth_of(job);
    const column = JOBS.filter(({ model }) => model === job.model).indexOf(job) + 1;
    for (const [label, wanted] of Object.entries(truth.convergence)) {
      hold(section_of(`Convergence: ${job.model}`), label, column, wanted);
    }
    for (const [label, wanted] of Object.entries(truth.links)) {
      hold(section_of("Links"), label, i + 1, wanted);
    }
  });

  test(`${job.name}: shares of the step and utilization equal the truth`, async () => {
    const platforms = section_of("Platforms");
    for (const [label, wanted] of Object.entries(await shares_of(job))) {
      hold(platforms, label, i + 1, wanted);
    }
  });
}

const DENSE_BF16 = { cuda: 989e12, rocm: 1307e12 }; // of H100 and MI300X

/** Of the steady steps of the rank that stands for the run, by what the generator wrote. */
async function shares_of({ name, flavour }) {
  const { summary } = await server.get(`/runs/${name}/summary`);
  const rank = JSON.parse(readFileSync(join(home, name, "truth.json"), "utf8"))
    .ranks.find((one) => one.rank === summary.headline_rank);
  const { items } = await server.get(`/runs/${name}/steps?limit=all&rank=${rank.rank}`);
  const steady = new Set(items.filter((step) => step.steady).map(({ step }) => step));
  const steps = rank.steps.filter(({ step }) => steady.has(step));
  const sum = (key) => steps.reduce((total, { breakdown }) => total + breakdown[key], 0);
  const window = sum("window_ns");
  const work = rank.work.filter(({ flops }) => flops);
  const flops = (rows) => rows.reduce((total, row) => total + row.flops * row.calls, 0);
  const seconds = (rows) => rows.reduce((total, row) => total + row.total_ns, 0) / 1e9;
  const of_peak = (rows) => flops(rows) / seconds(rows) / DENSE_BF16[flavour];
  const used = flops(work) / rank.step_count * steps.length / (window / 1e9) / DENSE_BF16[flavour];
  const rate = (rows) => flops(rows) / seconds(rows) / 1e12;
  const gemms = work.filter(({ op }) => op.includes("mm"));
  const attention = work.filter(({ op }) => op.includes("attention"));
  return { "MFU": used, "HFU": used, "GEMM TFLOP/s": rate(gemms),
    "Attention TFLOP/s": rate(attention),
    "GEMM, of peak": of_peak(gemms),
    "Attention, of peak": of_peak(attention),
    "GPU busy": sum("busy_ns") / window, "GPU idle": sum("idle_ns") / window,
    "Communication": sum("total_comm_ns") / window,
    "Exposed communication": sum("exposed_comm_ns") / window,
    "Overlapped communication": 1 - sum("exposed_comm_ns") / sum("total_comm_ns") };
}

test("each model is compared across the vendors, and what differs leads", () => {
  const titles = report.sections.map(({ title }) => title);
  assert.deepEqual(titles.filter((title) => title.startsWith("Verdict")),
    ["Verdict: small", "Verdict: large"]);
  const settings = report.sections.find(({ title }) => title === "Settings that differ: small");
  assert.equal(settings.rows[0][0].text, "gpu");
});

for (const job of JOBS)
  test(`${job.name}: each rank's GPU is found, its time and the energy of its steps`, async () => {
    const truth = truth_of(job);
    const { items } = await server.get(`/runs/${job.name}/rank_monitors?limit=all`);
    const steps = (await server.get(`/runs/${job.name}/steps?limit=all`)).items;
    const by = job.flavour === "rocm" ? "order of devices" : "index";
    assert.deepEqual(
      items.map(({ rank, gpu, joined_by, covers }) => [rank, gpu, joined_by, covers]),
      [[0, 0, by, "steps"], [1, 1, by, "steps"]]);
    for (const row of items) {
      const energies = steps.filter(({ rank, steady }) => rank === row.rank && steady)
        .map(({ step }) => truth.step_energy_j[row.rank][step]);
      const wanted = energies.reduce((sum, joules) => sum + joules, 0) / energies.length;
      assert.ok(Math.abs(row.energy_j_per_step - wanted) <= 1e-9 * wanted,
        `${row.energy_j_per_step} J, expected ${wanted}`);
      assert.deepEqual([row.aligned_by, row.zone_ns, row.offset_ns], truth.zone_ns === null
        ? ["UTC", null, 0] : ["zone", truth.zone_ns, -truth.zone_ns]);
    }
  });

test("collectives stand beside what the links reached", async () => {
  const { items } = await server.get("/runs/small-cuda/link_tests?limit=all");
  assert.equal(items.length > 0, true);
});
