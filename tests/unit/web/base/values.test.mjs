// SPDX-License-Identifier: Apache-2.0
// Values by their unit, columns by their values, stable words.
import assert from "node:assert/strict";
import test from "node:test";
import { frame_of } from "../../../../web/base/frame.mjs";
import { cause_label, columns_for, kind_of, label_of, timed, value_and_unit, write_value }
  from "../../../../web/base/values.mjs";

test("a stable word is read as words", () => {
  assert.equal(cause_label("host_busy"), "Host busy");
  assert.equal(cause_label("gpu_wait"), "GPU wait");
  assert.equal(cause_label(null), "Unknown");
  assert.equal(label_of("peak_allocated_bytes"), "Peak allocated");
  assert.equal(label_of("mfu"), "MFU");
  assert.equal(label_of("bf16_gemm_share"), "Bf16 GEMM");
});

test("the kind of a column follows from its unit and its values", () => {
  const frame = frame_of({ row_count: 1, units: { ns: "ns", s: "share", c: "count", b: "bytes",
    t: "TFLOP/s", id: "", flag: "", name: "", none: "" }, columns: { ns: [1], s: [0.5], c: [2],
    b: [3], t: [1.5], id: [7], flag: [true], name: ["x"], none: [null] } });
  assert.deepEqual(["ns", "s", "c", "b", "t", "id", "flag", "name", "none"].map((key) =>
    kind_of(frame, key)),
  ["ms", "share", "count", "bytes", "number", "plain", "flag", "text", "text"]);
});

test("columns that a reply lacks, and sparse ones that say nothing, are left out", () => {
  const frame = frame_of({ row_count: 2, units: { a_ns: "ns" },
    columns: { a_ns: [0, null], b: ["x", "y"] } });
  const shown = columns_for(frame, [{ key: "b" }, { key: "a_ns", sparse: true }, { key: "c" }]);
  assert.deepEqual(shown.map(({ key }) => key), ["b"]);
  assert.equal(columns_for(frame, [{ key: "a_ns" }])[0].kind, "ms");
});

test("values carry their unit and what is missing is a dash", () => {
  assert.equal(write_value(1_500_000, "ns"), "1.50 ms");
  assert.equal(write_value(0.25, "share"), "25.0 %");
  assert.equal(write_value(3.14159, "TFLOP/s"), "3.14 TFLOP/s");
  assert.equal(write_value(false), "no");
  assert.equal(write_value(12345, "count"), "12,345");
  for (const nothing of [null, undefined, ""]) assert.equal(write_value(nothing, "ns"), "–");
  assert.deepEqual(value_and_unit(0.25, "share"), ["25.0", "%"]);
  assert.deepEqual(value_and_unit(null, "share"), ["–", ""]);
  assert.deepEqual(timed(1_760), { value: "1.76", unit: "µs" });
  assert.deepEqual(timed(1_076_000_000, 4), { value: "1,076", unit: "ms" });
  assert.deepEqual(timed(null), { value: "–", unit: "" });
});
