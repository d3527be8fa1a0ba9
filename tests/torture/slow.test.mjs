// SPDX-License-Identifier: Apache-2.0
// Clients that send a byte a second, in their headers or in their bodies: others are served as if
// they were not there, and each is cut off within half a minute (R8). The quick form waits for the
// cuts of headers, which come first.
// Timed: nothing runs beside it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { start_server } from "../e2e/helpers/server.mjs";
import { until } from "../e2e/helpers/tools.mjs";
import { Health } from "./helpers/health.mjs";
import { slow_client } from "./helpers/slow_clients.mjs";
import { figure, is_long } from "./helpers/torture.mjs";
import { used } from "./helpers/wire.mjs";

const CLIENTS = is_long ? 1000 : 200;
const CUT_LIMIT_MS = 30_000;
const QUICK_CUT_LIMIT_MS = 13_000;
const MIN_ASKED = 200;

let server;

before(async () => {
  server = await start_server({ crowd: true, options: ["--uploads-in-flight", "1000"] });
});
after(() => server?.stop());

test(`${CLIENTS} slow clients take nothing from others and are cut off`, async () => {
  const health = await new Health(server).calibrate();
  const clients = Array.from({ length: CLIENTS }, (_, i) => slow_client(server.port, i));
  await until("all are connected", () => clients.every(({ socket }) => !socket.connecting));
  const watched = is_long ? clients : clients.filter(({ in_head }) => in_head);
  const limit_ms = is_long ? CUT_LIMIT_MS : QUICK_CUT_LIMIT_MS;
  const end = performance.now() + limit_ms + 2000;
  await health.watch(() =>
    watched.some(({ cut_ms }) => !cut_ms) && performance.now() < end);
  const { rss_mib } = used(server.child.pid);
  const cuts = watched.map(({ cut_ms }) => cut_ms);
  clients.forEach(({ socket }) => socket.destroy());
  assert.equal(cuts.filter((ms) => !ms).length, 0, "clients that were never cut off");
  assert.ok(Math.max(...cuts) <= limit_ms, `cut off after ${Math.max(...cuts).toFixed(0)} ms`);
  for (const { said, in_head } of watched) {
    assert.match(said, /^HTTP\/1\.1 4\d\d /, in_head ? "of headers" : "of a body");
  }
  figure("R8", `${health.text} beside ${CLIENTS} slow connections, the` +
    ` last cut after ${(Math.max(...cuts) / 1000).toFixed(1)} s` +
    `${is_long ? "" : " (headers)"}, ${rss_mib.toFixed(0)} MB resident`);
  health.check(MIN_ASKED);
  await server.alive();
});
