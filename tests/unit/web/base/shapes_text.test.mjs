// SPDX-License-Identifier: Apache-2.0
// Shapes and types of inputs as people write them.
import assert from "node:assert/strict";
import test from "node:test";
import { shapes_text, types_text } from "../../../../web/base/shapes_text.mjs";

test("shapes are written with crosses, lists in parentheses, no shapes at the end left out", () => {
  assert.equal(shapes_text("[[8944,1024],\n [1024,2816],[],[]]"), "8944×1024, 1024×2816");
  assert.equal(shapes_text("[[[1,2],[]],[],[3]]"), "(1×2, –), –, 3");
  assert.equal(shapes_text("[[]]"), "–");
  assert.equal(types_text('["c10::BFloat16","Scalar","float","Scalar",""]'),
    "BFloat16, Scalar, float");
});

test("shapes that cannot be read are shown as they came", () => {
  assert.equal(shapes_text("[[1,2"), "[[1,2");
  assert.equal(shapes_text('{"a": 1}'), '{"a": 1}');
  assert.equal(shapes_text(null), "");
  assert.equal(shapes_text('[["<b>"]]'), "(–)");
  assert.equal(types_text('["<img>", 3, null]'), "<img>, 3, null");
});
