// SPDX-License-Identifier: Apache-2.0
// Invariants between figures that hold for any trace.
import assert from "node:assert/strict";

export const BARS = ["gemm", "attention", "other_compute", "exposed_comm", "exposed_memory",
  "idle_host_wait", "idle_other", "unrecorded"];

export const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

/** The parts of a row of breakdown, steps or ranks add up. */
export function assert_parts(row, what) {
  const bars = BARS.map((bar) => row[`${bar}_ns`]);
  assert.ok(bars.every((ns) => Number.isInteger(ns) && ns >= 0), `${what}: ${bars}`);
  assert.equal(sum(bars), row.window_ns, `${what}: the eight bars sum to the window`);
  assert.equal(row.compute_ns, row.gemm_ns + row.attention_ns + row.other_compute_ns, what);
  assert.equal(row.idle_ns, row.idle_host_wait_ns + row.idle_other_ns + row.unrecorded_ns, what);
  assert.equal(row.busy_ns, row.compute_ns + row.exposed_comm_ns + row.exposed_memory_ns, what);
  assert.equal(row.window_ns, row.busy_ns + row.idle_ns, what);
  assert.ok(row.exposed_comm_ns <= row.total_comm_ns, what);
  assert.ok(row.exposed_memory_ns <= row.total_memory_ns, what);
}

/** Rows by a key of several columns. @returns {Map<string, any[]>} */
export function grouped(rows, columns) {
  const groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify(columns.map((column) => row[column]));
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return groups;
}

const LEVELS = ["bar", "category", "op", "shape", "kernel"];
const SUMMED = ["base_ns", "cand_ns", "delta_ns", "base_total_ns", "cand_total_ns"];
const SIDES = ["base", "cand"];

function assert_row(row) {
  const what = JSON.stringify(row);
  assert.ok(SUMMED.every((column) => Number.isSafeInteger(row[column])), what);
  assert.equal(row.delta_ns, row.cand_ns - row.base_ns, what);
  assert.equal(row.delta_ns, row.calls_effect_ns + row.per_call_effect_ns, what);
}

/** The parts of every row sum to it and belong to the next level. */
function assert_tree(rows) {
  const below = grouped(rows, ["parent"]);
  for (const parent of rows.filter(({ level }) => level !== "kernel")) {
    const parts = below.get(JSON.stringify([parent.id])) ?? [];
    const next = LEVELS[LEVELS.indexOf(parent.level) + 1];
    if (!parts.length) {
      assert.deepEqual(SUMMED.filter((column) => parent[column] !== 0), [],
        `nothing is below ${JSON.stringify(parent)}`);
      continue;
    }
    for (const part of parts) assert.equal(part.level, next, JSON.stringify(part));
    for (const column of SUMMED)
      assert.equal(sum(parts.map((row) => row[column])), parent[column],
        `${column} of ${parts.length} rows below ${JSON.stringify(parent)}`);
  }
}

/** One candidate's waterfall: the means of both sides, exactly, at every level. */
export function assert_waterfall(rows, summary) {
  const ids = new Set(rows.map(({ id }) => id));
  assert.equal(ids.size, rows.length, "ids are unique");
  const bars = rows.filter(({ level }) => level === "bar");
  assert.deepEqual(bars.map(({ bar }) => bar).sort(), [...BARS].sort());
  rows.forEach(assert_row);
  for (const row of rows)
    assert.ok(row.level === "bar" ? row.parent === null : ids.has(row.parent), JSON.stringify(row));
  assert_tree(rows);
  for (const level of LEVELS) {
    const own = rows.filter((row) => row.level === level);
    assert.equal(sum(own.map((row) => row.delta_ns)), summary.delta_mean_ns, level);
    for (const side of SIDES)
      assert.equal(sum(own.map((row) => row[`${side}_ns`])), Math.round(summary[`${side}_mean_ns`]),
        `${side} at level ${level}`);
  }
}
