// SPDX-License-Identifier: Apache-2.0
// Numbers through the whole service: against the truth of generated jobs, against references for
// real traces, and against each other.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { after, before, test } from "node:test";
import { assert_parts, assert_waterfall, BARS, sum } from "./helpers/figures.mjs";
import { start_server } from "./helpers/server.mjs";
import { run_program, skipped, stepscope_bin } from "./helpers/tools.mjs";
import {
  generate, have_real_traces, real_file, real_names, real_reference, small_job,
} from "./helpers/traces.mjs";

const JOBS = {
  "cuda-ddp": small_job("--seed", "3"),
  "rocm-fsdp": small_job("--flavour", "rocm", "--strategy", "fsdp", "--format", "gz"),
  "cuda-comm": small_job("--plant", "exposed_comm=2000000", "--seed", "5", "--format", "zst"),
  "rocm-starved": small_job("--flavour", "rocm", "--plant", "starvation=3000000", "--noise", "3"),
  "cuda-tiny": small_job("--plant", "tiny_kernels", "--plant", "pageable_copies", "--steps", "7"),
  "cuda-cpu-names": small_job("--stacks", "--one-line", "--straggler", "1=150"),
};
const BREAKDOWN = ["window_ns", "compute_ns", "exposed_comm_ns", "exposed_memory_ns", "idle_ns",
  "busy_ns", "total_comm_ns", "total_memory_ns"];
const FINDINGS = {
  "cuda-comm": /comm|exposed_transfer/,
  "rocm-starved": /starv/,
  "cuda-tiny": /tiny|copies/,
};

let server;
const truths = {};

before(async () => {
  server = await start_server();
  for (const [name, args] of Object.entries(JOBS)) {
    const { truth, files } = await generate(args);
    truths[name] = truth;
    const run = await server.analyzed(name, files);
    assert.equal(run.status, "done", `${name}: ${run.error}`);
  }
});
after(() => server?.stop());

const picked = (row, columns) => Object.fromEntries(columns.map((name) => [name, row[name]]));

/** All rows of a run's table. @returns {Promise<any[]>} */
const rows_of = async (run, table, query = "") =>
  (await server.get(`/runs/${run}/${table}?limit=all${query && `&${query}`}`)).items;

async function check_rank(run, truth) {
  const breakdown = await rows_of(run, "breakdown", `scope=rank&rank=${truth.rank}`);
  assert.equal(breakdown.length, 1);
  assert.deepEqual(picked(breakdown[0], BREAKDOWN), picked(truth.breakdown, BREAKDOWN));
  const classes = await rows_of(run, "classes", `rank=${truth.rank}`);
  const found = Object.fromEntries(classes.map((row) =>
    [row.class, { events: row.events, sum_ns: row.sum_ns }]));
  assert.deepEqual(found, truth.classes);
  const kernels = await rows_of(run, "kernels", `rank=${truth.rank}`);
  assert.equal(sum(kernels.map(({ calls }) => calls)), truth.device_events);
  assert.equal(sum(kernels.map(({ total_ns }) => total_ns)),
    sum(Object.values(truth.classes).map(({ sum_ns }) => sum_ns)));
  const steps = await rows_of(run, "steps", `rank=${truth.rank}&sort=step`);
  assert.deepEqual(steps.map(({ step }) => step), truth.steps.map(({ step }) => step));
  steps.forEach((row, i) => assert.deepEqual(picked(row, BREAKDOWN),
    picked(truth.steps[i].breakdown, BREAKDOWN), `rank ${truth.rank} step ${row.step}`));
}

for (const name of Object.keys(JOBS)) {
  test(`${name}: breakdown, classes, kernels and steps of every rank equal the truth`, async () => {
    for (const rank of truths[name].ranks) await check_rank(name, rank);
  });

  test(`${name}: the eight bars sum in every row and the parts list sums to the bars`, async () => {
    for (const table of ["breakdown", "steps", "ranks"]) {
      const rows = await rows_of(name, table);
      assert.ok(rows.length > 0, table);
      rows.forEach((row, i) => assert_parts(row, `${name} ${table} row ${i}`));
    }
    const [whole] = await rows_of(name, "breakdown", "scope=run_median");
    const parts = await rows_of(name, "parts");
    for (const bar of BARS) {
      const owned = sum(parts.filter((row) => row.bar === bar).map((row) => row.owned_ns));
      assert.equal(owned, whole[`${bar}_ns`], `${name}: parts of ${bar}`);
    }
  });
}

