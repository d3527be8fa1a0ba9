// SPDX-License-Identifier: Apache-2.0
// SIGTERM in the middle of uploads: those in progress finish, new ones are asked to come back, and
// the service exits soon (R12). What the kernel had taken for it is answered. The long form also
// has clients that never end.
// Timed: nothing runs beside it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { test } from "node:test";
import { no_postgres, start_postgres } from "../e2e/helpers/postgres.mjs";
import { start_server } from "../e2e/helpers/server.mjs";
import { until } from "../e2e/helpers/tools.mjs";
import { small_json } from "../e2e/helpers/traces.mjs";
import { figure, is_long } from "./helpers/torture.mjs";
import { ask } from "./helpers/wire.mjs";

const DRAIN_LIMIT_MS = 30_000;
const EXIT_LIMIT_MS = 35_000;
const REFUSE_LIMIT_MS = 1000;
const NOTICE_MS = 5000; // with a balancer in front
const UPLOADS = 20;
const WAITING = 300;
const GET = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

/** An upload that has sent its first half. */
function begin_upload(server, run) {
  const data = small_json({ names: [`kernel_${run}`] });
  const socket = connect({ port: server.port, host: "127.0.0.1" });
  const upload = { run, socket, said: "", rest: data.subarray(data.length >> 1), closed: false };
  socket.on("data", (text) => (upload.said += text));
  socket.on("close", () => (upload.closed = true));
  socket.on("error", () => {});
  socket.write(`PUT /api/v1/runs/${run}/ranks/0/trace HTTP/1.1\r\nHost: localhost\r\n` +
    `Expect: 100-continue\r\nContent-Length: ${data.length}\r\n\r\n`);
  socket.write(data.subarray(0, data.length >> 1));
  return upload;
}

/** Uploads whose bodies the service has started to read. */
async function begin_uploads(server) {
  const uploads = Array.from({ length: UPLOADS }, (_, i) => begin_upload(server, `r${i}`));
  await until("all may go on", () => uploads.every(({ said }) => / 100 /.test(said)));
  return uploads;
}

/** A connection that a balancer keeps from one request to the next. */
class KeptConnection {
  constructor(port) {
    this.socket = connect({ port, host: "127.0.0.1" });
  }

  /** The next answer. */
  get() {
    this.socket.write(GET.replace("/healthz", "/api/v1/runs"));
    return new Promise((done) => this.socket.once("data", (bytes) => done(bytes.toString())));
  }
}

/** Sends SIGTERM and waits until nothing new is accepted. */
async function begin_stop(server) {
  const begin = performance.now();
  server.child.kill("SIGTERM");
  await until("the service says that it stops", () => /stopping on SIGTERM/.test(server.log));
  return begin;
}

async function expect_refusals(server) {
  let worst_ms = 0;
  for (const path of ["/healthz", "/readyz", "/api/v1/runs"]) {
    const found = await ask(server.port, [GET.replace("/healthz", path)]);
    assert.equal(found.status, 503, found.head);
    assert.match(found.head, /\r\nRetry-After: [1-9]\d*\r\n/);
    assert.match(found.head, /\r\nConnection: close\r\n/);
    worst_ms = Math.max(worst_ms, found.ms);
  }
  assert.ok(worst_ms <= REFUSE_LIMIT_MS, `refused after ${worst_ms.toFixed(0)} ms`);
  return worst_ms;
}

test("uploads under way end well, new requests are asked to come back, none is lost", async () => {
  const server = await start_server();
  const uploads = await begin_uploads(server);
  const idle = Array.from({ length: 10 }, () => connect(server.port, "127.0.0.1"));
  idle.forEach((socket) => socket.on("error", () => {}));
  const begin = await begin_stop(server);
  const worst_ms = await expect_refusals(server);
  uploads.forEach(({ socket, rest }) => socket.write(rest));
  const answered = ({ said }) => /HTTP\/1\.1 20[02] /.test(said);
  await until("all uploads are answered", () => uploads.every(answered), DRAIN_LIMIT_MS);
  assert.deepEqual(await server.ended(), { status: 0, signal: null }, server.log);
  const took_ms = performance.now() - begin;
  idle.forEach((socket) => socket.destroy());
  assert.ok(took_ms <= EXIT_LIMIT_MS, `the service ended after ${took_ms.toFixed(0)} ms`);
  const again = await start_server({ data: server.data });
  try {
    for (const { run } of uploads) assert.equal((await again.settled(run)).status, "done");
  } finally {
    await again.stop();
  }
  figure("R12", `SIGTERM: new requests refused within ${worst_ms.toFixed(0)} ms, ${UPLOADS} ` +
    `uploads under way stored, exit after ${(took_ms / 1000).toFixed(1)} s`);
});

