// SPDX-License-Identifier: Apache-2.0
// A file whose reader dies, hangs or is given up harms nothing but itself (R15). The product has no
// hook for that: the test finds the process in /proc and sends it a signal, as a bug or the system
// would.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { start_server } from "../e2e/helpers/server.mjs";
import { file_part, fields } from "../e2e/helpers/multipart.mjs";
import { temporary, until } from "../e2e/helpers/tools.mjs";
import { generate, small_json } from "../e2e/helpers/traces.mjs";
import {
  Readers, children, descriptors, is_alive, is_stopped, proc_line,
} from "./helpers/children.mjs";
import { figure, is_long } from "./helpers/torture.mjs";

const STRIKES = 3;
const OTHERS = is_long ? 200 : 20;
const CATCH_LIMIT_MS = 30_000;

let big; // a file that takes long enough for its reader to be found
let sha256;
let server;

before(async () => {
  const made = await generate(["--ranks", "1", "--size", is_long ? "400M" : "60M", "--format",
    "gz"]);
  big = made.files[0].data;
  sha256 = createHash("sha256").update(big).digest("hex");
  server = await start_server({ data: join(temporary("poison"), "data"),
    options: ["--jobs", "2", "--bin-days", "0"] });
});
after(() => server.stop());

async function upload(run, data = big, to = server) {
  const reply = await to.post([...fields({ run }), file_part(data, `${run}.json.gz`)]);
  assert.ok([200, 202].includes(reply.status), reply.text);
  return reply.json;
}

/** Busy-waits. */
async function catch_reader(of = server) {
  const end = performance.now() + CATCH_LIMIT_MS;
  const readers = new Readers(of);
  for (;;) {
    const pid = readers.of(sha256);
    if (pid) return pid;
    assert.ok(performance.now() < end, `no reader came\n${of.log}`);
    await new Promise(setImmediate);
  }
}

/** Sends a signal to the next reader; returns its pid. */
async function strike(signal, of = server) {
  const pid = await catch_reader(of);
  process.kill(pid, signal);
  return pid;
}

/** Stops a reader once it is sandboxed. */
async function stop_inside() {
  for (;;) {
    const pid = await strike("SIGSTOP");
    await until("it is stopped", () => is_stopped(pid) || !is_alive(pid));
    if (is_stopped(pid) && /\s0\s+0\s/.test(proc_line(pid, "limits", "Max core file size"))) {
      return pid;
    }
    process.kill(pid, "SIGCONT");
  }
}

async function remove(run) {
  const { headers: { etag } } = await server.request(`/api/v1/runs/${run}`);
  const reply = await server.request(`/api/v1/runs/${run}`,
    { method: "DELETE", headers: { "If-Match": etag } });
  assert.equal(reply.status, 204, reply.text);
}

const command = (run, what) => server.request(`/api/v1/runs/${run}/${what}`, { method: "POST" });

const no_child = (of = server) =>
  until("no process is left", () => children(of).length === 0);

test("three deaths fail a file with the reason, and the others are read beside it", async () => {
  const pid = server.child.pid;
  await upload("poison");
  const others = Array.from({ length: OTHERS }, (_, i) => `good${i}`);
  const uploads = (async () => {
    for (const run of others) await upload(run, small_json({ names: [run] }));
  })();
  const dead = [];
  while (dead.length < STRIKES) {
    const next = await strike("SIGABRT");
    if (dead.at(-1) === next) continue; // it is not gone yet
    dead.push(next);
    await until("that process is gone", () => !is_alive(next));
  }
  await uploads;
  for (const run of others) assert.equal((await server.settled(run)).status, "done", run);
  const poison = await server.settled("poison");
  assert.equal(poison.status, "failed");
  assert.match(poison.error, /crashed 3 times \(SIGABRT\)/);
  assert.equal(server.child.pid, pid);
  await server.alive();
  await no_child();
  figure("R15", `${STRIKES} deaths failed their trace, ${OTHERS} of ${OTHERS} others done, ` +
    "service alive");
});

test("what failed is read when it is asked for again", async () => {
  assert.equal((await command("poison", "reanalyze")).status, 202);
  const run = await server.settled("poison");
  assert.equal(run.status, "done", run.error);
  await remove("poison");
});

test("a reader that hangs is stopped when its time is over", async () => {
  const hasty = await start_server({ data: join(temporary("hang"), "data"),
    options: ["--job-time", "1"] });
  await upload("hang", big, hasty);
  for (let i = 0; i < STRIKES; i++) {
    const pid = await strike("SIGSTOP", hasty);
    await until("that process is gone", () => !is_alive(pid));
  }
  const run = await hasty.settled("hang");
  assert.match(run.error, /was stopped 3 times \(it took longer than 1 s\)/);
  await hasty.stop();
});

test("a cancelled run ends at once, with its process, and comes back when asked", async () => {
  await upload("given-up");
  const pid = await strike("SIGSTOP");
  const begin = performance.now();
  const reply = await command("given-up", "cancel");
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.json.status, "failed");
  assert.equal(reply.json.error, "cancelled");
  await until("its process is gone", () => !is_alive(pid));
  figure("B-cancel", `process gone ${Math.round(performance.now() - begin)} ms after the request`);
  assert.equal((await command("given-up", "cancel")).status, 200, "nothing left to cancel");
  assert.equal((await command("given-up", "reanalyze")).status, 202);
  assert.equal((await server.settled("given-up")).status, "done");
  await remove("given-up");
});

test("a reader has its own few descriptors, no network, no way back to the data", async () => {
  await upload("looked-at");
  const pid = await stop_inside();
  const open = descriptors(pid).filter(([, what]) => what !== null);
  const outside = open.filter(([fd, what]) => fd > 8 || /socket|stepscope\.db|lock/.test(what));
  assert.deepEqual(outside, []);
  assert.match(proc_line(pid, "limits", "Max open files"), /\s9\s+9\s/);
  assert.match(proc_line(pid, "status", "NoNewPrivs"), /1$/);
  await command("looked-at", "cancel");
  await no_child();
  await remove("looked-at");
});

test("signals that are sent to all processes do not blame a file", async () => {
  const seen = server.log.length;
  await upload("polite");
  const pid = await stop_inside();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGCONT"]) process.kill(pid, signal);
  const run = await server.settled("polite");
  assert.equal(run.status, "done", run.error);
  assert.doesNotMatch(server.log.slice(seen), /its process crashed/);
  await remove("polite");
});

test("a service that is killed leaves no process behind, and the next one reads on", async () => {
  const data = join(temporary("orphan"), "data");
  const first = await start_server({ data });
  const reply = await first.post([...fields({ run: "orphan" }), file_part(big, "x.json.gz")]);
  assert.equal(reply.status, 202, reply.text);
  const pid = await strike("SIGSTOP", first);
  await first.kill();
  await until("its process is gone too", () => !is_alive(pid));
  const second = await start_server({ data });
  assert.equal((await second.settled("orphan")).status, "done");
  const parts = readdirSync(join(data, "traces"), { recursive: true })
    .filter((name) => String(name).endsWith(".part"));
  assert.deepEqual(parts, []);
  await no_child(second);
  await second.stop();
});

test("a time limit beyond all bounds is as good as none", async () => {
  const patient = await start_server({ options: ["--job-time", "9223372036854775807"] });
  const run = await patient.analyzed("patient", [{ data: small_json(), filename: "rank0.json" }]);
  assert.equal(run.status, "done", run.error);
  await patient.stop();
});
