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

for (const [i, job] of JOBS.entries())
  test(`${job.name}: every figure equals the truth`, () => {
    const [platforms] = report.sections;
    assert.equal(platforms.title, "Platforms");
    for (const [label, wanted] of Object.entries(truth_of(job).report)) {
      const row = platforms.rows.find(([first]) => first.text === label);
      assert.ok(row, `${label} is missing`);
      const found = row[i + 1].value;
      assert.ok(Math.abs(found - wanted) <= 1e-9 * Math.abs(wanted),
        `${label}: ${found}, expected ${wanted}`);
    }
  });

test("each model is compared across the vendors, and what differs leads", () => {
  const titles = report.sections.map(({ title }) => title);
  assert.deepEqual(titles.filter((title) => title.startsWith("Verdict")),
    ["Verdict: small", "Verdict: large"]);
  const settings = report.sections.find(({ title }) => title === "Settings that differ: small");
  assert.equal(settings.rows[0][0].text, "gpu");
});

test("collectives stand beside what the links reached", async () => {
  const { items } = await server.get("/runs/small-cuda/link_tests?limit=all");
  assert.equal(items.length > 0, true);
});
