// SPDX-License-Identifier: Apache-2.0
// Tables in columns: shapes of replies, filter, sort.
import assert from "node:assert/strict";
import test from "node:test";
import * as frames from "../../../../web/base/frame.mjs";

const rows = [
  { name: "gemm_10", category: "gemm", total_ns: 5 },
  { name: "gemm_9", category: "gemm", total_ns: null },
  { name: "copy", category: "memory", total_ns: 7 },
  { name: "norm", category: null, total_ns: 5 },
];

test("rows and columns give the same frame", () => {
  const columns = {
    name: rows.map((row) => row.name),
    category: rows.map((row) => row.category),
    total_ns: rows.map((row) => row.total_ns),
  };
  const described = [{ name: "total_ns", unit: "ns", help: "sum" }];
  const by_rows = frames.frame_of({ items: rows, columns: described });
  const by_columns = frames.frame_of({ columns, row_count: 4, help: { total_ns: "sum" } });
  assert.deepEqual(frames.rows_of(by_rows), frames.rows_of(by_columns));
  assert.equal(by_rows.help.total_ns, by_columns.help.total_ns);
  assert.equal(by_rows.length, 4);
});

test("an empty reply is a frame without rows", () => {
  for (const reply of [{ items: [], columns: [] }, { columns: {}, row_count: 0 }, [], null]) {
    assert.equal(frames.frame_of(reply).length, 0);
  }
});

test("the filter looks into the text columns only and ignores case", () => {
  const frame = frames.frame_of(rows);
  assert.deepEqual(frames.filter_rows(frame, { q: "GEMM", text: ["name"] }), [0, 1]);
  assert.deepEqual(frames.filter_rows(frame, { q: "memory", text: ["name"] }), []);
  assert.deepEqual(frames.filter_rows(frame, { q: "5", text: ["name"] }), []);
  assert.deepEqual(frames.filter_rows(frame, { equals: { category: "memory" } }), [2]);
  assert.deepEqual(frames.filter_rows(frame, { equals: { category: "" } }), [0, 1, 2, 3]);
});

test("nulls sort last in both directions and ties keep their order", () => {
  const frame = frames.frame_of(rows);
  const all = [0, 1, 2, 3];
  assert.deepEqual(frames.sort_rows(frame, all, "-total_ns"), [2, 0, 3, 1]);
  assert.deepEqual(frames.sort_rows(frame, all, "total_ns"), [0, 3, 2, 1]);
  assert.deepEqual(frames.sort_rows(frame, all, "category"), [0, 1, 2, 3]);
});

test("names sort with their numbers as numbers", () => {
  const frame = frames.frame_of(rows);
  assert.deepEqual(frames.sort_rows(frame, [0, 1], "name"), [1, 0]);
});

test("an unknown sort column changes nothing", () => {
  assert.deepEqual(frames.sort_rows(frames.frame_of(rows), [2, 0], "-nothing"), [2, 0]);
});

test("10,000 rows are filtered and sorted in well under a frame's worth of patience", () => {
  const many = Array.from({ length: 10_000 }, (_, i) => ({ name: `kernel_${i}`, ns: i % 977 }));
  const frame = frames.frame_of(many);
  const begin = performance.now();
  const found = frames.filter_rows(frame, { q: "kernel_9", text: ["name"] });
  const sorted = frames.sort_rows(frame, found, "-ns");
  assert.ok(performance.now() - begin < 500);
  assert.equal(sorted.length, 1111);
});

test("counts of values come most frequent first", () => {
  assert.deepEqual(frames.value_counts(frames.frame_of(rows), "category"),
    [["gemm", 2], ["memory", 1]]);
  assert.equal(frames.sum_rows(frames.frame_of(rows), "total_ns", [0, 1, 2]), 12);
});
