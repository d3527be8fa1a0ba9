// SPDX-License-Identifier: Apache-2.0
// Tables of generated traces against the generator's truth, to the nanosecond and the byte.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { launch_delays_of, queues_of, stream_idle_of } from "./helpers/launches.mjs";
import { run_program, stepscope_bin, temporary, tracegen_bin } from "./helpers/tools.mjs";

/** In the truth an absent text is empty. */
const KEYS = ["name", "device", "direction", "host_memory", "process_group", "path", "op", "dims"];
function fill_texts(row) {
  const absent = KEYS.filter((key) => row[key] === null);
  return { ...row, ...Object.fromEntries(absent.map((key) => [key, ""])) };
}

/** Generates one rank and analyzes it. */
async function analyze(...args) {
  const folder = temporary("truth");
  await run_program(tracegen_bin(), [...args, "--out", folder]);
  const truth = JSON.parse(readFileSync(join(folder, "truth.json"), "utf8")).ranks[0];
  const file = join(folder, truth.file);
  const out = await run_program(stepscope_bin(), ["analyze", "--format", "json", file]);
  const trace = JSON.parse(out).traces[0];
  const tables = Object.fromEntries(Object.entries(trace.tables)
    .map(([name, rows]) => [name, Array.isArray(rows) ? rows.map(fill_texts) : rows]));
  return { truth, trace, tables };
}

const sum = (rows, column) => rows.reduce((total, row) => total + row[column], 0);

/** Rows by key, with only the wanted columns; keys must be unique. */
function by_key(rows, key, columns) {
  const entries = rows.map((row) =>
    [key(row), Object.fromEntries(Object.entries(columns).map(([to, from]) => [to, row[from]]))]);
  const map = Object.fromEntries(entries);
  assert.equal(Object.keys(map).length, entries.length, "keys are distinct");
  return map;
}

/** Sums the wanted columns of all rows with the same key. */
function sum_by_key(rows, key, columns) {
  const sums = {};
  for (const row of rows) {
    const into = (sums[key(row)] ??= Object.fromEntries(columns.map((column) => [column, 0])));
    for (const column of columns) into[column] += row[column];
  }
  return sums;
}

const without = (map, ...keys) =>
  Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key)));

/** The parts below every node of a tree sum to its total, and the root is the busy time. */
function assert_tree(rows, own, total, busy_ns) {
  const below = sum_by_key(rows.filter((row) => row.parent !== null), (row) => row.parent, [total]);
  for (const row of rows.filter(({ children }) => children > 0)) {
    assert.equal(own(row) + below[row.id][total], row[total], `${row.id} ${row.name}`);
  }
  assert.equal(rows.find((row) => row.id === 0)[total], busy_ns);
}

function assert_operators({ truth, tables }) {
  const launching = tables.operators.filter(({ kernels }) => kernels > 0);
  const columns = { kernels: "kernels", owned_ns: "owned_ns" };
  const found = by_key(launching, ({ name }) => name, columns);
  const expected = by_key(truth.ops, ({ name }) => name, { ...columns, kernels: "events" });
  assert.deepEqual(without(found, ""), without(expected, ""));
  assert_tree(tables.op_tree, () => 0, "total_owned_ns", truth.breakdown.busy_ns);
}

function assert_groups({ truth, tables }) {
  const columns = { calls: "calls", total_ns: "total_ns", exposed_ns: "exposed_ns" };
  const key = ({ process_group }) => process_group;
  assert.deepEqual(by_key(tables.process_groups, key, columns),
    by_key(truth.process_groups, key, { ...columns, exposed_ns: "owned_ns" }));
  const by_kind = (rows, exposed) => sum_by_key(
    rows.filter(key).map((row) => ({ ...row, exposed_ns: row[exposed] })),
    (row) => `${row.process_group} ${row.kind}`, ["calls", "bytes", "total_ns", "exposed_ns"]);
  assert.deepEqual(by_kind(tables.comm_sizes, "exposed_ns"),
    by_kind(truth.collectives, "owned_ns"));
  const named = (rows) => by_key(rows.filter(key), key, { bytes: "bytes" });
  assert.deepEqual(named(tables.process_groups), named(truth.process_groups));
}

const FLAVOURS = ["cuda", "rocm"];

