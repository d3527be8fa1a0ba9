// SPDX-License-Identifier: Apache-2.0
// What is kept of replies.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer_with, api_get, api_send, kept_run } from "../../../../web/base/api.mjs";

const reply_of = (name) => Response.json({ id: "r_1", received: 1, name });

test("a reply that comes after that to a later request does not replace it", async () => {
  const held = [];
  answer_with((path, { method = "GET" } = {}) => (method === "GET"
    ? new Promise((resolve) => held.push(resolve)) : Promise.resolve(Response.json({}))));
  const first = api_get("/runs/r_1");
  await api_send("PATCH", "/runs/r_1");
  const second = api_get("/runs/r_1");
  held[1](reply_of("new"));
  assert.equal((await second).data.name, "new");
  held[0](reply_of("old"));
  assert.equal((await first).data.name, "new");
  assert.equal(kept_run("r_1").name, "new");
});
