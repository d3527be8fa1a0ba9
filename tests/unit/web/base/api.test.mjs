// SPDX-License-Identifier: Apache-2.0
// What is kept of replies.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer_with, api_get, api_send, kept_run, signed_out } from
  "../../../../web/base/api.mjs";

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

test("nor does one that says that an earlier reply still holds", async () => {
  const held = [];
  answer_with((path, { method = "GET" } = {}) => (method === "GET"
    ? new Promise((resolve) => held.push(resolve)) : Promise.resolve(Response.json({}))));
  const before = api_get("/runs/r_1");
  held[0](reply_of("old"));
  await before;
  const first = api_get("/runs/r_1");
  await api_send("PATCH", "/runs/r_1");
  const second = api_get("/runs/r_1");
  held[2](reply_of("new"));
  await second;
  held[1](new Response(null, { status: 304 }));
  assert.equal((await first).data.name, "new");
});

test("a page that people come back to stays when the session ends", async () => {
  const left = [];
  const replies = [];
  const visit = async (pathname, reply) => {
    globalThis.location = { pathname, search: "", assign: (to) => left.push(to) };
    replies.push(reply);
    await api_get(`/of${pathname}`).catch(() => null);
  };
  answer_with(() => Promise.resolve(replies.shift()));
  const refused = () => Response.json({ title: "Unauthorized" }, { status: 401 });
  await visit("/a", Response.json({}, { headers: { ETag: '"1"' } }));
  await visit("/b", Response.json({}));
  await visit("/a", new Response(null, { status: 304 }));
  await visit("/a", refused());
  assert.deepEqual([left, signed_out.get()], [[], true]);
  await visit("/c", refused());
  assert.equal(left.length, 1);
  delete globalThis.location;
});
