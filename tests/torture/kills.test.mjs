// SPDX-License-Identifier: Apache-2.0
// SIGKILL at seeded random moments of uploads of every form, replacements, deletions, analyses and
// starts: what was acknowledged stays, what was reported gone is gone, nothing else remains.
// STEPSCOPE_KILLS sets how many kills, STEPSCOPE_SEED which moments.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { basename, join } from "node:path";
import { test } from "node:test";
import { start_server } from "../e2e/helpers/server.mjs";
import {
  chance, fast_tmpdir, run_program, stepscope_bin, temporary, until,
} from "../e2e/helpers/tools.mjs";
import { Clients } from "./helpers/clients.mjs";
import { Ledger, files_below, look_after, no_strangers, verify_run } from "./helpers/ledger.mjs";
import { figure, is_long, lean, seed } from "./helpers/torture.mjs";

const KILLS = Number(process.env.STEPSCOPE_KILLS ?? (is_long ? 10_000 : 200));
const LANES = 2; // services in parallel, each with its own folder and ledger
const CLIENTS = 3; // per service
const LATEST_KILL_MS = 30; // plus the time the start took: on a busy machine everything takes
                           // longer
const WITH_AN_ANSWER = 0.3; // of kills
const AT_START = 0.15; // of kills
const LATEST_START_KILL_MS = 12;
const FULL_CHECK_EVERY = 125;

const WHERE = `STEPSCOPE_SEED=${seed}`;

/** One data folder whose service is killed again and again. */
class Lane {
  constructor(number) {
    this.data = join(temporary("kills", fast_tmpdir()), "data");
    this.random = chance(seed * 1000 + number);
    this.ledger = new Ledger();
    this.clients = new Clients(this.ledger, this.random, `lane${number}-`);
    this.kills = 0;
    this.slowest_start_ms = 0;
  }

  async start() {
    const begin = performance.now();
    const server = await start_server({ data: this.data, options: lean });
    this.start_ms = performance.now() - begin;
    this.slowest_start_ms = Math.max(this.slowest_start_ms, this.start_ms);
    const options = await server.request("/api/v1/tus", { method: "OPTIONS" });
    this.clients.has_tus = options.headers["tus-version"] !== undefined;
    return server;
  }

  /** After a kill: promises are kept, unknowns are settled, resumable uploads resume. */
  async settle(server) {
    const { clients, ledger } = this;
    const in_pieces = new Set(clients.unfinished.map(({ run }) => run));
    for (const run of clients.touched) if (!in_pieces.has(run)) await look_after(server, run);
    await no_strangers(this.data, ledger);
    clients.touched.clear();
    for (const upload of [...clients.unfinished]) await clients.resume(server, upload);
    for (const run of ledger.in_state("kept")) run.busy = false;
  }

  /** One request after another until the service is gone. */
  async client(server) {
    while (!server.dying) {
      try {
        const run = await this.clients.step(server);
        if (run) run.busy = false;
      } catch (error) {
        if (!server.dying || error.code === "ERR_ASSERTION") throw error;
      }
    }
  }

  /** Kills after a while, or with the next answer. */
  kill_sometime(server) {
    return new Promise((done) => {
      const kill = () => {
        this.clients.on_answer = () => {};
        server.dying = true;
        done(server.kill());
      };
      if (this.random() < WITH_AN_ANSWER) this.clients.on_answer = kill;
      setTimeout(kill, this.random() * (LATEST_KILL_MS + this.start_ms));
    });
  }

  async kill_at_work() {
    const server = await this.start();
    await this.settle(server);
    const killed = this.kill_sometime(server);
    await Promise.all(Array.from({ length: CLIENTS }, () => this.client(server)));
    await killed;
  }

  /** A kill while the service starts, possibly while it sweeps. */
  async kill_at_start() {
    const args = ["serve", "--listen", "127.0.0.1:0", "--data", this.data, ...lean];
    const child = spawn(stepscope_bin(), args, { stdio: "ignore" });
    const ended = once(child, "exit");
    await new Promise((done) => setTimeout(done, this.random() * LATEST_START_KILL_MS));
    child.kill("SIGKILL");
    await ended;
  }

