// SPDX-License-Identifier: Apache-2.0
// SIGTERM in the middle of uploads: those in progress finish, new ones are asked to come back, and
// the service exits soon (R12). The long form also has clients that never end.
// Timed: nothing runs beside it.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { start_server } from "../e2e/helpers/server.mjs";
import { until } from "../e2e/helpers/tools.mjs";
import { small_json } from "../e2e/helpers/traces.mjs";
import { figure, is_long } from "./helpers/torture.mjs";
import { ask } from "./helpers/wire.mjs";

const DRAIN_LIMIT_MS = 30_000;
const EXIT_LIMIT_MS = 35_000;
const REFUSE_LIMIT_MS = 1000;
const UPLOADS = 20;
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