test("figures of a run are the sums over its ranks", async () => {
  for (const [name, truth] of Object.entries(truths)) {
    const kernels = await rows_of(name, "kernels");
    const events = sum(truth.ranks.map(({ device_events }) => device_events));
    assert.equal(sum(kernels.map(({ calls }) => calls)), events, name);
    const ranks = await rows_of(name, "ranks");
    assert.deepEqual(ranks.map(({ rank }) => rank), truth.ranks.map(({ rank }) => rank));
    assert.equal(ranks.filter(({ headline }) => headline).length, 1);
    assert.equal(sum(ranks.map(({ device_events }) => device_events)), events);
  }
});

test("a planted fault is found, and none in a clean job", async () => {
  for (const [name, expected] of Object.entries(FINDINGS)) {
    const rules = (await rows_of(name, "findings")).map(({ rule }) => rule);
    assert.match(rules.join(" "), expected, name);
  }
  const clean = await rows_of("cuda-ddp", "findings");
  assert.deepEqual(clean.filter(({ severity }) => severity === "high"), []);
});

const candidates_of = async (query) => (await server.get(`/compare?${query}`)).candidates;

test("a run compared with itself differs in nothing", async () => {
  for (const name of Object.keys(JOBS)) {
    const [{ summary, settings }] = await candidates_of(`base=${name}&cand=${name}`);
    assert.equal(summary.delta_ns, 0);
    assert.equal(summary.delta_mean_ns, 0);
    assert.equal(summary.speedup, 1);
    assert.deepEqual(settings.filter(({ differs }) => differs), []);
    const { items } = await server.get(`/compare/waterfall?base=${name}&cand=${name}&limit=all`);
    assert_waterfall(items, summary);
    assert.deepEqual(items.filter(({ delta_ns }) => delta_ns !== 0), []);
    assert.deepEqual(items.filter(({ match }) => match === "unmatched"), []);
  }
});

test("the waterfall sums exactly at every level between any two runs", async () => {
  const names = Object.keys(JOBS);
  for (const base of names) {
    const cand = names[(names.indexOf(base) + 1) % names.length];
    const [{ summary }] = await candidates_of(`base=${base}&cand=${cand}`);
    const { items } = await server.get(`/compare/waterfall?base=${base}&cand=${cand}&limit=all`);
    assert_waterfall(items, summary);
    assert.equal(summary.delta_ns, summary.cand_step_ns - summary.base_step_ns);
  }
});

test("swapping the two sides of a comparison turns the sign of every bar", async () => {
  const bars = async (base, cand) => (await server.get(
    `/compare/waterfall?base=${base}&cand=${cand}&level=bar&sort=bar`)).items;
  const there = await bars("cuda-ddp", "rocm-fsdp");
  const back = await bars("rocm-fsdp", "cuda-ddp");
  assert.deepEqual(back.map(({ delta_ns }) => 0 - delta_ns), there.map(({ delta_ns }) => delta_ns));
});

test("a slowed category shows in its bar and nowhere else among the compute bars", async () => {
  const clean = await generate(small_job("--noise", "0", "--ranks", "1"));
  const slow = await generate(small_job("--noise", "0", "--ranks", "1", "--slow", "gemm=200"));
  await server.analyzed("plain", clean.files);
  await server.analyzed("slow-gemm", slow.files);
  const { items } = await server.get(
    "/compare/waterfall?base=plain&cand=slow-gemm&level=bar&limit=all");
  const delta = (bar) => items.find((row) => row.bar === bar).delta_ns;
  assert.ok(delta("gemm") > 0);
  for (const bar of ["attention", "other_compute"]) {
    const what = `${bar} ${delta(bar)} of ${delta("gemm")}`;
    assert.ok(Math.abs(delta(bar)) < delta("gemm") / 50, what);
  }
});

