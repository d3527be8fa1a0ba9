// SPDX-License-Identifier: Apache-2.0
// Steps of a running job in words: the newest change and its suspect, or how long a step takes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { live_caption, live_sentence, live_series, next_look, stage_cells }
  from "../../../../../web/views/training/live_model.mjs";

const LIVE = { ranks: 4, first_step: 1000, last_step: 1119, step_median_ns: 65_000_000,
  stages: [{ stage: "data", mean_ns: 15_000_000, rank: 2, rank_share: 0.5 },
    { stage: "forward", mean_ns: 45_000_000, rank: 0, rank_share: 0.25 }],
  changes: [], points: [[1000, 65_000_000], [1001, 66_000_000]] };

const change = { step: 1060, before_ns: 65_000_000, after_ns: 105_000_000, recorded: null,
  suspects: [{ stage: "data", rank: 2, gain_ns: 40_000_000 }] };

test("the newest change is said with its suspect, else how long a step takes", () => {
  assert.equal(live_sentence(LIVE),
    "A step takes 65.0 ms, 75.0 % of it in forward; its duration has not changed.");
  assert.equal(live_sentence({ ...LIVE, changes: [change] }),
    "Steps have been slower since step 1,060, 105 ms instead of 65.0 ms: rank 2 takes 40.0 ms "
    + "longer in data.");
  assert.match(live_sentence({ ...LIVE, changes: [{ ...change,
    suspects: [{ stage: "forward", rank: null, gain_ns: 1 }] }] }),
  /: all ranks take 1 ns longer in forward\.$/);
  assert.match(live_sentence({ ...LIVE, changes: [{ ...change, before_ns: 2e8 }] }),
    /^Steps have been faster since step 1,060, 105 ms instead of 200 ms\.$/);
});

test("stages have their share, and points are drawn as they come", () => {
  assert.deepEqual(stage_cells(LIVE)[0], ["data", "15.0 ms", "25.0 %", "2", "50.0 %"]);
  assert.deepEqual(live_series(LIVE)[0].points[1], { x: 1001, y: 66e6 });
  assert.equal(live_caption(LIVE), "Steps 1,000 to 1,119 of 4 ranks, as they sent them");
});

test("a job that sends nothing more is asked about less and less often", () => {
  assert.equal(next_look(null, null), null);
  assert.equal(next_look(null, { ...LIVE, points: [] }), null);
  let look = next_look(null, LIVE);
  assert.equal(look.wait_ms, 10_000);
  for (let i = 0; i < 9; i++) look = next_look(look, LIVE);
  assert.equal(look.wait_ms, 320_000);
  assert.equal(next_look(look, { ...LIVE, last_step: 1120 }).wait_ms, 10_000);
});
