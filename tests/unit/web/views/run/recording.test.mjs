// SPDX-License-Identifier: Apache-2.0
// What a recording has and lacks.
import assert from "node:assert/strict";
import test from "node:test";
import { by_state, gaps_among, recording_sentence }
  from "../../../../../web/views/run/recording_model.mjs";

const recording = [
  { item: "shapes", state: "present" }, { item: "memory", state: "missing" },
  { item: "modules", state: "partial" },
];

test("gaps of a recording are named worst first, and only those asked for", () => {
  assert.deepEqual(gaps_among(recording, ["modules", "memory", "shapes"]).map(({ item }) => item),
    ["memory", "modules"]);
  assert.deepEqual(gaps_among(recording, ["shapes"]), []);
  assert.deepEqual(by_state(recording).map(({ state }) => state),
    ["missing", "partial", "present"]);
  assert.match(recording_sentence(recording), /^1 of 3 /);
});
