// SPDX-License-Identifier: Apache-2.0
// The roofline: which rows are points, where roofs bend, what range the axes cover.
import assert from "node:assert/strict";
import test from "node:test";
import * as model from "../../../../web/charts/roofline_model.mjs";

const row = (more) => ({ kind: "gemm", precision: "bf16", intensity: 100, tflops: 200,
  busy_ns: 1000, peak_tflops: 900, peak_tbps: 3, ...more });

test("rows without operations, bytes or time are counted, not drawn", () => {
  const rows = [row(), row({ intensity: null }), row({ tflops: 0 }), row({ busy_ns: 0 })];
  const { points, without, left_out } = model.roofline_points(rows);
  assert.deepEqual([points.length, without, left_out], [1, 3, 0]);
});

test("of too many points those with most time are drawn", () => {
  const rows = Array.from({ length: 450 }, (_, i) => row({ busy_ns: i + 1000 }));
  const { points, left_out } = model.roofline_points(rows);
  assert.deepEqual([points.length, left_out, points[0].busy_ns, points.at(-1).busy_ns],
    [400, 50, 1449, 1050]);
});

test("points of hardly any time do not stretch the axes", () => {
  const { points, left_out } = model.roofline_points([row({ busy_ns: 1e6 }), row({ busy_ns: 9 })]);
  assert.deepEqual([points.length, left_out], [1, 1]);
});

test("each precision has one roof, with its ridge where bandwidth and peak meet", () => {
  const roofs = model.roofs_of([row(), row({ precision: "fp8", peak_tflops: 1800 }), row(),
    row({ precision: "fp32", peak_tflops: null })]);
  assert.deepEqual(roofs.map(({ precision, ridge }) => [precision, ridge]),
    [["fp8", 600], ["bf16", 300]]);
});

test("the line of a roof enters at the edge, bends at the ridge and ends at the other edge", () => {
  const [roof] = model.roofs_of([row()]);
  assert.deepEqual(model.roof_line(roof, { x: [0, 4], y: [0, 3] }),
    [[1, 3], [300, 900], [10_000, 900]]);
  assert.deepEqual(model.roof_line(roof, { x: [0, 4], y: [2, 3] })[0], [100 / 3, 100]);
  assert.deepEqual(model.roof_line(roof, { x: [3, 4], y: [0, 3] }), [[1000, 900], [10_000, 900]]);
});

test("the axes are whole decades around every point and roof", () => {
  const points = [row({ intensity: 0.02, tflops: 0.5 }), row({ intensity: 4000, tflops: 850 })];
  assert.deepEqual(model.roofline_range(points, model.roofs_of(points)),
    { x: [-2, 4], y: [-1, 3] });
  assert.deepEqual(model.roofline_range([row({ intensity: 150, tflops: 200 })], []),
    { x: [1, 3], y: [1, 3] });
  assert.deepEqual(model.roofline_range([], []), { x: [0, 1], y: [0, 1] });
});

test("the area of a point is its share of the time", () => {
  const area = (ns) => (model.radius_of(ns, 400) - model.radius_of(0, 400)) ** 2;
  assert.ok(Math.abs(area(400) / area(100) - 4) < 1e-9);
  assert.ok(model.radius_of(0, 0) > 0);
});

test("labels that would touch move apart and keep their order", () => {
  assert.deepEqual(model.spread([10, 12, 60], 14), [10, 24, 60]);
});

test("every kind of work has a shape of its own", () => {
  const shapes = ["gemm", "attention_backward", "conv_forward", "norm"].map((kind) =>
    model.mark_of(kind).shape);
  assert.equal(new Set(shapes).size, 4);
  assert.equal(model.mark_of(null).label, "Other compute");
});

test("a measured launch is a point if its operations and bytes are known", () => {
  const launch = { kernel: "f<int>", trace_kernel: null, grid: "8,1,1", intensity: 10, tflops: 2,
    duration_ns: 500 };
  const points = model.measured_points([{ ...launch, tflops: null }, launch,
    { ...launch, trace_kernel: "void f<int>(int)", duration_ns: 900 }]);
  assert.deepEqual(points.map(({ op, kind, busy_ns }) => [op, kind, busy_ns]),
    [["void f<int>(int)", "measured", 900], ["f<int>", "measured", 500]]);
  assert.equal(model.mark_of("measured").shape, "plus");
  assert.equal(model.measured_points([{ ...launch, grid: null }])[0].problem, "");
});
