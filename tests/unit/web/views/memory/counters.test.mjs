// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { counter_label, counter_text, series_of }
  from "../../../../../web/views/memory/counter_model.mjs";

test("a counter's value is shown in its unit", () => {
  assert.equal(counter_text(null, "percent"), "–");
  assert.equal(counter_text(41.25, "percent"), counter_text(0.4125, "share"));
  assert.match(counter_text(2e9, "bytes/s"), /^2(\.00)? GB\/s$/);
  assert.equal(counter_text(12.5, ""), "12.5");
  assert.equal(counter_text(12.5, "cycles"), "12.5 cycles");
});

test("counters of one name on two devices name their device", () => {
  const points = [["0", 1, 5], ["1", 1, 7], ["0", 4, -2]]
    .map(([device, time_ns, value]) => ({ counter: "c", device, time_ns, value }));
  const series = series_of(points, { counter: "c", device: "0" });
  assert.deepEqual(series.points.map(({ value }) => value), [5, -2]);
  assert.deepEqual([series.low, series.high, series.begin_ns, series.end_ns], [-2, 5, 1, 4]);
  assert.equal(counter_label({ counter: "c", device: "0" }), "c, device 0");
  assert.equal(counter_label({ counter: "c", device: "" }), "c");
});

test("a counter may have more values than a call takes arguments", () => {
  const points = Array.from({ length: 300_000 }, (_, value) =>
    ({ counter: "c", device: "", time_ns: value, value }));
  assert.equal(series_of(points, { counter: "c", device: "" }).high, 299_999);
});

test("a counter that shows nothing but 0 has a chart still", () => {
  const points = [1, 2].map((time_ns) => ({ counter: "c", device: "", time_ns, value: 0 }));
  const { low, high } = series_of(points, { counter: "c", device: "" });
  assert.ok(high > low);
});
