// SPDX-License-Identifier: Apache-2.0
// What people type into a search box.
import assert from "node:assert/strict";
import test from "node:test";
import { parse_search } from "../../../../web/base/search_query.mjs";

test("known keys become filters, everything else is searched for", () => {
  assert.deepEqual(parse_search("llama gpu:MI300X tag:a=b tag:c=d since:14d exp"),
    { gpu: ["MI300X"], tag: ["a=b", "c=d"], since: ["14d"], q: "llama exp" });
  assert.deepEqual(parse_search('gpu:"NVIDIA H100"'), { gpu: ["NVIDIA H100"] });
  assert.deepEqual(parse_search("http://x"), { q: "http://x" });
  assert.deepEqual(parse_search("  "), {});
});
