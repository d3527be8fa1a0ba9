// SPDX-License-Identifier: Apache-2.0
// Tables of generated traces against the generator's truth, to the nanosecond and the byte.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { run_program, stepscope_bin, temporary, tracegen_bin } from "./helpers/tools.mjs";

/** An absent text is an empty one in the truth. */
const KEYS = ["name", "device", "direction", "host_memory", "process_group", "path", "op", "dims"];
const fill_texts = (row) =>
  ({ ...row, ...Object.fromEntries(KEYS.filter((key) => row[key] === null).map((key) => [key, ""])) });

/** Generates one rank and analyses it. */
async function analyse(...args) {
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

/** The rows by a key, with only the wanted columns; rows of one key must not occur twice. */
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

/** The parts below every node of a tree sum to its total, and the root has the busy time. */
function assert_tree(rows, own, total, busy_ns) {
  const below = sum_by_key(rows.filter((row) => row.parent !== null), (row) => row.parent, [total]);
  for (const row of rows.filter(({ children }) => children > 0)) {
    assert.equal(own(row) + below[row.id][total], row[total], `${row.id} ${row.name}`);
  }
  assert.equal(rows.find((row) => row.id === 0)[total], busy_ns);
}

function assert_operators({ truth, tables }) {
  const launching = tables.operators.filter(({ kernels }) => kernels > 0);
  const found = by_key(launching, ({ name }) => name, { kernels: "kernels", owned_ns: "owned_ns" });
  const expected = by_key(truth.ops, ({ name }) => name, { kernels: "events", owned_ns: "owned_ns" });
  assert.deepEqual(without(found, ""), without(expected, ""));
  assert_tree(tables.op_tree, () => 0, "total_owned_ns", truth.breakdown.busy_ns);
}

for (const flavour of ["cuda", "rocm"]) {
  describe(`a ${flavour} step with one of everything`, () => {
    /** @type {Awaited<ReturnType<typeof analyse>>} */
    let probe;
    before(async () => {
      probe = await analyse("--job", "probe", "--steps", "5", "--noise", "0", "--sync-events",
        "--flavour", flavour);
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

    test("tells communication by process group", () => {
      const found = by_key(probe.tables.process_groups, (row) => row.process_group,
        { calls: "calls", total_ns: "total_ns", exposed_ns: "exposed_ns" });
      const expected = by_key(probe.truth.process_groups, (row) => row.process_group,
        { calls: "calls", total_ns: "total_ns", exposed_ns: "owned_ns" });
      assert.deepEqual(found, expected);
      const bytes = (rows) => Object.fromEntries(rows.filter((row) => row.process_group)
        .map((row) => [row.process_group, row.bytes]));
      assert.deepEqual(bytes(probe.tables.process_groups), bytes(probe.truth.process_groups));
    });

    test("says what was clipped and what no launch belongs to", () => {
      const { trace, tables, truth } = probe;
      const steps = truth.steps.length;
      assert.equal(trace.device_events - trace.linked_device_events, steps);
      const clipped = tables.quality.find(({ item }) => item === "clipped");
      assert.equal(clipped.count, steps);
    });
  });

  describe(`a ${flavour} training job`, () => {
    /** @type {Awaited<ReturnType<typeof analyse>>} */
    let job;
    const options = ["--layers", "3", "--steps", "8", "--stacks", "--flavour", flavour];
    before(async () => {
      job = await analyse(...options, "--checkpoint", "--leak", "3000000");
    });

    test("has the operators that launched something", () => assert_operators(job));

    test("did the work that its shapes say, in the time that was generated", () => {
      const columns = { calls: "calls", kernels: "kernels", busy_ns: "busy_ns", flops: "flops",
        bytes: "bytes" };
      const key = ({ op, dims }) => `${op} ${dims}`;
      const wanted = new Set(job.truth.work.map(key));
      const found = by_key(job.tables.work.filter((row) => wanted.has(key(row))), key, columns);
      const expected = by_key(job.truth.work, key,
        { ...columns, kernels: "events", busy_ns: "total_ns" });
      assert.deepEqual(found, expected);
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
      assert_tree(tables.modules, (row) => row.self_owned_ns, "total_owned_ns", truth.breakdown.busy_ns);
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
      const { truth, tables } = await analyse(...options, "--memory");
      const [row] = tables.memory.filter(({ device }) => device !== "cpu");
      assert.equal(row.leak, false);
      assert.equal(row.peak_allocated_bytes, truth.memory.peak_allocated_bytes);
      assert.equal(row.end_bytes, row.begin_bytes);
    });
  });
}
