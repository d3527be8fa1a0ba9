// SPDX-License-Identifier: Apache-2.0
// Starts among many runs, after a process that left everything behind, without a database, and
// under limits: files nothing refers to are gone soon after the service is ready, missing ones are
// reported.
// Timed: nothing runs beside it.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { start_server } from "../e2e/helpers/server.mjs";
import {
  chance, run_program, run_status, stepscope_bin, temporary, until,
} from "../e2e/helpers/tools.mjs";
import { small_json } from "../e2e/helpers/traces.mjs";
import { files_below } from "./helpers/ledger.mjs";
import { figure, is_long, seed } from "./helpers/torture.mjs";

const RUNS = is_long ? 100_000 : 2_000;
const STRANGERS = is_long ? 2_000 : 200; // of each kind
const READY_MS = 5_000;
const TICKS_PER_S = 100;

const random = chance(seed);
const hex = (digits) => Array.from({ length: digits }, () =>
  Math.floor(random() * 16).toString(16)).join("");

function write(folder, shard, name) {
  mkdirSync(join(folder, shard), { recursive: true });
  writeFileSync(join(folder, shard, name), "12345");
}

/** Rows as a service would have left them after that many uploads. */
const rows = (version) => `
  PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON; BEGIN;
  CREATE TEMP TABLE made AS WITH RECURSIVE n(i) AS
    (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${RUNS})
    SELECT i, lower(hex(randomblob(32))) AS sha256,
      printf('%08x', (i * 2654435761) & 4294967295) AS id, 's' || (i % 1000) AS series FROM n;
  INSERT INTO stored_run (id, project, name, series, created_ns, analysis_version, received, done)
    SELECT 'r_' || id, 'p', series || '@' || i, series, i, ${version}, 1, 1 FROM made;
  INSERT INTO blob (sha256, bytes, created_ns, checked_ns)
    SELECT sha256, 5, i, strftime('%s', 'now') * 1000000000 FROM made;
  INSERT INTO trace (id, run_id, rank, rank_from, sha256, filename, bytes, uploaded_ns, state,
      analysis_version)
    SELECT 't_' || id || '0000', 'r_' || id, 0, 'field', sha256, 'x.json', 5, i, 'done', ${version}
    FROM made;
  INSERT INTO series (project, series, runs, first_ns, last_ns, changed, judged)
    SELECT project, series, count(*), min(created_ns), max(created_ns), 0, 0 FROM stored_run
    GROUP BY project, series;
  COMMIT;
  SELECT sha256 FROM made;`;

test(`beside ${RUNS} runs nothing that nobody names outlives a start`, async () => {
  const data = join(temporary("start"), "data");
  const first = await start_server({ data });
  const { analysis_version } = await first.get("/version");
  await first.stop();
  const out = await run_program("sqlite3", [join(data, "stepscope.db"), rows(analysis_version)]);
  const blobs = join(data, "blobs");
  for (const sha256 of out.trim().split("\n").filter((line) => line.length === 64)) {
    write(blobs, sha256.slice(0, 2), sha256);
  }
  assert.equal(files_below(blobs).length, RUNS);
  for (let i = 0; i < STRANGERS; i++) {
    const sha256 = hex(64), id = `t_${hex(12)}`;
    write(blobs, sha256.slice(0, 2), sha256);
    write(join(data, "traces"), id.slice(2, 4), `${id}.sst`);
    write(join(data, "traces"), id.slice(2, 4), `${id}.sst.part`);
    write(data, "spool", `${hex(24)}.part`);
  }
  const begin = performance.now();
  const second = await start_server({ data });
  const took_ms = performance.now() - begin;
  const stat = readFileSync(`/proc/${second.child.pid}/stat`, "utf8").split(") ")[1].split(" ");
  const cpu_s = (Number(stat[11]) + Number(stat[12])) / TICKS_PER_S;
  assert.ok(took_ms <= READY_MS, `ready after ${took_ms} ms`);
  assert.deepEqual(files_below(join(data, "spool")), []);
  await until("files that nobody names are gone", () =>
    files_below(join(data, "traces")).length === 0 && files_below(blobs).length <= RUNS, 60_000);
  const gone_ms = performance.now() - begin;
  assert.equal(files_below(blobs).length, RUNS);
  assert.equal((await second.get("/runs?limit=1")).total, RUNS);
  const checked = await until("the database was checked", async () => {
    const { database } = await second.get("/storage");
    return database.checked && !database.checking && database;
  }, 120_000);
  assert.equal(checked.damage, "");
  await second.stop();
  figure("R3", `ready ${Math.round(took_ms)} ms (${cpu_s.toFixed(1)} s of processor) after the ` +
    `start among ${RUNS} runs, ${4 * STRANGERS} files that nobody names gone after ` +
    `${Math.round(gone_ms)} ms`);
});

