// SPDX-License-Identifier: Apache-2.0
// A thousand simultaneous uploads: each is stored or learns when to come back, none is reset, and
// nobody else notices (R9). In the long form each comes back until it is stored.
// Timed: nothing runs beside it.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { start_server } from "../e2e/helpers/server.mjs";
import { until } from "../e2e/helpers/tools.mjs";
import { small_json } from "../e2e/helpers/traces.mjs";
import { Health } from "./helpers/health.mjs";
import { figure, is_long } from "./helpers/torture.mjs";
import { is_sanitized, used } from "./helpers/wire.mjs";

const UPLOADS = 1000;
const BYTES = 200_000;
const PIECES = 10;
const OVER_MS = 3000;
const LIMIT_MS = 60_000;
const RSS_LIMIT_MIB = 256;
const MIN_ASKED = 30;

let server;

before(async () => {
  server = await start_server({ crowd: true });
});
after(() => server?.stop());

/** A different trace for each upload, padded with spaces. */
function trace(i) {
  const data = small_json({ names: [`kernel_${i}`] });
  return Buffer.concat([data, Buffer.alloc(BYTES - data.length, " ")]);
}

/**
 * @typedef {{socket: import("node:net").Socket, i: number, said: string, over: boolean,
 *            reset: boolean}} Upload
 */

/** An upload that waits, connected, for the start signal. @returns {Upload} */
function prepare(i) {
  const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
  const upload = { socket, i, said: "", over: false, reset: false };
  socket.on("data", (text) => {
    upload.said += text;
    if (upload.said.includes("\r\n\r\n")) end(upload);
  });
  socket.on("end", () => end(upload));
  socket.on("error", ({ code }) => {
    upload.reset ||= code === "ECONNRESET" && !upload.said;
    end(upload);
  });
  return upload;
}

function end(upload) {
  upload.over = true;
  upload.socket.destroy();
}

/** Sends the resumable upload over a while, unless it is answered first. */
async function send({ socket, i }) {
  const data = trace(i);
  const step = BYTES / PIECES;
  const pause = () => new Promise((next) => setTimeout(next, OVER_MS / PIECES));
  socket.write(`PUT /api/v1/runs/t${i}/ranks/0/trace HTTP/1.1\r\nHost: localhost\r\n` +
    `Content-Length: ${BYTES}\r\n\r\n`);
  for (let at = 0; at < BYTES && !socket.destroyed; at += step) {
    socket.write(data.subarray(at, at + step));
    await pause();
  }
}

const status_of = ({ said }) => Number(/^HTTP\/1\.1 (\d+) /.exec(said)?.[1] ?? 0);
const retry_of = ({ said }) => Number(/\r\nRetry-After: (\d+)\r\n/.exec(said)?.[1] ?? 0);

/** One try each; returns those that must try again. */
async function try_all(numbers, tally) {
  const uploads = numbers.map(prepare);
  await until("all are connected", () => uploads.every(({ socket }) => !socket.connecting));
  uploads.forEach(send);
  await until("all are answered", () => uploads.every(({ over }) => over), LIMIT_MS);
  for (const upload of uploads) {
    const status = status_of(upload);
    tally[status] = (tally[status] ?? 0) + 1;
    assert.equal(upload.reset, false, `upload ${upload.i} was reset`);
    assert.ok([200, 202, 429, 503].includes(status), `upload ${upload.i}: ${upload.said}`);
    if (status >= 400) assert.ok(retry_of(upload) > 0, upload.said);
  }
  return uploads.filter((upload) => status_of(upload) >= 400);
}

test(`${UPLOADS} uploads at once are stored or asked to come back`, async () => {
  const health = await new Health(server).calibrate();
  const tally = {};
  let busy = true;
  const watching = health.watch(() => busy);
  let left = await try_all(Array.from({ length: UPLOADS }, (_, i) => i), tally);
  const first = { ...tally };
  while (is_long && left.length > 0) {
    const wait_s = Math.min(...left.map(retry_of));
    await new Promise((next) => setTimeout(next, wait_s * 1000));
    left = await try_all(left.map(({ i }) => i), tally);
  }
  busy = false;
  await watching;
  const { peak_mib } = used(server.child.pid);
  const answers = Object.entries(first).map(([status, count]) => `${count} x ${status}`).join(", ");
  figure("R9", `${UPLOADS} uploads at once: ${answers}, 0 resets, ${health.text}, ` +
    `${peak_mib.toFixed(0)} MB resident at most${is_long ? ", all stored in the end" : ""}`);
  assert.ok((first[202] ?? 0) + (first[200] ?? 0) > 0, "none was stored at once");
  health.check(MIN_ASKED);
  const is_limited = !is_sanitized(server.child.pid);
  if (is_limited) assert.ok(peak_mib <= RSS_LIMIT_MIB, `${peak_mib.toFixed(0)} MB resident`);
  const stored = (await server.get("/runs?limit=1")).total;
  assert.equal(stored, (tally[202] ?? 0) + (tally[200] ?? 0), "runs that are stored");
  await server.alive();
});
