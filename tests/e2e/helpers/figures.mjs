// SPDX-License-Identifier: Apache-2.0
// What must hold between figures, whatever the trace.
import assert from "node:assert/strict";

export const BARS = ["gemm", "attention", "other_compute", "exposed_comm", "exposed_memory",
  "idle_host_wait", "idle_other"];

export const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

/** The parts of a row of breakdown, steps or ranks add up. */
export function assert_parts(row, what) {
  const bars = BARS.map((bar) => row[`${bar}_ns`]);
  assert.ok(bars.every((ns) => Number.isInteger(ns) && ns >= 0), `${what}: ${bars}`);
  assert.equal(sum(bars), row.window_ns, `${what}: the seven bars sum to the window`);
  assert.equal(row.compute_ns, row.gemm_ns + row.attention_ns + row.other_compute_ns, what);
  assert.equal(row.idle_ns, row.idle_host_wait_ns + row.idle_other_ns, what);
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

const SUMMED = ["base_ns", "cand_ns", "delta_ns"];

/** Children of one level must sum to their parents in every column of time. */
function assert_level(parents, children, columns) {
  const groups = grouped(children, columns);
  for (const parent of parents) {
    const key = JSON.stringify(columns.map((column) => parent[column]));
    const below = groups.get(key) ?? [];
    for (const column of SUMMED) {
      const what = `${parent.level} ${key}: ${column} of ${below.length} rows below`;
      assert.equal(sum(below.map((row) => row[column])), parent[column], what);
    }
    groups.delete(key);
  }
  assert.deepEqual([...groups.keys()], [], "rows without a parent");
}

/** The waterfall stands on the means and sums exactly at every level. */
export function assert_waterfall(rows, summary) {
  const level = (name) => rows.filter((row) => row.level === name);
  const bars = level("bar");
  assert.deepEqual(bars.map(({ bar }) => bar).sort(), [...BARS].sort());
  for (const row of rows) {
    assert.ok(SUMMED.every((column) => Number.isInteger(row[column])), JSON.stringify(row));
    assert.equal(row.delta_ns, row.cand_ns - row.base_ns, JSON.stringify(row));
  }
  assert.equal(sum(bars.map((row) => row.delta_ns)), summary.delta_mean_ns);
  assert.equal(sum(bars.map((row) => row.base_ns)), Math.round(summary.base_mean_ns));
  assert_level(bars, level("category"), ["bar"]);
  assert_level(level("category"), level("row"), ["bar", "category"]);
}
