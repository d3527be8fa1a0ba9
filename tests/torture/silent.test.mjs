// SPDX-License-Identifier: Apache-2.0
// Thousands of connections from one address that send nothing, or just a word, and endless requests
// from one address or token: others are served as if they were not there (R8).
// Timed: nothing runs beside it.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { start_server } from "../e2e/helpers/server.mjs";
import { temporary, until } from "../e2e/helpers/tools.mjs";
import { small_json } from "../e2e/helpers/traces.mjs";
import { ask, bearer, make_token } from "./helpers/identities.mjs";
import { figure, is_long } from "./helpers/torture.mjs";
import { is_sanitized } from "./helpers/wire.mjs";

const SILENT = is_long ? 8000 : 3000;
const WATCH_MS = is_long ? 20_000 : 3_000;
const LIMIT_MS = 500; // for 99 of 100; whoever is kept out waits for seconds
const LONGEST_MS = 2500;

let server;

before(async () => {
  server = await start_server({ crowd: true });
});
after(() => server?.stop());

/** A connection that sends a word and no more. */
function silent(word, state) {
  const socket = connect({ port: server.port, host: "127.0.0.1" });
  state.sockets.add(socket);
  socket.on("connect", () => word && socket.write(word));
  socket.on("data", () => {});
  socket.on("error", () => {});
  socket.on("close", () => state.sockets.delete(socket));
}

/** How long the health page takes meanwhile, from the same address and from another. */
async function watch(state) {
  const times = [];
  const end = performance.now() + WATCH_MS;
  while (performance.now() < end) {
    const begin = performance.now();
    const peer = times.length % 2 === 0 ? undefined : "127.0.0.7";
    assert.equal((await ask(server.port, "GET", "/healthz", { peer })).status, 200);
    times.push(performance.now() - begin);
  }
  for (const socket of state.sockets) socket.destroy();
  return times;
}

const WORDS = [["that say nothing", ""], ["that begin a request", "GET / HTTP/1.1\r\n"]];
for (const [what, word] of WORDS) {
  test(`${SILENT} connections of one address ${what} keep nobody out`, async () => {
    const state = { sockets: new Set() };
    for (let i = 0; i < SILENT; i++) silent(word, state);
    // Opening that many connections keeps this process busy for a while, too.
    await until("all were opened", () => [...state.sockets].every((one) => !one.connecting));
    const times = await watch(state);
    const sorted = [...times].sort((a, b) => a - b);
    const p99 = sorted[Math.floor(0.99 * (sorted.length - 1))];
    const times_slower = is_sanitized(server.child.pid) ? 3 : 1;
    figure("R8", `health p99 ${p99.toFixed(0)} ms, at most ${sorted.at(-1).toFixed(0)} ms, ` +
      `first ${times[0].toFixed(0)} ms, of ${times.length} beside ${SILENT} connections ${what}`);
    assert.ok(p99 < LIMIT_MS * times_slower, `p99 ${p99.toFixed(0)} ms`);
    assert.ok(sorted.at(-1) < LONGEST_MS * times_slower, `${sorted.at(-1).toFixed(0)} ms`);
    await server.alive();
  });
}

/** An upload whose body never comes, under some identity. */
function hanging(port, peer, headers = {}) {
  const stop = new AbortController();
  const path = "/api/v1/runs/hanging/ranks/0/trace";
  ask(port, "PUT", path, { peer, headers, announced: 1000, signal: stop.signal }).catch(() => {});
  return stop;
}

test("requests beyond those that an address or a token may have under way come back later",
  async () => {
    const data = join(temporary("crowd"), "data");
    const [mine, theirs] = await Promise.all(["mine", "theirs"].map((name) =>
      make_token(data, name, ["admin"])));
    const own = await start_server({ data, crowd: true, token: theirs,
      options: ["--auth", "required", "--per-client", "4"] });
    const under_way = (count) => until(`${count} uploads are under way`, async () =>
      (await own.request("/metrics")).text.includes(`uploads_in_flight ${count}\n`));
    const status = (peer, token) =>
      ask(own.port, "GET", "/api/v1/runs", { peer, headers: bearer(token) });
    const one = Array.from({ length: 4 }, () => hanging(own.port, "127.0.3.1", bearer(mine)));
    await under_way(4);
    const refused = await status("127.0.3.1", theirs);
    assert.equal(refused.status, 429, refused.text);
    assert.match(refused.text, /too-many-requests.*this address/);
    assert.ok(Number(refused.headers["retry-after"]) > 0);
    const by_token = await status("127.0.3.2", mine);
    assert.equal(by_token.status, 429, by_token.text);
    assert.match(by_token.text, /this token/);
    assert.equal((await status("127.0.3.2", theirs)).status, 200);
    for (const stop of one) stop.abort();
    await under_way(0);
    await until("there is room again", async () =>
      (await status("127.0.3.1", mine)).status === 200);
    await own.stop();
  });

test("a connection says how long it waits, and waits so long", async () => {
  const first = await fetch(`${server.base}/healthz`);
  await first.text();
  const seconds = Number(/timeout=(\d+)/.exec(first.headers.get("keep-alive"))[1]);
  assert.ok(seconds >= 15, `${seconds} s`);
  for (const pause_ms of is_long ? [1000, 5000, (seconds - 2) * 1000] : [700, 2000]) {
    await new Promise((next) => setTimeout(next, pause_ms));
    // POST: a browser does not retry a request that changes something.
    const reply = await fetch(`${server.base}/api/v1/runs/alive/ranks/0/trace`,
      { method: "PUT", body: small_json() });
    assert.ok(reply.status < 300, await reply.text());
  }
});
