// SPDX-License-Identifier: Apache-2.0
// One job, recorded by several profilers: what all of them can say is equal to the nanosecond.
import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { run_program, stepscope_bin, temporary, tracegen_bin } from "./helpers/tools.mjs";

const PYTHON = process.env.STEPSCOPE_PYTHON ?? "python3";
const AS_DATABASE = fileURLToPath(new URL("../tracegen/as_database.py", import.meta.url));

async function analyze(file) {
  const out = await run_program(stepscope_bin(), ["analyze", "--format", "json", file]);
  return JSON.parse(out).traces[0];
}

/** A generated job as PyTorch's profiler has it, and as another one. */
async function record(form, ...args) {
  const folder = temporary("profilers");
  await run_program(tracegen_bin(),
    ["--steps", "6", "--layers", "4", "--noise", "3", ...args, "--out", folder]);
  const kineto = join(folder, "rank0.json");
  const other = join(folder, form === "nsys" ? "rank0.sqlite" : "rank0.db");
  await run_program(PYTHON, [AS_DATABASE, form, kineto, other]);
  return { files: [kineto, other], kineto: await analyze(kineto), other: await analyze(other) };
}

/** Rows without the columns that one of the recordings cannot fill. */
function without(rows, ...columns) {
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([key]) => !columns.includes(key))));
}

function assert_equal_tables(job, names, as_other = (rows) => rows) {
  for (const name of names)
    assert.deepEqual(job.other.tables[name], as_other(job.kineto.tables[name]), name);
}

/** Nodes are numbered in the order of threads, which profilers list differently. */
function assert_equal_ranges(job) {
  const [kineto, other] = [job.kineto, job.other].map((trace) =>
    without(trace.tables.ranges, "id", "parent"));
  assert.deepEqual(other, kineto);
}

/** The comparison of the two recordings: no difference, and the same work. */
async function assert_same_runs(job) {
  const out = await run_program(stepscope_bin(), ["compare", "--format", "json", ...job.files]);
  const { result, lines, tables } = JSON.parse(out);
  const [summary] = tables.compare_summary;
  assert.equal(result, "pass");
  assert.match(lines.join("\n"), /why: no operator, collective or cause of idle time changed/);
  for (const row of tables.compare_waterfall.filter(({ level }) => level === "bar"))
    assert.equal(row.delta_ns, 0, row.bar);
  assert.ok(summary.same_work_share > 0.99, `same work: ${summary.same_work_share}`);
  assert.ok(summary.matched_share > 0.99, `matched: ${summary.matched_share}`);
  return summary;
}

const EQUAL = ["steps", "step_stats", "breakdown", "classes", "launches", "idle_causes",
  "stream_idle", "queues", "passes"];

describe("Nsight Systems", () => {
  let job;
  before(async () => {
    job = await record("nsys", "--plant", "starvation", "--plant", "tiny_kernels");
  });

  test("gives the same steps, breakdown, idle time and launches", () => {
    assert.deepEqual(job.other.breakdown, job.kineto.breakdown);
    assert.deepEqual(job.other.breakdown_split, job.kineto.breakdown_split);
    assert_equal_tables(job, [...EQUAL, "categories", "modules", "launch_delays", "copies",
      "step_rates", "short_kernels"]);
    assert_equal_ranges(job);
  });

  test("compares with the PyTorch recording by operator and shape", async () => {
    const summary = await assert_same_runs(job);
    assert.equal(summary.matched_kernel_share, 0);
  });

  test("gives the same kernels and operators", () => {
    const tables = ["kernels", "operators", "op_shapes"].map((name) =>
      [job.kineto, job.other].map((trace) =>
        without(trace.tables[name], "occupancy_percent", "types")));
    for (const [kineto, other] of tables) assert.deepEqual(other, kineto);
  });
});

/** The runtime fills memory by a kernel, and names copies in its own way. */
const KERNELS_ONLY = (row) => row.class !== "memory";

/** Streams count from 0, the queues of rocprofv3 from 1. */
const as_queues = (rows) => rows.map((row) =>
  row.stream === undefined ? row : { ...row, stream: String(Number(row.stream) + 1) });

describe("rocprofv3", () => {
  let job;
  before(async () => {
    job = await record("rocpd", "--flavour", "rocm", "--plant", "starvation");
  });

  test("gives the same steps, breakdown, idle time and launches without operators", () => {
    assert.deepEqual(job.other.breakdown, job.kineto.breakdown);
    assert_equal_tables(job, ["steps", "step_stats", "breakdown", "classes", "launches",
      "idle_causes", "stream_idle", "queues"], as_queues);
    assert_equal_ranges(job);
  });

  test("says in its trust report what it cannot know", () => {
    const items = (trace) => trace.tables.trust.map(({ item }) => item);
    assert.ok(items(job.other).includes("no_operators"));
    assert.ok(items(job.other).includes("no_common_clock"));
    assert.ok(!items(job.other).includes("no_host_side"));
    assert.ok(!items(job.kineto).some((item) => item.startsWith("no_")));
  });

  test("compares with the PyTorch recording by kernel", async () => {
    const summary = await assert_same_runs(job);
    assert.ok(summary.matched_kernel_share > 0.99, `by kernel: ${summary.matched_kernel_share}`);
  });

  test("replays files together that only their names say the rank of", async () => {
    const files = ["rank4.db", "rank7.db"].map((name) => join(temporary("ranks"), name));
    files.forEach((file) => copyFileSync(job.files[1], file));
    const { traces } = JSON.parse(await run_program(stepscope_bin(),
      ["whatif", "--change", "host_free", "--format", "json", ...files]));
    assert.deepEqual(traces.map(({ rank }) => rank), [4, 7]);
  });

  test("gives the same kernels", () => {
    const [kineto, other] = [job.kineto, job.other].map((trace) =>
      without(trace.tables.kernels.filter(KERNELS_ONLY),
        "op", "category", "shared_bytes", "registers", "occupancy_percent"));
    assert.deepEqual(other, kineto);
  });
});
