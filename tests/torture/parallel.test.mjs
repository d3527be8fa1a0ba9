// SPDX-License-Identifier: Apache-2.0
// Eight files are read at a time, half of them larger than the memory a reader may use: the service
// and its readers together stay within the bound set by their number and that memory (R10).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { start_server } from "../e2e/helpers/server.mjs";
import { fields, file_part } from "../e2e/helpers/multipart.mjs";
import { run_program, temporary, tracegen_bin } from "../e2e/helpers/tools.mjs";
import { children } from "./helpers/children.mjs";
import { figure, is_long } from "./helpers/torture.mjs";

const MIB = 1 << 20;
const READERS = 8;
const JOB_MIB = is_long ? 512 : 64;
const SERVICE_MIB = 256; // besides them; what a reader found counts as the service's until it is
                         // stored
const EVENT_BYTES = 680; // in tables, for an event with a unique name
const LOOK_MS = 5;

let server;

before(async () => {
  server = await start_server({
    options: ["--jobs", String(READERS), "--job-memory", `${JOB_MIB}M`, "--min-free", "0"] });
});
after(() => server.stop());

/** A trace whose tables take about this much memory, as each event has a unique name. */
async function trace_that_takes(mib) {
  const folder = temporary("parallel");
  await run_program(tracegen_bin(), ["--shape", "names", "--format", "zst", "--out", folder,
    "--events", String(Math.round(mib * MIB / EVENT_BYTES))]);
  return readFileSync(join(folder, "rank0.json.zst"));
}

/** Resident private bytes of a process; 0 if it is gone. */
function private_bytes(pid) {
  try {
    const [, , resident, shared] = /^(\d+) (\d+) (\d+)/.exec(
      readFileSync(`/proc/${pid}/statm`, "latin1")).map(Number);
    return (resident - shared) * 4096;
  } catch {
    return 0;
  }
}

/** Watches the service and its readers until stopped; then returns the peak. */
function watch() {
  const most = { all: 0, one: 0, own: 0, at_once: 0 };
  const timer = setInterval(() => {
    const readers = children(server).map(private_bytes).filter((bytes) => bytes > 0);
    const own = private_bytes(server.child.pid);
    const sum = readers.reduce((total, bytes) => total + bytes, own);
    most.own = Math.max(most.own, own);
    most.all = Math.max(most.all, sum);
    most.one = Math.max(most.one, ...readers);
    most.at_once = Math.max(most.at_once, readers.length);
  }, LOOK_MS);
  return () => {
    clearInterval(timer);
    return most;
  };
}

async function upload(run, data) {
  const reply = await server.post([...fields({ run }), file_part(data, `${run}.json.zst`)]);
  assert.ok([200, 202].includes(reply.status), reply.text);
  return reply.json.run;
}

test(`${READERS} analyses at a time stay within ${READERS} x ${JOB_MIB} MiB`, async () => {
  const fits = await trace_that_takes(JOB_MIB / 4);
  const bursts = await trace_that_takes(JOB_MIB * 3);
  const stop = watch();
  const runs = await Promise.all(Array.from({ length: 2 * READERS }, (_, i) =>
    // Every file differs, otherwise it would be read only once.
    upload(`run${i}`, Buffer.concat([i % 2 ? bursts : fits, skippable(i)]))));
  const ended = await Promise.all(runs.map((run) => server.settled(run)));
  const most = stop();
  ended.forEach(({ status }, i) => assert.equal(status, i % 2 ? "failed" : "done", `run${i}`));
  await server.alive();
  const limit = READERS * JOB_MIB + SERVICE_MIB;
  assert.ok(most.at_once >= READERS / 2, `only ${most.at_once} readers were seen at a time`);
  assert.ok(most.one <= 1.25 * JOB_MIB * MIB, `a reader took ${(most.one / MIB).toFixed(0)} MiB`);
  assert.ok(most.all <= limit * MIB, `${(most.all / MIB).toFixed(0)} MiB of ${limit}`);
  const [one, own, all] = [most.one, most.own, most.all].map((bytes) => (bytes / MIB).toFixed(0));
  figure("R10", `${most.at_once} readers at a time, half of them stopped at their ${JOB_MIB} ` +
    `MiB: ${one} MiB the largest, ${own} the service itself, ${all} of ${limit} MiB in all`);
});

/** A zstd frame that holds only a number, which readers skip. */
function skippable(number) {
  const frame = Buffer.alloc(12);
  frame.writeUInt32LE(0x184d2a50, 0);
  frame.writeUInt32LE(4, 4);
  frame.writeUInt32LE(number, 8);
  return frame;
}
