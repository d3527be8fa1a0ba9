// SPDX-License-Identifier: Apache-2.0
// Requests that are nearly right, several per connection: no invalid answers, no internal errors,
// and nothing is left open.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { start_server } from "../e2e/helpers/server.mjs";
import { chance, until } from "../e2e/helpers/tools.mjs";
import { small_json } from "../e2e/helpers/traces.mjs";
import { Grammar, routes_of } from "./helpers/grammar.mjs";
import { figure, is_long, seed } from "./helpers/torture.mjs";

const REQUESTS = Number(process.env.STEPSCOPE_REQUESTS ?? (is_long ? 1_000_000 : 20_000));
// The first refused request may end the connection.
const MOST_PER_CONNECTION = 4;
const CONNECTIONS = 12;
const ANSWER_MS = 30_000;

let server;
before(async () => {
  server = await start_server({ options: ["--min-free", "1M"] });
  for (const run of ["alpha", "beta"]) {
    await server.analyzed(run, [{ filename: "a.json", data: small_json() }]);
  }
});
after(() => server?.child.kill("SIGKILL"));

/** Sends everything and returns everything received. @returns {Promise<string>} */
function exchange(bytes) {
  return new Promise((done, fail) => {
    const chunks = [];
    const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
    const finish = () => done(Buffer.concat(chunks).toString("latin1"));
    socket.setTimeout(ANSWER_MS, () => {
      socket.destroy();
      fail(new Error(`no end of the answers: ${JSON.stringify(bytes.toString("latin1"))}`));
    });
    socket.on("connect", () => socket.end(bytes));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("end", () => socket.destroy());
    socket.on("error", finish);
    socket.on("close", finish);
  });
}

/** The statuses of answers, each checked for what all must have. @returns {number[]} */
function statuses_of(text) {
  const heads = text.match(/^HTTP\/1\.[01] \d{3} [\s\S]*?\r\n\r\n/gm) ?? [];
  return heads.map((head) => {
    const status = Number(head.slice(9, 12));
    // A 304 leaves the policy of what it is about as it was.
    if (status !== 100 && status !== 304)
      assert.match(head, /\r\nContent-Security-Policy: default-src 'none'/, head);
    assert.doesNotMatch(head, /access-control/i);
    return status;
  });
}

const open_files = () => readdirSync(`/proc/${server.child.pid}/fd`).length;

test(`${REQUESTS} requests that are nearly right get right answers`, async () => {
  const openapi = (await server.request("/api/v1/openapi.json")).json;
  const grammar = new Grammar(routes_of(openapi), chance(seed));
  const counts = new Map();
  const wrong = [];
  const files_before = open_files();
  let sent = 0;
  let answers = 0;
  const begin = performance.now();
  const worker = async () => {
    while (sent < REQUESTS && wrong.length === 0) {
      const count = Math.min(1 + grammar.under(MOST_PER_CONNECTION), REQUESTS - sent);
      sent += count;
      const requests = Array.from({ length: count }, () => grammar.request());
      const statuses = statuses_of(await exchange(Buffer.concat(requests)));
      answers += statuses.length;
      for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
      if (statuses.includes(500)) wrong.push(requests.map((one) => one.toString("latin1")));
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  const seconds = (performance.now() - begin) / 1000;
  await server.alive();
  const summary = [...counts].sort(([a], [b]) => a - b).map(([status, n]) => `${status}:${n}`);
  figure("R6", `${sent} mutated requests, ${answers} answers in ${seconds.toFixed(1)} s, ` +
    `${wrong.length} findings (${summary.join(" ")}, seed ${seed})`);
  assert.deepEqual(wrong, [], server.log.slice(-3000));
  // Connections of the last requests close a moment later.
  await until("all files are closed again", () => open_files() <= files_before + 4);
});

test("afterwards the service works and stops in order", async () => {
  const run = await server.analyzed("afterwards", [{ filename: "a.json", data: small_json() }]);
  assert.equal(run.status, "done", run.error);
  await server.stop();
});
