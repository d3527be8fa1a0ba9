// SPDX-License-Identifier: Apache-2.0
// Mixed load for a given number of minutes: uploads of every form, replacements, deletions, tables,
// while memory, descriptors and the write-ahead log are watched for growth.
// node tests/torture/soak.mjs [MINUTES]; fails if something grows.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { start_server } from "../e2e/helpers/server.mjs";
import { chance, temporary } from "../e2e/helpers/tools.mjs";
import { Clients } from "./helpers/clients.mjs";
import { Ledger, no_strangers, verify_run } from "./helpers/ledger.mjs";
import { figure, seed } from "./helpers/torture.mjs";

const MINUTES = Number(process.argv[2] ?? 10);
const WRITERS = 2;
const READERS = 2;
const SAMPLE_MS = 1000;
const WARM_UP = 0.25; // of the time: the database's caches fill
const WAL_LIMIT_BYTES = 128 << 20;
// A few minutes cannot be more exact; a leak of a page per request would be far above.
const RSS_DRIFT_LIMIT = MINUTES >= 60 ? 0.01 : 0.05;
// Few threads: each of a thousand would touch its stack at some point, which looks like growth for
// an hour.
const OPTIONS = ["--connections", "32", "--bin-days", "0"];

const READ = ["", "/summary", "/kernels?limit=all&format=csv", "/operators", "/findings",
  "/breakdown", "/timeline", "/trust", "/parts"];

/** @param {number} pid @param {string} data */
function sample(pid, data) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const number = (name) => Number(new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(status)[1]);
  const wal = join(data, "stepscope.db-wal");
  return {
    rss_bytes: number("VmRSS") * 1024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    wal_bytes: statSync(wal, { throwIfNoEntry: false })?.size ?? 0,
  };
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

class Soak {
  async start() {
    this.server = await start_server({ data: join(temporary("soak"), "data"),
      options: OPTIONS });
    this.ledger = new Ledger();
    this.random = chance(seed);
    this.clients = new Clients(this.ledger, this.random, "s");
    const options = await this.server.request("/api/v1/tus", { method: "OPTIONS" });
    this.clients.has_tus = options.headers["tus-version"] !== undefined;
    this.reads = 0;
    this.end = performance.now() + MINUTES * 60_000;
    this.samples = [];
  }

  is_over() {
    return performance.now() >= this.end;
  }

  async write() {
    while (!this.is_over()) {
      const run = await this.clients.step(this.server);
      if (run) run.busy = false;
      // Runs that are gone for good need not be remembered for hours.
      for (const { name } of this.ledger.in_state("gone")) this.ledger.runs.delete(name);
      this.clients.touched.clear();
    }
  }

  async read() {
    while (!this.is_over()) {
      const kept = this.ledger.in_state("kept");
      const run = kept[Math.floor(this.random() * kept.length)]?.name ?? "none";
      const path = READ[Math.floor(this.random() * READ.length)];
      const reply = await this.server.request(`/api/v1/runs/${run}${path}`);
      assert.ok(reply.status < 500 || reply.status === 503, `${path}: ${reply.text}`);
      this.reads++;
    }
  }

  async watch() {
    while (!this.is_over()) {
      this.samples.push(sample(this.server.child.pid, this.server.data));
      await pause(SAMPLE_MS);
    }
  }

  /** First and last third of the time after the warm-up. */
  thirds(name) {
    const values = this.samples.slice(Math.floor(this.samples.length * WARM_UP))
      .map((one) => one[name]);
    const third = Math.ceil(values.length / 3);
    return [values.slice(0, third), values.slice(-third)];
  }

  judge() {
    const [first, last] = this.thirds("rss_bytes").map(median);
    const drift = last / first - 1;
    // The minimum over a while: connections come and go.
    const [before, after] = this.thirds("descriptors").map((values) => Math.min(...values));
    const wal_bytes = Math.max(...this.samples.map((one) => one.wal_bytes));
    const requests = Object.values(this.clients.acknowledged).reduce((a, b) => a + b, 0);
    const mib = (bytes) => (bytes / 2 ** 20).toFixed(1);
    figure("R17", `${MINUTES} min of ${requests} changes and ${this.reads} reads: ` +
      `RSS ${mib(first)} to ${mib(last)} MiB (${(100 * drift).toFixed(1)} %), ` +
      `descriptors ${before} to ${after}, WAL at most ${mib(wal_bytes)} MiB`);
    assert.ok(drift <= RSS_DRIFT_LIMIT, `memory grew by ${(100 * drift).toFixed(1)} %`);
    assert.ok(after <= before, `descriptors grew from ${before} to ${after}`);
    assert.ok(wal_bytes <= WAL_LIMIT_BYTES, `the write-ahead log grew to ${wal_bytes} bytes`);
  }

  async verify() {
    for (const run of this.ledger.in_state("kept")) await verify_run(this.server, run);
    await this.server.stop();
    await no_strangers(this.server.data, this.ledger);
  }
}

const soak = new Soak();
await soak.start();
const many = (count, work) => Array.from({ length: count }, work);
await Promise.all([soak.watch(), ...many(WRITERS, () => soak.write()),
  ...many(READERS, () => soak.read())]);
soak.judge();
await soak.verify();
