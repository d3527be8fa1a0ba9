// SPDX-License-Identifier: Apache-2.0
// Axis arithmetic.
import assert from "node:assert/strict";
import test from "node:test";
import { dot_lanes, inner_ticks, linear, nice_ticks, tick_texts } from
  "../../../../web/charts/scale.mjs";

test("ticks are round, ascending and cover the range", () => {
  for (const [low, high] of [[0, 1], [0, 0.00037], [430, 530], [-5, 17], [0, 2_318.4]]) {
    const ticks = nice_ticks(low, high, 4);
    assert.ok(ticks[0] <= low && ticks.at(-1) >= high, `${ticks}`);
    assert.ok(ticks.length >= 3 && ticks.length <= 9, `${ticks}`);
    const step = ticks[1] - ticks[0];
    assert.match(step.toExponential(0), /^[125]e/);
  }
});

test("at least two ticks lie within a range, wherever it begins", () => {
  for (const [low, high] of [[0, 1], [0.2, 3.1], [19, 61], [1.01, 1.49], [118.4, 1_017]]) {
    const ticks = inner_ticks(low, high, 1);
    assert.ok(ticks.length >= 2, `${low} to ${high}: ${ticks}`);
    assert.ok(ticks.every((tick) => tick >= low && tick <= high), `${low} to ${high}: ${ticks}`);
  }
  assert.deepEqual(inner_ticks(5, 5), [5]);
});

test("the texts of ticks differ from each other and carry no digit in vain", () => {
  assert.deepEqual(tick_texts([18.2, 18.22, 18.24]), ["18.20", "18.22", "18.24"]);
  assert.deepEqual(tick_texts([0, 10, 20]), ["0", "10", "20"]);
  assert.deepEqual(tick_texts([0, 0.0005, 0.001]), ["0.0000", "0.0005", "0.0010"]);
  assert.deepEqual(tick_texts([1000, 1500]), ["1,000", "1,500"]);
  assert.deepEqual(tick_texts([-0.5, 0, 0.5]), ["−0.5", "0.0", "0.5"]);
  assert.deepEqual([tick_texts([7]), tick_texts([])], [["7.00"], []]);
});

test("a range without extent has one tick", () => {
  assert.deepEqual(nice_ticks(5, 5), [5]);
});

test("a linear scale maps ends to ends, and a point range to its start", () => {
  const scale = linear(10, 20, 0, 100);
  assert.deepEqual([scale(10), scale(15), scale(20)], [0, 50, 100]);
  assert.equal(linear(3, 3, 7, 9)(3), 7);
});

test("dots that would touch take different lanes", () => {
  assert.deepEqual(dot_lanes([0, 1, 2, 20], 5).map((lane) => Math.abs(lane)), [0, 1, 1, 0]);
  assert.equal(new Set(dot_lanes([0, 0, 0], 5)).size, 3);
});
