// SPDX-License-Identifier: Apache-2.0
// Bodies of requests: every valid JSON is taken, every broken one refused with the place, and what
// the standard leaves open never harms.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fields } from "../e2e/helpers/multipart.mjs";
import { start_server } from "../e2e/helpers/server.mjs";
import { EITHER, INVALID, VALID } from "./helpers/json_corpus.mjs";
import { figure } from "./helpers/torture.mjs";

let server;
before(async () => {
  server = await start_server();
  const data = '{"traceEvents":[]}';
  await server.post([...fields({ run: "corpus" }), { name: "trace", filename: "t.json", data }]);
});
after(() => server.stop());

/** What the service says to a member that nobody knows, with this value. */
async function say(value) {
  const body = Buffer.from(`{"unheard": ${value}}`, "latin1");
  const headers = { "Content-Type": "application/json", "If-Match": "*" };
  const reply = await server.request("/api/v1/runs/corpus", { method: "PATCH", body, headers });
  assert.equal(reply.status, 400, `${value.slice(0, 80)}: ${reply.status} ${reply.text}`);
  return reply.json.detail;
}

const TAKEN = /found member 'unheard'/;
const REFUSED = /the body is not JSON: \S|deeper than 16 levels/;

test("there are as many as were promised", () => {
  const counts = [VALID, INVALID, EITHER].map((list) => new Set(list).size);
  assert.ok(counts[0] >= 95 && counts[1] >= 188 && counts[2] >= 35, counts.join(" "));
});

test("all valid values are taken, all broken ones refused", async () => {
  for (const value of VALID) assert.match(await say(value), TAKEN, JSON.stringify(value));
  for (const value of INVALID) assert.match(await say(value), REFUSED, JSON.stringify(value));
  for (const value of EITHER) {
    const said = await say(value);
    assert.ok(TAKEN.test(said) || REFUSED.test(said), said);
  }
  await server.alive();
  figure("R7", `${VALID.length} valid bodies taken, ${INVALID.length} broken ones refused, ` +
    `${EITHER.length} that are open answered`);
});