test("clients that never end are not waited for for ever", { skip: !is_long }, async () => {
  const server = await start_server();
  const uploads = await begin_uploads(server);
  const begin = await begin_stop(server);
  await expect_refusals(server);
  assert.deepEqual(await server.ended(), { status: 0, signal: null }, server.log);
  const took_ms = performance.now() - begin;
  uploads.forEach(({ socket }) => socket.destroy());
  assert.ok(took_ms <= EXIT_LIMIT_MS, `the service ended after ${took_ms.toFixed(0)} ms`);
  figure("R12", `SIGTERM: exit after ${(took_ms / 1000).toFixed(1)} s though ${UPLOADS} clients ` +
    "never send the rest");
});

test("a service that nobody uses ends at once", async () => {
  const idle = await start_server();
  const begin = performance.now();
  await idle.stop();
  const took_ms = performance.now() - begin;
  figure("R12", `an idle service ends ${took_ms.toFixed(0)} ms after SIGTERM`);
  assert.ok(took_ms < 1000, `${took_ms} ms`);
});

/** Requests that the kernel has taken while the service stands still, then SIGTERM. */
async function stop_with_waiting(server) {
  process.kill(server.child.pid, "SIGSTOP");
  const answers = Array.from({ length: WAITING }, (_, i) => {
    const body = JSON.stringify({ name: `waiting${i}` });
    return ask(server.port, ["POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\n" +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`]);
  });
  await until("all wait in the kernel", () => taken(server.port) === WAITING);
  process.kill(server.child.pid, "SIGTERM");
  process.kill(server.child.pid, "SIGCONT");
  const found = await Promise.all(answers);
  assert.deepEqual(await server.ended(), { status: 0, signal: null }, server.log);
  return found;
}

/** Connections to a port that have sent something which nobody has read. */
function taken(port) {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return readFileSync("/proc/net/tcp", "utf8").split("\n").filter((line) => {
    const [, from, , state, queues = ""] = line.trim().split(/\s+/);
    return state === "01" && from.endsWith(local) && !queues.endsWith(":00000000");
  }).length;
}

test("who had connected before a stop is answered", async () => {
  const server = await start_server({ crowd: true });
  const found = await stop_with_waiting(server);
  for (const { status } of found) assert.ok(status === 201 || status === 503, `${status}`);
  const again = await start_server({ data: server.data });
  assert.equal((await again.get("/runs?limit=all&fields=name")).items.length,
    found.filter(({ status }) => status === 201).length);
  await again.stop();
});

test("who had connected before a stop is served where other services take over",
  { skip: no_postgres }, async () => {
    const options = ["--store", await (await start_postgres()).store("drain")];
    const server = await start_server({ crowd: true, options });
    const found = await stop_with_waiting(server);
    assert.deepEqual(found.map(({ status }) => status), Array(WAITING).fill(201));
    for (const { head } of found) assert.match(head, /\r\nConnection: close\r\n/);
    const again = await start_server({ data: server.data, options });
    assert.equal((await again.get("/runs?limit=all&fields=name")).items.length, WAITING);
    await again.stop();
  });

/** Requests on new connections, as a balancer sends them that has not heard of a stop. */
const ask_for = (server, path) => ask(server.port, [GET.replace("/healthz", path)]);

test("a balancer has time to notice that a service stops, and none of its requests fails",
  { skip: no_postgres }, async () => {
    const options = ["--store", await (await start_postgres()).store("notice"),
      "--auth", "off", "--trusted-proxy", "127.0.0.1"];
    const server = await start_server({ crowd: true, options });
    const kept = new KeptConnection(server.port);
    assert.match(await kept.get(), /^HTTP\/1\.1 200 [^]*\r\nConnection: keep-alive\r\n/i);
    const begin = await begin_stop(server);
    while (performance.now() - begin < NOTICE_MS - 500) {
      assert.equal((await ask_for(server, "/readyz")).status, 503);
      const found = await ask_for(server, "/api/v1/runs");
      assert.equal(found.status, 200);
      assert.match(found.head, /\r\nConnection: close\r\n/);
      await new Promise((done) => setTimeout(done, 250));
    }
    assert.match(await kept.get(), /^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/);
    assert.deepEqual(await server.ended(), { status: 0, signal: null }, server.log);
  });
