// SPDX-License-Identifier: Apache-2.0
// Tags as people type them.
import assert from "node:assert/strict";
import test from "node:test";
import { tags_patch } from "../../../../../web/views/run_data/tags.mjs";

test("a merge patch of tags removes what is gone", () => {
  assert.deepEqual(tags_patch({ a: "1", b: "2" }, "b=3 c=x=y flag"),
    { a: null, b: "3", c: "x=y", flag: "" });
  assert.deepEqual(tags_patch({ a: "1" }, ""), { a: null });
});
