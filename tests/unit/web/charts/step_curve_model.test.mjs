// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { curve_extent, lane_pixels, line_path, nearest, pieces_of, range_path, scales_of,
  x_ticks }
  from "../../../../web/charts/step_curve_model.mjs";

const rows = [{ segment: 0, step: 1, loss: 5 }, { segment: 0, step: 2, loss: null },
  { segment: 0, step: 3, loss: 4 }, { segment: 1, step: 2, loss: 4.5 }];

test("a line ends at a restart and leaves out what is not known", () => {
  const pieces = pieces_of(rows, { x: "step", y: "loss" });
  assert.deepEqual(pieces.map((piece) => piece.map(({ x, y }) => [x, y])),
    [[[1, 5], [3, 4]], [[2, 4.5]]]);
});

test("an axis of steps is marked at steps, be there only two of them", () => {
  assert.deepEqual(x_ticks({ x_low: 122, x_high: 123 }, 6), [122, 123]);
  assert.deepEqual(x_ticks({ x_low: 0, x_high: 4 }, 4), [0, 1, 2, 3, 4]);
  assert.ok(x_ticks({ x_low: 0.5, x_high: 1.5 }, 4).length > 2);
});

test("a single outlier does not flatten the rest, and is counted", () => {
  const points = Array.from({ length: 100 }, (_, x) => ({ x, y: x === 50 ? 1e6 : 2 + x / 1000 }));
  const extent = curve_extent([{ points }]);
  assert.equal(extent.cut, 1);
  assert.ok(extent.y_high < 3);
  assert.equal(extent.x_high, 99);
});

test("values that are all the same have room around them", () => {
  const extent = curve_extent([{ points: [{ x: 1, y: 5 }, { x: 2, y: 5 }] }]);
  assert.ok(extent.y_low < 5 && extent.y_high > 5);
  assert.equal(extent.cut, 0);
});

test("a lane is as busy as its pieces on average, however narrow, and ends with the plot", () => {
  const pieces = Array.from({ length: 1000 }, (_, i) => ({ from: i, to: i + 1,
    share: i % 2 ? 0.5 : 0.1 }));
  const at = (left, right) => lane_pixels(pieces, (x) => 10 + x / 5, { left, right });
  assert.deepEqual(new Set(at(10, 210).map(({ share }) => share)), new Set([0.26, 0.34]));
  assert.equal(at(10, 210).reduce((sum, { width }) => sum + width, 0), 200);
  const cut = at(50, 60);
  assert.deepEqual([cut[0].left, cut.at(-1).left + cut.at(-1).width], [50, 60]);
  assert.deepEqual(lane_pixels([{ from: 0, to: 4, share: 1 }, { from: 4, to: 9, share: 0 }],
    (x) => x, { left: 0, right: 9 }), [{ left: 0, width: 4, share: 1 }]);
});

test("nothing has no extent", () => assert.equal(curve_extent([]), null));

test("paths go through the points, and the range around them", () => {
  const same = (value) => value;
  const points = [{ x: 0, y: 1, low: 0, high: 2 }, { x: 1, y: 2, low: 1, high: 3 }];
  assert.equal(line_path(points, same, same), "M0.0 1.0L1.0 2.0");
  assert.equal(range_path(points, same, same), "M0.0 2.0L1.0 3.0L1.0 1.0L0.0 0.0Z");
  assert.equal(range_path([{ x: 0, y: 1, low: 1, high: 1 }], same, same), "");
});

test("what lies outside stays at the edge of the plot", () => {
  const extent = { x_low: 0, x_high: 10, y_low: 0, y_high: 10 };
  const { x, y } = scales_of(extent, { left: 0, right: 100, top: 0, bottom: 50 });
  assert.equal(x(5), 50);
  assert.equal(y(20), 0);
  assert.equal(y(-5), 50);
});

test("the nearest point is found", () => {
  assert.equal(nearest([{ x: 1 }, { x: 5 }], 4).x, 5);
  assert.equal(nearest([], 4), null);
});
