// SPDX-License-Identifier: Apache-2.0
// Ranks on one clock: which are chosen, what is drawn of each, which collectives are joined.
import assert from "node:assert/strict";
import test from "node:test";
import { longest_waits, rank_lanes, ranks_of_text, spread_ranks, waits_of }
  from "../../../../web/charts/rank_lanes_model.mjs";

const slice = (pid, cat, ts, dur, name = cat) => ({ ph: "X", pid, cat, name, ts, dur });
const flow = (ph, pid, id, ts) => ({ ph, pid, cat: "flow", name: "flow", id, ts });

test("slices go to their rank's lanes in order of time, and each collective is joined", () => {
  const found = rank_lanes([{ ph: "M", pid: 0, name: "process_name" },
    slice(0, "communication", 5, 2.5), slice(0, "compute", 3, 1), slice(0, "compute", 1, 1.25),
    slice(4, "memory", 2, 1), slice(4, "wait", 5, 1, "wait for rank 0"), slice(9, "compute", 0, 9),
    flow("s", 4, 7, 5), flow("f", 0, 7, 5.5), flow("s", 0, 8, 6)], [4, 0]);
  assert.deepEqual([found.from, found.to], [2250, 5000]);
  assert.deepEqual(found.ranks.map(({ rank }) => rank), [4, 0]);
  assert.deepEqual(found.ranks[1].lanes[0].map(({ from, to }) => [from, to]),
    [[1000, 2250], [3000, 4000]]);
  assert.equal(found.ranks[1].lanes[1].length, 1);
  assert.deepEqual(found.joins, [[{ rank: 4, ns: 5000 }, { rank: 0, ns: 5500 }]]);
  assert.deepEqual(waits_of(found.ranks), [{ rank: 4, ns: 1000 }, { rank: 0, ns: 0 }]);
  assert.equal(longest_waits(found.ranks, 5)[0].name, "wait for rank 0");
});

test("one slice is shown whole, and none is no span", () => {
  const { from, to } = rank_lanes([slice(0, "compute", 1, 2)], [0]);
  assert.deepEqual([from, to], [1000, 3000]);
  assert.deepEqual([rank_lanes([], [0]).from, rank_lanes([], [0]).to], [0, 0]);
});

test("the slowest rank is the one that the others wait for, else the one with long steps", () => {
  const row = (rank, wait_ns, step_median_ns) => ({ rank, wait_ns, step_median_ns });
  assert.deepEqual(spread_ranks([row(0, 9, 5), row(1, 0, 5), row(2, 8, 5), row(3, 7, 5)]),
    [1, 3, 0]);
  assert.deepEqual(spread_ranks([row(0, null, 5), row(1, null, 8), row(2, null, 6)]), [1, 2, 0]);
  assert.deepEqual(spread_ranks([row(0, null, 5), row(1, 3, 5), row(2, 8, 5), row(4, 5, 5)]),
    [1, 4, 2], "unknown waits are not the least");
  assert.deepEqual(spread_ranks([row(3, 1, 1)]), [3]);
  assert.deepEqual(spread_ranks([]), []);
});

test("a list of ranks is read as far as the run has them", () => {
  assert.deepEqual(ranks_of_text("0-2, 7,x,5-", [0, 1, 2, 3, 7]), [0, 1, 2, 7]);
  assert.deepEqual(ranks_of_text("", [0, 1]), []);
  assert.equal(ranks_of_text("0-999999", Array.from({ length: 40 }, (_, i) => i)).length, 16);
});
