// SPDX-License-Identifier: Apache-2.0
// The trust report over many ranks.
import assert from "node:assert/strict";
import test from "node:test";
import { quality_groups, rank_ranges } from "../../../web/views/quality_model.mjs";

const row = (rank, item, severity, more) => ({
  ...{ rank, item, severity, detail: item, effect: "", count: 1, time_ns: null, position: 7 },
  ...more,
});

test("neighbouring ranks are written as ranges", () => {
  assert.equal(rank_ranges([3, 0, 1, 2, 5]), "0–3, 5");
  assert.equal(rank_ranges([4]), "4");
  assert.equal(rank_ranges([]), "");
});

test("what several ranks have is one row with counts and times added", () => {
  const groups = quality_groups([
    row(0, "clipped", "warning", { count: 3, time_ns: 10 }),
    row(1, "clipped", "warning", { count: 4, time_ns: null }),
    row(2, "clipped", "info"),
  ]);
  assert.deepEqual(groups.map(({ ranks, count, time_ns, position }) =>
    [ranks, count, time_ns, position]), [["0–1", 7, 10, null], ["2", 1, null, 7]]);
});

test("the worst comes first and what concerns the run says so", () => {
  const groups = quality_groups([row(0, "a", "info"), row(null, "b", "error")]);
  assert.deepEqual(groups.map(({ item, ranks }) => [item, ranks]), [["b", "run"], ["a", "0"]]);
});