for (const flavour of FLAVOURS) {
  describe(`a ${flavour} step with one of everything`, () => {
    /** @type {Awaited<ReturnType<typeof analyze>>} */
    let probe;
    before(async () => {
      probe = await analyze("--job", "probe", "--steps", "5", "--noise", "0", "--sync-events",
        "--list-events", "--flavour", flavour);
    });

    test("has the breakdown that was generated", () => {
      const { truth, trace } = probe;
      for (const [name, value] of Object.entries(truth.breakdown)) {
        assert.equal(trace.breakdown[name], value, name);
      }
      assert.deepEqual(trace.classes, truth.classes);
    });

    test("tells the cause of every gap", () => {
      const { truth, tables } = probe;
      const begin_ns = truth.steps[0].begin_ns;
      const found = by_key(tables.idle_gaps.filter(({ dur_ns }) => dur_ns > 0),
        (row) => row.begin_ns + begin_ns, { dur_ns: "dur_ns", cause: "cause" });
      const expected = by_key(truth.gaps, (gap) => gap.begin_ns,
        { dur_ns: "dur_ns", cause: "cause" });
      assert.deepEqual(found, expected);
    });

    test("sums idle time by cause to all idle time", () => {
      const { truth, tables } = probe;
      const merged = tables.idle_causes.filter(({ device, gaps }) => device === "" && gaps > 0);
      const found = by_key(merged, ({ cause }) => cause, { gaps: "gaps", total_ns: "total_ns" });
      assert.deepEqual(found, truth.idle_causes);
      assert.equal(sum(merged, "total_ns"), truth.breakdown.idle_ns);
    });

    test("has the operators that launched something", () => assert_operators(probe));

    test("tells copies by direction and host memory", () => {
      const columns = ["calls", "bytes", "total_ns"];
      const key = (row) => `${row.direction} ${row.host_memory}`;
      assert.deepEqual(sum_by_key(probe.tables.copies, key, columns),
        sum_by_key(probe.truth.copies, key, columns));
    });

    test("tells communication by process group", () => assert_groups(probe));

    test("tells what launching cost", () => {
      const expected = launch_delays_of(probe.truth.events);
      const columns = Object.fromEntries(Object.keys(Object.values(expected)[0])
        .map((name) => [name, name]));
      assert.deepEqual(by_key(probe.tables.launch_delays, ({ call }) => call, columns), expected);
    });

    test("has the queues", () => {
      const expected = queues_of(probe.truth.events);
      assert.equal(probe.tables.queues.length, Object.keys(expected).length);
      for (const row of probe.tables.queues) {
        const { launches, max, mean } = expected[row.stream];
        assert.deepEqual({ launches: row.launches, max: row.max }, { launches, max });
        assert.ok(Math.abs(row.mean - mean) < 1e-9, `${row.stream}: ${row.mean}, not ${mean}`);
      }
    });

    test("has the idle time of each stream in three categories", () => {
      assert.deepEqual(
        by_key(probe.tables.stream_idle.filter(({ gaps }) => gaps > 0),
          ({ stream, category }) => `${stream} ${category}`, { gaps: "gaps", idle_ns: "idle_ns" }),
        stream_idle_of(probe.truth.events));
    });

    test("says what was clipped and what no launch belongs to", () => {
      const { trace, tables, truth } = probe;
      const steps = truth.steps.length;
      assert.equal(trace.device_events - trace.linked_device_events, steps);
      const clipped = tables.trust.find(({ item }) => item === "clipped");
      assert.equal(clipped.count, steps);
    });
  });
}

