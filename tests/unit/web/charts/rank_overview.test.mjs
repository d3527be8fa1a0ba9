// SPDX-License-Identifier: Apache-2.0
// What the overview of all ranks says about lanes and pieces.
import assert from "node:assert/strict";
import { test } from "node:test";
import { lane_ranks, lane_sums, overview_caption, piece_words }
  from "../../../../web/charts/rank_overview_model.mjs";

const rank = (first_rank, compute, communication) => ({ first_rank, last_rank: first_rank, ranks: 1,
  compute, communication, copy: compute.map((share) => (share === null ? null : 0)) });
const group = { first_rank: 8, last_rank: 15, ranks: 8, compute: [150, 150, null],
  communication: [100, 100, null], copy: [0, 0, null], idle: [5, 5, null],
  compute_least: [150, 150, null], compute_most: [250, 250, null],
  communication_least: [0, 0, null], communication_most: [100, 100, null],
  idle_least: [5, 5, null], idle_most: [55, 5, null], idlest: [9, null, null],
  slowest: [13, 13, null] };
const data = (lanes) => ({ lanes, whole: 255, first_ns: 1e6, piece_ns: 1e6 });

test("shares are means over the pieces that are known; what is left of a rank is idle", () => {
  const sums = lane_sums(rank(3, [255, 0, null], [0, 51, null]), 255);
  assert.deepEqual([sums.compute, sums.communication, sums.idle], [0.5, 0.1, 0.4]);
  assert.equal(lane_sums(rank(3, [null], [null]), 255).compute, null);
  assert.equal(lane_ranks(group), "8-15");
});

test("the rank that is last most of the time is named, if the others really wait", () => {
  assert.equal(lane_sums(group, 255).slowest, 13);
  assert.match(overview_caption(data([group])), /^Rank 13 usually communicates for the shortest/);
  const slightly = { ...group, first_rank: 0, last_rank: 7, slowest: [2, 2, null],
    communication_least: [90, 90, null] };
  assert.match(overview_caption(data([slightly, group])), /^Rank 13 /, "not the first group's");
  const alike = { ...group, communication_least: [99, 99, null] };
  assert.equal(lane_sums(alike, 255).slowest, null);
});

test("without groups the rank that communicates least is set against the median", () => {
  const lanes = [rank(0, [204], [51]), rank(1, [255], [0]), rank(2, [204], [51])];
  assert.equal(overview_caption(data(lanes)), "Rank 1: 0 % communication, median 20 %");
  assert.match(overview_caption(data([lanes[0], lanes[2]])), /^Ranks are alike/);
  assert.match(overview_caption(data([rank(0, [255], [0]), rank(1, [0], [0])])),
    /^Rank 1: idle 100 %, Rank 0: 0 %$/);
  assert.match(overview_caption(data([rank(0, [null], [null])])), /^No rank/);
});

test("a piece is put in words with its extremes, or as having no trace", () => {
  assert.match(piece_words(data([group]), 0, 0),
    /^Ranks 8–15 at 1\.00 ms, median: compute 59 %, .*idle from 2 % to 22 % \(rank 9\); rank 13/);
  assert.match(piece_words(data([group]), 0, 1), /all idle alike; rank 13/);
  assert.match(piece_words(data([group]), 0, 2), /no trace$/);
  assert.match(piece_words(data([rank(0, [255], [0])]), 0, 0), /^Rank 0 at .*: compute 100 %/);
});
