// SPDX-License-Identifier: Apache-2.0
// The trust report over many ranks.
import assert from "node:assert/strict";
import test from "node:test";
import { ends_early, first_group, trust_groups, rank_ranges }
  from "../../../../../web/views/run/trust_model.mjs";

const row = (rank, item, severity, more) => ({
  ...{ rank, item, severity, detail: item, effect: "", count: 1, time_ns: null, position: 7 },
  ...more,
});

test("neighboring ranks are written as ranges", () => {
  assert.equal(rank_ranges([3, 0, 1, 2, 5]), "0–3, 5");
  assert.equal(rank_ranges([4]), "4");
  assert.equal(rank_ranges([]), "");
});

test("what several ranks have is one row with counts and times added", () => {
  const groups = trust_groups([
    row(0, "clipped", "warning", { count: 3, time_ns: 10 }),
    row(1, "clipped", "warning", { count: 4, time_ns: null }),
    row(2, "clipped", "info"),
  ]);
  assert.deepEqual(groups.map(({ ranks, count, time_ns, position }) =>
    [ranks, count, time_ns, position]), [["0–1", 7, 10, null], ["2", 1, null, 7]]);
});

test("the worst comes first and what concerns the run says so", () => {
  const groups = trust_groups([row(0, "a", "info"), row(null, "b", "error")]);
  assert.deepEqual(groups.map(({ item, ranks }) => [item, ranks]), [["b", "run"], ["a", "0"]]);
});

test("a cut file comes before what its rank lacks because of it", () => {
  const first = (rows) => first_group(trust_groups(rows))?.item;
  const none = row(0, "no_device_events", "error");
  assert.equal(first([none, row(0, "compression", "warning")]), "compression");
  assert.equal(first([none, row(0, "clipped", "warning")]), "no_device_events");
  assert.equal(first([none, row(1, "truncated", "warning")]), "no_device_events", "another rank's");
  assert.equal(first([row(0, "other", "error"), row(0, "truncated", "warning")]), "other");
  assert.equal(first([]), undefined);
});

test("only the rank whose file was cut ends early", () => {
  const rows = [row(0, "clipped", "warning"), row(1, "truncated", "warning")];
  assert.equal(ends_early(rows, 1), true);
  assert.equal(ends_early(rows, 0), false);
  assert.equal(ends_early([row(null, "compression", "warning")], undefined), true);
  assert.equal(ends_early(undefined, 0), false);
});
