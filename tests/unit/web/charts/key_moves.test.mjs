// SPDX-License-Identifier: Apache-2.0
// Keys among the marks of a chart.
import { test } from "node:test";
import assert from "node:assert/strict";

import { EITHER_WAY, moved } from "../../../../web/charts/key_moves.mjs";

test("arrow keys stop at both ends, and other keys lead nowhere", () => {
  assert.equal(moved("ArrowRight", -1, 3), 0);
  assert.equal(moved("ArrowRight", 2, 3), 2);
  assert.equal(moved("ArrowLeft", 0, 3), 0);
  assert.equal(moved("Home", 2, 3), 0);
  assert.equal(moved("End", 0, 3), 2);
  assert.equal(moved("ArrowDown", 0, 3), null);
  assert.equal(moved("ArrowDown", 0, 3, EITHER_WAY), 1);
  assert.equal(moved("a", 0, 3), null);
});
