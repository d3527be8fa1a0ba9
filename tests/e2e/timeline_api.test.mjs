// SPDX-License-Identifier: Apache-2.0
// Windows of the timeline of an uploaded trace, held against the events of its file.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { reply_faults } from "./helpers/openapi.mjs";
import { start_server } from "./helpers/server.mjs";
import { generate, small_job } from "./helpers/traces.mjs";

const ROUTE = "/api/v1/runs/{run}/timeline";
let server;

before(async () => {
  server = await start_server();
  const { files } = await generate(small_job());
  await server.analysed("t", files);
});
after(() => server?.stop());

const ask = (query) => server.request(`/api/v1/runs/t/timeline${query}`);
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

const WINDOWS = ["", "?lanes=device&rank=0", "?px=16", "?from_ns=1000&to_ns=2000000&rows=64"];

test("a window comes as described, its columns of one length, its indices in bounds", async () => {
  for (const query of WINDOWS) {
    const reply = await ask(query);
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(reply_faults("GET", ROUTE, reply), []);
    const { slices, lanes, names, classes } = reply.json;
    const lengths = new Set(Object.values(slices).map((column) => column.length));
    assert.equal(lengths.size, 1);
    assert.ok(slices.lane.length > 0, query);
    assert.ok(slices.lane.every((lane) => lane < lanes.length));
    assert.ok(slices.name.every((name) => name < names.length));
    assert.ok(slices.class.every((one) => one < classes.length));
  }
});

test("the whole trace counts every event of its lanes, at any width", async () => {
  for (const px of [16, 200, 8192]) {
    const { json } = await ask(`?px=${px}&rows=64`);
    assert.equal(sum(json.slices.count), sum(json.lanes.map(({ events }) => events)));
  }
});

test("lanes=device leaves threads out", async () => {
  const { json } = await ask("?lanes=device");
  assert.ok(json.lanes.some(({ kind }) => kind === "stream"));
  assert.ok(json.lanes.every(({ kind }) => kind !== "thread"));
});

test("what cannot be asked is refused with the reason", async () => {
  const wrong = ["?from_ns=5&to_ns=5", "?from_ns=-1", "?to_ns=0", "?px=1", "?px=99999", "?rows=0",
    "?rows=65", "?lanes=host", "?rank=x", "?width=4", "?from_ns=9e9"];
  for (const query of wrong) {
    const reply = await ask(query);
    assert.equal(reply.status, 400, `${query}: ${reply.text}`);
    assert.match(reply.json.detail, /found/);
  }
  assert.equal((await ask("?rank=99")).status, 404);
  assert.equal((await server.request("/api/v1/runs/none/timeline")).status, 404);
});

test("an unchanged window is not sent again", async () => {
  const { headers } = await ask("?px=100");
  const again = await server.request("/api/v1/runs/t/timeline?px=100",
    { headers: { "If-None-Match": headers.etag } });
  assert.equal(again.status, 304);
});