for (const [flavour, strategy] of FLAVOURS.flatMap((flavour) =>
  ["ddp", "fsdp"].map((strategy) => [flavour, strategy]))) {
  describe(`a ${flavour} ${strategy} training job`, () => {
    /** @type {Awaited<ReturnType<typeof analyze>>} */
    let job;
    const options = ["--layers", "3", "--steps", "8", "--stacks", "--flavour", flavour,
      "--strategy", strategy];
    before(async () => {
      job = await analyze(...options, "--checkpoint", "--leak", "3000000");
    });

    test("has the operators that launched something", () => assert_operators(job));

    test("did the work that its shapes say, in the time that was generated", () => {
      const columns = { calls: "calls", kernels: "kernels", busy_ns: "busy_ns", flops: "flops",
        bytes: "bytes" };
      const key = ({ op, dims }) => `${op} ${dims.replaceAll(" ", "")}`;
      const wanted = new Set(job.truth.work.map(key));
      const found = by_key(job.tables.roofline.filter((row) => wanted.has(key(row))), key, columns);
      const expected = by_key(job.truth.work, key,
        { ...columns, kernels: "events", busy_ns: "total_ns" });
      assert.deepEqual(found, expected);
    });

    test("counts the operations of a step, repeated ones apart", async () => {
      const { truth } = job;
      const metric = ({ tables }, name) =>
        tables.utilization.find((row) => row.metric === name).value;
      const flops = truth.work.reduce((total, row) => total + row.calls * row.flops, 0);
      assert.equal(metric(job, "flops_per_step"), flops / truth.steps.length);
      const repeated_ns = truth.modules.filter(({ phase }) => phase === "recompute");
      assert.equal(metric(job, "recompute_ns"), sum(repeated_ns, "owned_ns"));
      assert.ok(metric(job, "model_flops_per_step") < metric(job, "flops_per_step"));
      const plain = await analyze(...options);
      assert.equal(metric(job, "model_flops_per_step"), metric(plain, "flops_per_step"));
    });

    test("spent in each module what was generated: forward, backward, recomputed", () => {
      const { truth, tables } = job;
      const expected = {};
      for (const { path, phase, owned_ns } of truth.modules.filter(({ path }) => path)) {
        (expected[path] ??= { forward: 0, backward: 0, recompute: 0 })[phase] += owned_ns;
      }
      const found = Object.fromEntries(tables.modules.filter(({ path }) => path in expected)
        .map((row) => [row.path, {
          forward: row.forward_self_ns,
          backward: row.backward_self_ns,
          recompute: row.self_owned_ns - row.forward_self_ns - row.backward_self_ns,
        }]));
      assert.deepEqual(found, expected);
      assert_tree(tables.modules, (row) => row.self_owned_ns, "total_owned_ns",
        truth.breakdown.busy_ns);
    });

    test("tells communication by process group", () => assert_groups(job));

    test("knows what kind of work the time went to", () => {
      const words = { GEMM: "gemm", attention: "attention", normalization: "norm",
        communication: "comm" };
      const found = job.tables.categories.filter(({ category }) => category in words)
        .map((row) => ({ ...row, category: words[row.category] }));
      const expected = job.truth.categories.filter(({ category }) =>
        Object.values(words).includes(category));
      const key = ({ category }) => category;
      const columns = { calls: "calls", total_ns: "total_ns", owned_ns: "owned_ns" };
      assert.deepEqual(by_key(found, key, columns), by_key(expected, key, columns));
      assert.deepEqual(job.tables.uncategorized ?? [], []);
    });

    test("draws the memory curve up to its peak", () => {
      const curve = job.tables.memory_timeline.filter(({ device }) => device !== "cpu");
      const [{ device, peak_allocated_bytes }] = job.tables.memory;
      assert.ok(curve.every((row, i) => row.device === device &&
        (i === 0 || row.time_ns >= curve[i - 1].time_ns)));
      assert.equal(Math.max(...curve.map((row) => row.allocated_bytes)), peak_allocated_bytes);
    });

    test("has the memory curve, its peak and its leak", () => {
      const { truth, tables } = job;
      const [row] = tables.memory.filter(({ device }) => device !== "cpu");
      const { alive_at_peak, leak_bytes_per_step, peak_ns, ...expected } = truth.memory;
      const found = Object.fromEntries(Object.keys(expected).map((name) => [name, row[name]]));
      assert.deepEqual(found, expected);
      assert.equal(row.peak_ns + truth.steps[0].begin_ns, peak_ns);
      assert.equal(row.leak, true);
      assert.equal(row.leak_bytes_per_step, leak_bytes_per_step);
      const alive = sum_by_key(tables.memory_peak, ({ op }) => op, ["bytes"]);
      assert.deepEqual(alive, sum_by_key(alive_at_peak, ({ op }) => op, ["bytes"]));
    });

    test("has no leak when there is none", async () => {
      const { truth, tables } = await analyze(...options, "--memory");
      const [row] = tables.memory.filter(({ device }) => device !== "cpu");
      assert.equal(row.leak, false);
      assert.equal(row.peak_allocated_bytes, truth.memory.peak_allocated_bytes);
      assert.equal(row.end_bytes, row.begin_bytes);
    });
  });
}
