// SPDX-License-Identifier: Apache-2.0
// Memory over time: stepped curves, the peak, the capacity, and the verdict on a leak.
import assert from "node:assert/strict";
import test from "node:test";
import * as model from "../../../../../web/charts/memory_model.mjs";
import { leak_verdict } from "../../../../../web/views/memory/leak_model.mjs";
import { fullest_device } from "../../../../../web/views/memory/memory_model.mjs";

const at = (time_ns, allocated_bytes, reserved_bytes = 100, device = "cuda:0") =>
  ({ device, time_ns, allocated_bytes, reserved_bytes });
const points = [at(0, 10), at(100, 60), at(300, 20)];
const same = (v) => v;

test("the points of one device come in order of time", () => {
  const rows = [at(5, 1), at(3, 2, 0, "cpu"), at(1, 3)];
  assert.deepEqual(model.points_of(rows, "cuda:0").map(({ time_ns }) => time_ns), [1, 5]);
});

test("a value holds until the next point", () => {
  assert.equal(model.step_path(points, "allocated_bytes", same, same),
    "M0.0 10.0H100.0V60.0H300.0V20.0");
});

test("an area stands on zero and passes over what is not known", () => {
  const some = [at(0, 10, null), at(50, 10, 80), at(90, 5, 80)];
  assert.equal(model.step_area(some, "reserved_bytes", same, (v) => 100 - v),
    "M50.0 100.0L50.0 20.0H90.0V20.0V100.0Z");
  assert.equal(model.step_area([at(0, 1, null)], "reserved_bytes", same, same), "");
});

test("the peak is the most allocated, the first one of equals", () => {
  assert.equal(model.peak_index(points), 1);
  assert.equal(model.peak_index([at(0, 7), at(1, 7)]), 0);
});

test("the capacity is drawn only where the curves stay readable below it", () => {
  assert.equal(model.memory_extent(points, 200).shows_capacity, true);
  assert.ok(model.memory_extent(points, 200).top_bytes >= 200);
  assert.equal(model.memory_extent(points, 1000).shows_capacity, false);
  assert.ok(model.memory_extent(points, 1000).top_bytes < 200);
  assert.equal(model.memory_extent(points, null).shows_capacity, false);
});

test("a single moment still has an extent", () => {
  const { begin_ns, end_ns } = model.memory_extent([at(40, 0, 0)], null);
  assert.ok(end_ns > begin_ns);
});

test("any moment has the value of the last point before it", () => {
  assert.deepEqual([-5, 0, 99, 100, 299, 300, 9e9].map((ns) => model.point_at(points, ns)),
    [0, 0, 0, 1, 1, 2, 2]);
});

test("ticks of bytes are round and start at zero", () => {
  assert.deepEqual(model.byte_ticks(2.7e9), [0, 1e9, 2e9]);
  assert.deepEqual(model.byte_ticks(100), [0, 50, 100]);
});

test("a leak is shown with its slope and interval, and unknown is not called none", () => {
  const slope = { leak_bytes_per_step: 2e6, leak_low: 1.5e6, leak_high: 2.5e6 };
  assert.deepEqual(leak_verdict({ ...slope, leak: true }),
    { word: "yes", tone: "bad", text: "+2.00 MB per step (+1.50 MB to +2.50 MB)" });
  const none = leak_verdict({ leak: false, leak_bytes_per_step: 0, leak_low: -10, leak_high: 10 });
  assert.deepEqual([none.word, none.tone], ["none", undefined]);
  assert.match(none.text, /−10 B to \+10 B/);
  const still = leak_verdict({ leak: false, leak_bytes_per_step: 0, leak_low: 0, leak_high: 0 });
  assert.equal(still.text, "0 B per step", "an interval of no width says nothing");
  const unknown = leak_verdict({ leak: null, leak_bytes_per_step: null, note: "too few steps" });
  assert.deepEqual([unknown.word, unknown.text], ["not known", "Too few steps"]);
});

test("the device asked about first is the fullest one, and never the host", () => {
  const row = (device, peak_allocated_bytes, events = 1) =>
    ({ device, peak_allocated_bytes, events });
  const rows = [row("cpu", 90), row("cuda:0", 5), row("cuda:1", 7), row("cuda:2", 99, 0)];
  assert.equal(fullest_device(rows).device, "cuda:1");
  assert.equal(fullest_device([row("cpu", 90)]), undefined);
  assert.equal(fullest_device([row("cuda:0", null)]).device, "cuda:0");
});