test("analyze prints what the service computes", async () => {
  const { files, folder } = await generate(JOBS["cuda-ddp"]);
  const paths = files.map(({ filename }) => `${folder}/${filename}`);
  const out = await run_program(stepscope_bin(), ["analyze", "--format", "json", ...paths]);
  const { traces } = JSON.parse(out);
  for (const [i, trace] of traces.entries()) {
    const [row] = await rows_of("cuda-ddp", "breakdown", `scope=rank&rank=${i}`);
    assert.deepEqual(picked(trace.breakdown, BREAKDOWN), picked(row, BREAKDOWN));
  }
});

// --- real traces --------------------------------------------------------------------------------

const skip = have_real_traces() ? false : skipped("real traces: ../shared/traces is absent");

/** Rows with only the reference's columns, in its order. */
function like(rows, reference) {
  const columns = Object.keys(reference[0] ?? {});
  return rows.map((row) => picked(row, columns));
}

test("analyze equals the reference of every real trace, exactly", { skip }, async () => {
  for (const name of real_names()) {
    const expected = real_reference(name);
    const args = ["analyze", "--format", "json", real_file(name)];
    const [trace] = JSON.parse(await run_program(stepscope_bin(), args)).traces;
    const given = (keys) => keys.filter((key) => key in expected);
    for (const key of given(["device_events", "linked_device_events", "quarantined", "classes"])) {
      assert.deepEqual(trace[key], expected[key], `${name}: ${key}`);
    }
    const keys = expected.breakdown && Object.keys(expected.breakdown);
    const breakdown = keys ? picked(trace.breakdown, keys) : trace.breakdown;
    assert.deepEqual(breakdown, expected.breakdown ?? null, `${name}: breakdown`);
    for (const key of given(["kernels", "ops", "collectives"])) {
      assert.deepEqual(like(trace[key], expected[key]), expected[key], `${name}: ${key}`);
    }
  }
});

test("every real trace goes up with the README's curl line", { skip }, async () => {
  for (const name of real_names()) {
    const form = ["-F", `run=up-${name}`, "-F", `trace=@${real_file(name)}`];
    const out = await run_program("curl", ["-sS", ...form, `${server.base}/upload?wait=60`]);
    const reply = JSON.parse(out);
    assert.equal(reply.traces[0].status, "done", `${name}: ${out}`);
    const { summary, run } = await server.get(`/runs/${reply.run}/summary`);
    assert.equal(run.status, "done", `${name}: ${run.error}`);
    assert.equal(summary.device_events, real_reference(name).device_events, name);
  }
});

const pair_names = ["bert_small", "qwen1.5", "vit_detection"];

test("the three vendor pairs go through the service with their reference numbers", { skip },
  async () => {
    for (const name of pair_names.flatMap((one) => [`h100_${one}`, `mi300x_${one}`])) {
      const path = real_file(name);
      const file = { filename: basename(path), data: readFileSync(path) };
      const run = await server.analyzed(name, [file]);
      assert.equal(run.status, "done", `${name}: ${run.error}`);
      const expected = real_reference(name);
      const rank = run.traces[0].rank;
      const [row] = await rows_of(name, "breakdown", `scope=rank&rank=${rank}`);
      assert.deepEqual(picked(row, BREAKDOWN), picked(expected.breakdown, BREAKDOWN), name);
      const query = "sort=-total_ns,name&fields=name,calls,total_ns";
      const kernels = await rows_of(name, "kernels", query);
      assert.deepEqual(kernels, expected.kernels.map((one) =>
        picked(one, ["name", "calls", "total_ns"])), name);
      (await rows_of(name, "breakdown")).forEach((one) => assert_parts(one, name));
    }
  });

test("the vendor pairs compare with a waterfall that sums exactly", { skip }, async () => {
  for (const name of pair_names) {
    const query = `base=mi300x_${name}&cand=h100_${name}`;
    const [{ summary }] = await candidates_of(query);
    const { items } = await server.get(`/compare/waterfall?${query}&limit=all`);
    assert_waterfall(items, summary);
    assert.ok(summary.matched_share > 0.2 && summary.matched_share <= 1,
      `${name}: matched ${summary.matched_share}`);
  }
});