/** Starts the service with limits or closed descriptors, set by a line of shell before it. */
const under = (line, data, options = []) =>
  start_server({ data, crowd: true, options, under: ["bash", "-c", line, "bash"] });

async function data_with_an_upload() {
  const server = await start_server();
  await server.analyzed("kept", [{ data: small_json(), filename: "rank0.json" }]);
  await server.stop();
  return server.data;
}

test("a database that is lost takes no file with it, here and in the backup", async () => {
  const data = await data_with_an_upload();
  const backup = temporary("backup"), other = join(temporary("start"), "data");
  await run_program(stepscope_bin(), ["backup", "--data", data, "--to", backup]);
  const files = files_below(join(data, "blobs"));
  const serve = ["serve", "--data", data, "--listen", "127.0.0.1:0"];
  const token = ["token", "create", "--name", "me", "--scopes", "admin", "--data", data];
  for (const lose of [(path) => rmSync(path), (path) => writeFileSync(path, "")]) {
    lose(join(data, "stepscope.db"));
    for (const command of [serve, token]) {
      const { status, stderr } = await run_status(stepscope_bin(), command);
      assert.equal(status, 6, stderr);
      assert.match(stderr, /uploaded files but no database .*: restore a backup/);
      assert.deepEqual(files_below(join(data, "blobs")), files);
    }
  }
  const empty = await start_server({ data: other });
  await empty.stop();
  const { status, stderr } = await run_status(stepscope_bin(),
    ["backup", "--data", other, "--to", backup]);
  assert.equal(status, 6, stderr);
  assert.match(stderr, /the database has no files, but the backup .* contains some/);
  assert.equal(files_below(join(backup, "blobs")).length, files.length);
});

test("too little memory for its threads is an error at the start, never silence", async () => {
  const data = join(temporary("start"), "data");
  const start = (kib, options) => under(`ulimit -v ${kib}; exec "$@"`, data, options);
  await assert.rejects(start(500_000), /fewer --connections/);
  // About as much as the threads take: a start is refused by chance, but one that succeeds answers.
  for (let kib = 640_000; kib <= 1_200_000; kib += 80_000) {
    const server = await start(kib).catch((error) => assert.match(String(error), /fewer --conn/));
    await server?.stop();
  }
  await (await start(500_000, ["--connections", "32"])).stop();
});

test("a start with its standard files closed ends well, and none of ours takes their place",
  async () => {
    for (const [closed, fds] of [["<&-", [0]], ["2>&-", [2]], ["<&- 2>&-", [0, 2]]]) {
      const server = await under(`exec "$@" ${closed}`, join(temporary("start"), "data"));
      for (const fd of fds) {
        assert.equal(readlinkSync(`/proc/${server.child.pid}/fd/${fd}`), "/dev/null");
      }
      await server.stop();
    }
  });

test("a limit of file sizes fails an upload, not the service", async () => {
  const server = await under('ulimit -f 4000; exec "$@"', join(temporary("start"), "data"));
  const head = Buffer.from('{"traceEvents":[{"ph":"i","ts":1}]');
  const body = Buffer.concat([head, Buffer.alloc(8 << 20, " ")]);
  const reply = await server.request("/api/v1/runs/big/ranks/0/trace", { method: "PUT", body });
  assert.equal(reply.status, 507, reply.text);
  await server.analyzed("small", [{ data: small_json(), filename: "rank0.json" }]);
  await server.stop();
});
