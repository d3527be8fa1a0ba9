// SPDX-License-Identifier: Apache-2.0
// What the pages of one rank work out for themselves: idle sums, passes, categories, gaps, values.
import assert from "node:assert/strict";
import test from "node:test";
import { frame_of } from "../../../web/frame.mjs";
import { cause_label, columns_for, kind_of, label_of, value_and_unit, write_value }
  from "../../../web/values.mjs";
import { other_share } from "../../../web/views/category_model.mjs";
import { causes_of, devices_of, idle_sums } from "../../../web/views/idle_model.mjs";
import { metric_views } from "../../../web/views/metric_model.mjs";
import { passes_of } from "../../../web/views/module_model.mjs";
import { by_state, gaps_among, recording_sentence } from "../../../web/views/recording_model.mjs";
import { shapes_text, types_text } from "../../../web/shapes_text.mjs";

const causes = [
  { device: null, cause: "gpu_wait", bar: "idle_other", total_ns: 30, window_share: 0.3, gaps: 2,
    steady_ns: 20 },
  { device: null, cause: "host_busy", bar: "idle_host_wait", total_ns: 50, window_share: 0.5,
    gaps: 4, steady_ns: 35 },
  { device: null, cause: "none", bar: "idle_other", total_ns: 0, window_share: 0, gaps: 0 },
  { device: "0", cause: "host_busy", bar: "idle_host_wait", total_ns: 70, window_share: 0.7,
    gaps: 9 },
];

test("causes of one device come by time and sum to its idle time", () => {
  assert.deepEqual(devices_of(causes), ["", "0"]);
  const merged = causes_of(causes, "");
  assert.deepEqual(merged.map(({ cause }) => cause), ["host_busy", "gpu_wait"]);
  assert.deepEqual(idle_sums(merged), { idle_ns: 80, steady_ns: 55, share: 0.8, gaps: 6,
    host_ns: 50 });
  assert.deepEqual(idle_sums([]), { idle_ns: 0, steady_ns: 0, share: 0, gaps: 0, host_ns: 0 });
});

test("a stable word is read as words", () => {
  assert.equal(cause_label("host_busy"), "Host busy");
  assert.equal(cause_label("gpu_wait"), "GPU wait");
  assert.equal(cause_label(null), "Unknown");
  assert.equal(label_of("peak_allocated_bytes"), "Peak allocated");
  assert.equal(label_of("mfu"), "MFU");
  assert.equal(label_of("bf16_gemm_share"), "Bf16 GEMM");
});

test("the passes of a module sum to it, what is in none of them included", () => {
  const passes = passes_of({ total_owned_ns: 100, forward_ns: 30, backward_ns: 50,
    recompute_ns: 10 });
  assert.deepEqual(passes.map(({ key, ns }) => [key, ns]),
    [["forward_ns", 30], ["backward_ns", 50], ["recompute_ns", 10], ["other", 10]]);
  assert.ok(Math.abs(passes.reduce((sum, { share }) => sum + share, 0) - 1) < 1e-12);
  assert.equal(passes_of({ total_owned_ns: 30, forward_ns: 30 }).length, 3);
  assert.ok(passes_of({ total_owned_ns: null }).every(({ share }) => share === 0));
});

test("the share without a category is of all busy time", () => {
  const rows = [{ category: "gemm", owned_ns: 90 }, { category: "other", owned_ns: 10 }];
  assert.equal(other_share(rows), 0.1);
  assert.equal(other_share([]), 0);
});

const recording = [
  { item: "shapes", state: "present" }, { item: "memory", state: "missing" },
  { item: "modules", state: "partial" },
];

test("gaps of a recording are named worst first, and only those asked for", () => {
  assert.deepEqual(gaps_among(recording, ["modules", "memory", "shapes"]).map(({ item }) => item),
    ["memory", "modules"]);
  assert.deepEqual(gaps_among(recording, ["shapes"]), []);
  assert.deepEqual(by_state(recording).map(({ state }) => state),
    ["missing", "partial", "present"]);
  assert.match(recording_sentence(recording), /^1 of 3 /);
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
});

test("shapes are written with crosses, lists in parentheses, no shapes at the end left out", () => {
  assert.equal(shapes_text("[[8944,1024],\n [1024,2816],[],[]]"), "8944×1024, 1024×2816");
  assert.equal(shapes_text("[[[1,2],[]],[],[3]]"), "(1×2, –), –, 3");
  assert.equal(shapes_text("[[]]"), "–");
  assert.equal(types_text('["c10::BFloat16","Scalar","float","Scalar",""]'),
    "BFloat16, Scalar, float");
});

test("shapes that cannot be read are shown as they came", () => {
  assert.equal(shapes_text("[[1,2"), "[[1,2");
  assert.equal(shapes_text('{"a": 1}'), '{"a": 1}');
  assert.equal(shapes_text(null), "");
  assert.equal(shapes_text('[["<b>"]]'), "(–)");
  assert.equal(types_text('["<img>", 3, null]'), "<img>, 3, null");
});

const metric = (name, value, unit = "share") => ({ metric: name, value, unit, help: name });

test("utilization leads, precisions become one figure, and no figure is told twice", () => {
  const { leading, others } = metric_views([metric("gemm_fp8_share", 0),
    metric("gemm_bf16_share", 0.7), metric("gemm_fp32_share", 0.3), metric("something", 5, "count"),
    metric("flops_per_step", 5.76e12, "count"), metric("hfu", null), metric("mfu", 0.4)]);
  assert.deepEqual(leading.map(({ key }) => key), ["mfu", "hfu", "gemm_precision"]);
  assert.deepEqual([leading[0].value, leading[0].unit], ["40.0", "%"]);
  assert.equal(leading[1].value, "–");
  assert.deepEqual([leading[2].value, leading[2].more], ["bf16", "bf16 70.0 %, fp32 30.0 %"]);
  assert.deepEqual(others.map(({ key, value, unit }) => [key, value, unit]),
    [["something", "5", ""], ["flops_per_step", "5.76", "TFLOP"]]);
  assert.deepEqual(metric_views([]), { leading: [], others: [] });
});