  /** The whole ledger against the whole folder. */
  async verify() {
    const server = await this.start();
    await this.settle(server);
    await until("every run has settled", async () => {
      const { items } = await server.get("/runs?limit=all&fields=status");
      return items.every(({ status }) => !["pending", "running"].includes(status));
    }, 120_000);
    for (const run of this.ledger.in_state("kept")) await verify_run(server, run);
    for (const run of this.ledger.in_state("gone")) await look_after(server, run);
    const { items } = await server.get("/runs?limit=all&fields=name");
    assert.equal(items.length, this.ledger.in_state("kept").length, "runs that nobody uploaded");
    await no_strangers(this.data, this.ledger);
    await until("files have been looked through", async () =>
      (await server.request("/metrics")).text.includes("\nstepscope_blob_files "), 30_000);
    await server.stop();
    await verify_files(this.data);
  }

  async run(kills) {
    for (; this.kills < kills; this.kills++) {
      await (this.random() < AT_START ? this.kill_at_start() : this.kill_at_work());
      if (this.kills % FULL_CHECK_EVERY === FULL_CHECK_EVERY - 1) await this.verify();
    }
    await this.verify();
  }
}

/** The database is intact, and files and rows refer to each other; the service is stopped. */
async function verify_files(data) {
  const ask = (sql) => run_program("sqlite3", [join(data, "stepscope.db"), sql]);
  assert.equal(await ask("PRAGMA integrity_check"), "ok\n");
  assert.equal(await ask("PRAGMA foreign_key_check"), "");
  const rows = (await ask("SELECT sha256 FROM blob ORDER BY 1")).split("\n").slice(0, -1);
  const blobs = files_below(join(data, "blobs")).map((path) => path.slice(-64)).sort();
  assert.deepEqual(blobs, rows, "blobs and their rows");
  const ids = (await ask("SELECT id FROM trace ORDER BY 1")).split("\n").slice(0, -1);
  const made = files_below(join(data, "traces")).map((path) => basename(path, ".sst")).sort();
  const is_of_run = (name) => name.startsWith("r_"); // the picture of all its ranks
  assert.deepEqual(made.filter((name) => !is_of_run(name)), ids, "sealed traces and their rows");
  const runs = (await ask("SELECT id FROM stored_run")).split("\n");
  assert.deepEqual(made.filter((name) => is_of_run(name) && !runs.includes(name)), [],
    "pictures of runs that are gone");
  // Conversely, a row may be waiting for its file, which is created after it; it expires.
  const waiting = await ask("SELECT id FROM resumable WHERE upload_id IS NULL AND refused IS NULL");
  const unfinished = files_below(data).filter((path) => /\.(part|tmp)$/.test(path));
  assert.deepEqual(unfinished.filter((path) => !waiting.includes(basename(path, ".part"))), [],
    "unfinished files of uploads that nobody can go on with");
}

test(`${KILLS} kills lose nothing that was acknowledged and leave nothing else (${WHERE})`,
  async () => {
    const begin = performance.now();
    const lanes = Array.from({ length: LANES }, (_, number) => new Lane(number));
    await Promise.all(lanes.map(async (lane) => {
      await lane.run(Math.ceil(KILLS / LANES)).catch((error) => {
        error.message = `${WHERE}, kill ${lane.kills}: ${error.message}`;
        throw error;
      });
    }));
    const sums = {};
    for (const { clients } of lanes)
      for (const [form, count] of Object.entries(clients.acknowledged))
        sums[form] = (sums[form] ?? 0) + count;
    const answers = Object.values(sums).reduce((sum, count) => sum + count, 0);
    assert.ok(answers > KILLS / 4, `only ${answers} answers between ${KILLS} kills`);
    const forms = Object.entries(sums).map(([form, count]) => `${form} ${count}`).join(", ");
    const seconds = ((performance.now() - begin) / 1000).toFixed(0);
    figure("R1", `${KILLS} kills in ${seconds} s, ${answers} acknowledged (${forms}), 0 lost`);
    const slowest = Math.max(...lanes.map(({ slowest_start_ms }) => slowest_start_ms));
    figure("R3", `0 unfinished files and 0 orphans after ${KILLS} kills, slowest start ` +
      `${slowest.toFixed(0)} ms`);
  });
