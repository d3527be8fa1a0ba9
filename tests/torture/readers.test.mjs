// SPDX-License-Identifier: Apache-2.0
// Clients that request a large answer and take it at a byte a second: others are served as if they
// were not there, the memory they hold is bounded, and each is cut off (R8). The quick form does
// not wait for the cuts.
// Timed: nothing runs beside it.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { start_server } from "../e2e/helpers/server.mjs";
import { small_json } from "../e2e/helpers/traces.mjs";
import { Health } from "./helpers/health.mjs";
import { figure, is_long } from "./helpers/torture.mjs";
import { is_sanitized, used } from "./helpers/wire.mjs";

const READERS = is_long ? 200 : 40;
const CUT_LIMIT_MS = 60_000; // two windows, plus time to make the answers
const ANSWER_LIMIT_MIB = 4; // held by an answer while it is made and taken
const REST_LIMIT_MIB = 64;
const ANSWER_LEAST_BYTES = 8e6; // more than socket buffers take
const MIN_ASKED = 2000;

let server;

before(async () => {
  server = await start_server({ crowd: true });
});
after(() => server?.stop());

/** @typedef {{socket: import("node:net").Socket, head: string, bytes: number}} Reader */

const has_head = ({ head }) => head.includes("\r\n\r\n");

/** A client that requests a large answer, and takes a byte of it now and then. @returns {Reader} */
function slow_reader(path) {
  const reader = { head: "", bytes: 0, socket: null };
  const [block, byte] = [Buffer.alloc(2048), Buffer.alloc(1)];
  const take = (count, buffer) => {
    reader.bytes += count;
    if (buffer === block) reader.head += buffer.toString("latin1", 0, count);
    if (!has_head(reader)) return true;
    setTimeout(() => reader.socket.destroyed || reader.socket.resume(), 1000).unref();
    return false;
  };
  const onread = { buffer: () => (has_head(reader) ? byte : block), callback: take };
  reader.socket = connect({ port: server.port, host: "127.0.0.1", onread });
  reader.socket.on("connect", () =>
    reader.socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`));
  reader.socket.on("error", () => {});
  return reader;
}

test(`${READERS} slow readers of large answers hold what they may and are cut off`, async (t) => {
  const names = Array.from({ length: 14_000 }, (_, i) => `kernel_${i}_${"x".repeat(300)}`);
  const data = small_json({ names, steps: 1 });
  await server.analyzed("wide", [{ data, filename: "rank0.json" }]);
  const path = "/api/v1/runs/wide/kernels?limit=all";
  const { body } = await server.request(path);
  assert.ok(body.length > ANSWER_LEAST_BYTES, `an answer of ${body.length} bytes is none for this`);
  const health = await new Health(server).calibrate();
  const before_mib = used(server.child.pid).rss_mib;
  // A reader sees a reset only after everything its socket received; the service's side sees it at
  // once.
  const descriptors = () => readdirSync(`/proc/${server.child.pid}/fd`).length;
  const idle = descriptors() + 1; // the connection that polls the health page
  const begin = performance.now();
  const readers = Array.from({ length: READERS }, () => slow_reader(path));
  t.after(() => readers.forEach(({ socket }) => socket.destroy()));
  const waiting = () => !readers.every(has_head);
  let peak_mib = 0;
  const look = () => (peak_mib = Math.max(peak_mib, used(server.child.pid).rss_mib));
  const end = begin + CUT_LIMIT_MS;
  const goes_on = () => waiting() || health.times.length < MIN_ASKED;
  await health.watch(() => look() && goes_on() && performance.now() < end);
  const served = readers.filter(({ head }) => head.startsWith("HTTP/1.1 200 "));
  assert.equal(served.length, READERS, "answers that are not 200");
  let cuts = "";
  if (is_long) {
    await health.watch(() => look() && descriptors() > idle && performance.now() < end);
    assert.ok(descriptors() <= idle, "readers that were never cut off");
    assert.ok(served.every(({ bytes }) => bytes < body.length), "a slow reader got everything");
    assert.equal((await server.request(path)).status, 200, "an answer once there is room again");
    cuts = `, the last cut after ${((performance.now() - begin) / 1000).toFixed(1)} s`;
  }
  const held_mib = peak_mib - before_mib;
  if (!is_sanitized(server.child.pid)) {
    const most_mib = READERS * ANSWER_LIMIT_MIB + REST_LIMIT_MIB;
    assert.ok(held_mib < most_mib, `they held ${held_mib.toFixed(0)} MB`);
  }
  figure("R8", `${health.text} beside ${served.length} slow readers of` +
    ` ${(body.length / 1e6).toFixed(0)} MB each,` +
    ` who held ${held_mib.toFixed(0)} MB${cuts}`);
  health.check(MIN_ASKED);
  await server.alive();
});
