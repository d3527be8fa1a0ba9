// SPDX-License-Identifier: Apache-2.0
// Power cuts: every call of a service at work is recorded, a disk that keeps no more than what was
// synced is rebuilt for many moments, and the service starts on what is left.
// STEPSCOPE_CUTS sets how many, STEPSCOPE_SEED which.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { before, test } from "node:test";
import { start_server } from "../e2e/helpers/server.mjs";
import { chance, fast_tmpdir, run_program, skipped, temporary } from "../e2e/helpers/tools.mjs";
import { files_below, is_stored, no_strangers, verify_run } from "./helpers/ledger.mjs";
import { figure, is_long, lean, seed } from "./helpers/torture.mjs";
import { Disk, VARIANTS } from "./powercut/disk.mjs";
import { ledger_at, record } from "./powercut/work.mjs";

const CUTS = Number(process.env.STEPSCOPE_CUTS ?? (is_long ? 5_000 : 120));
const LANES = 3; // services in parallel
const ANALYZED_EVERY = 12; // one cut in this many also waits until everything is analyzed
const SYNC = /^(fsync|fdatasync|rename\w*)$/;

const random = chance(seed);
const scratch = temporary("powercut", fast_tmpdir());
let recorded;

const can_trace = await run_program("strace", ["-D", "-o", "/dev/null", "true"])
  .then(() => true, () => false);
const skip = can_trace ? false : skipped("power cuts: strace is missing or may not trace");

before(async () => {
  if (!skip) recorded = await record(scratch);
});

/** @typedef {{at: number, variant: string}} Cut the power is cut before event `at` */

/** Moments before and after syncs and renames, and some others. */
function choose_cuts(count) {
  const { events } = recorded;
  const tense = events.flatMap(({ call, begins, ends }, at) => SYNC.test(call.name)
    ? [...(begins ? [at] : []), ...(ends ? [at + 1] : [])] : []);
  const variants = Object.keys(VARIANTS);
  const cuts = Array.from({ length: count }, (_, i) => ({
    at: i % 4 === 3 ? Math.floor(random() * events.length)
      : tense[Math.floor(((i + random()) * tense.length) / count)],
    variant: i % 2 === 0 ? "lost" : variants[Math.floor(random() * variants.length)],
  }));
  return cuts.sort((a, b) => a.at - b.at);
}

/** A run after the power cut, and its bytes. */
function check_run(found, run, data) {
  if (run.state === "kept") assert.ok(found, `the acknowledged run ${run.name} is lost`);
  if (run.state === "gone") assert.ok(!found, `the deleted run ${run.name} is back`);
  if (!found) return;
  assert.equal(found.received, run.ranks.length, `files of ${run.name}`);
  assert.ok(run.notes.includes(found.note), `the note of ${run.name} is "${found.note}"`);
  for (const contents of run.ranks)
    assert.ok(is_stored(data, contents), `bytes of ${run.name} are lost`);
}

/** No acknowledged byte of a resumable upload is missing. */
async function check_pieces(server, run) {
  if (!run.piece || run.state !== "maybe") return;
  const reply = await server.request(run.piece.url, { method: "HEAD",
    headers: { "Tus-Resumable": "1.0.0" } });
  assert.equal(reply.status, 200, `the upload in pieces of ${run.name} is lost`);
  const offset = Number(reply.headers["upload-offset"]);
  assert.ok(offset >= run.piece.offset, `${run.name}: ${offset} of ${run.piece.offset} bytes`);
}

async function check_promises(server, ledger, is_thorough) {
  const { items } = await server.get("/runs?limit=all&fields=name,received,note,status");
  const found = new Map(items.map((item) => [item.name, item]));
  for (const run of ledger.runs.values()) {
    if (!run.piece) check_run(found.get(run.name), run, server.data);
    await check_pieces(server, run);
  }
  await no_strangers(server.data, ledger);
  if (!is_thorough) return;
  for (const run of ledger.runs.values()) if (found.has(run.name)) await verify_run(server, run);
}

/** Rebuilds the disk after one power cut and checks that the service keeps its promises on it. */
async function survive(disk, cut, number) {
  const root = mkdtempSync(join(scratch, "cut-"));
  disk.save(root, VARIANTS[cut.variant], random);
  const server = await start_server({ data: join(root, "data"), options: lean });
  try {
    const ledger = ledger_at(recorded.asked, cut.at);
    await check_promises(server, ledger, number % ANALYZED_EVERY === 0);
  } finally {
    await server.kill();
  }
  const db = join(root, "data", "stepscope.db");
  assert.equal(await run_program("sqlite3", [db, "PRAGMA integrity_check"]), "ok\n");
  rmSync(root, { recursive: true });
}

/** @param {Cut} cut @param {Error} error */
function say_where(cut, error) {
  error.message = `STEPSCOPE_SEED=${seed}, before event ${cut.at}, unsynced is ${cut.variant}: ` +
    error.message;
  throw error;
}

/** Replays the record and cuts the power. @param {Cut[]} cuts in order */
async function cut_power(cuts, forgets = () => false) {
  const disk = new Disk(recorded.root, forgets);
  const working = new Set();
  let at = 0;
  try {
    for (const [number, cut] of cuts.entries()) {
      for (; at < cut.at; at++) disk.replay(recorded.events[at]);
      const one = survive(disk, cut, number).catch((error) => say_where(cut, error));
      const all = one.finally(() => working.delete(all));
      working.add(all);
      if (working.size >= LANES) await Promise.race(working);
    }
    await Promise.all(working);
  } finally {
    await Promise.allSettled(working);
  }
}

test("the record holds every byte that the service wrote", { skip }, () => {
  const disk = new Disk(recorded.root);
  recorded.events.forEach((event) => disk.replay(event));
  const copy = join(scratch, "copy");
  disk.save(copy, VARIANTS.kept, random);
  const contents = (root) => new Map(files_below(root).filter((path) => !path.endsWith("-shm"))
    .map((path) => [relative(root, path), readFileSync(path)]).sort());
  assert.deepEqual(contents(copy), contents(recorded.root));
});

test(`after ${CUTS} power cuts everything that was acknowledged is there`, { skip }, async () => {
  const begin = performance.now();
  await cut_power(choose_cuts(CUTS));
  const seconds = ((performance.now() - begin) / 1000).toFixed(0);
  const syncs = recorded.events.filter(({ call, ends }) => ends && SYNC.test(call.name)).length;
  figure("R2", `${CUTS} power cuts over ${recorded.events.length} events with ${syncs} syncs and ` +
    `renames, ${recorded.asked.length} requests, 0 lost (${seconds} s)`);
});

/** Syncs without which something acknowledged would be lost. */
const NEEDED = {
  "an upload's bytes": (path) => /\/spool\/[^/]+$/.test(path),
  "the folder of blobs of the same first letters": (path) => /\/blobs\/..$/.test(path),
  "the folder of those folders": (path) => /\/blobs$/.test(path),
  "the write-ahead log": (path) => /-wal$/.test(path),
};
for (const [what, forgets] of Object.entries(NEEDED))
  test(`a service that would not sync ${what} is found out`, { skip }, async (t) => {
    const { asked } = recorded;
    const cuts = asked.map(({ end_at }) => ({ at: end_at + 1, variant: "lost" }))
      .sort((a, b) => a.at - b.at);
    const found = await cut_power(cuts, forgets).catch(({ message }) => message);
    assert.match(String(found), / lost|not start/, "nothing was lost");
    t.diagnostic(found);
  });
