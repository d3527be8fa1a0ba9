// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { size_text } from "../../../../../web/views/run/size_model.mjs";

test("a size that was measured is written out, an estimate is rounded and says so", () => {
  assert.equal(size_text({ bytes: 1_234_567, exact: true }), "1.23 MB");
  assert.equal(size_text({ bytes: 1_234_567, exact: false }), "about 1.2 MB");
  assert.equal(size_text({ bytes: 900, exact: true }), "900 B");
  assert.equal(size_text(undefined), "");
});
