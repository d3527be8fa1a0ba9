// SPDX-License-Identifier: Apache-2.0
// Plays the scenario once for every place that can fail, and collects what went wrong.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fast_tmpdir, run_program, temporary } from "../../e2e/helpers/tools.mjs";
import { describe, Faults, modules_of } from "./faults.mjs";
import { play, verify } from "./scenario.mjs";

const WARM_ROUNDS = 4;
const RECORDED_ROUNDS = 3;
// The disk of the test may be nearly full; that is not the fault under test.
const OPTIONS = ["--min-free", "1M", "--bin-days", "0"];

/** Every file below a folder. @returns {string[]} */
function files_below(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => entry.isDirectory()
    ? files_below(join(folder, entry.name)) : [join(folder, entry.name)]);
}

/** @typedef {{site: import("./faults.mjs").Site, action: string, number: number}} Case */

export class Sweep {
  data = join(temporary("sweep", fast_tmpdir()), "data");
  rounds = 0;
  restarts = 0;
  /** @type {string[]} */
  findings = [];
  /** How often each answer came to an upload. */
  answers = {};

  async begin() {
    this.faults = new Faults(this.data);
    await this.start();
    for (let i = 0; i < WARM_ROUNDS; i++) await play(this.server, this.rounds++);
    this.faults.record(true);
    for (let i = 0; i < RECORDED_ROUNDS; i++) await play(this.server, this.rounds++);
    this.faults.record(false);
    this.sites = this.faults.sites();
    this.modules = modules_of(this.server.child.pid);
  }

  async start() {
    this.server = await this.faults.start({ data: this.data, options: OPTIONS });
  }

  /** Restarts a service that reports it can no longer be trusted with writes. */
  async restart_if_needed() {
    const ready = this.server.exit === null && await this.server.request("/readyz");
    if (ready?.status === 200 && !/until a restart/.test(this.server.log)) return;
    this.restarts++;
    if (this.server.exit === null) await this.server.stop();
    await this.start();
  }

  /** One round with one fault. @param {Case} what */
  async one({ site, action, number }) {
    const round = this.rounds++;
    this.faults.arm({ kind: site.kind, site: site.hash, action: number });
    let fired = 0;
    try {
      const seen = await play(this.server, round);
      fired = this.faults.clear();
      for (const answer of seen.uploads) this.answers[answer] = (this.answers[answer] ?? 0) + 1;
      await this.restart_if_needed();
      await verify(this.server, seen);
    } catch (error) {
      fired = this.faults.clear();
      const exit = this.server.exit ? JSON.stringify(this.server.exit) : "";
      const log = this.server.exit ? this.server.log.slice(-4000) : "";
      const place = await describe(site, this.modules);
      this.findings.push(`${place}\n  ${action}: ${error.message} ${exit}${log}`);
      await this.restart_if_needed();
    }
    return fired > 0;
  }

  /**
   * All rounds, or as many as time allows.
   * @param {Case[]} cases @param {number} [limit_ms]
   * @returns {Promise<{played: number, fired: number}>} rounds, and those in which a call failed
   */
  async run(cases, limit_ms = Infinity) {
    const end = performance.now() + limit_ms;
    let played = 0;
    let fired = 0;
    for (; played < cases.length && performance.now() < end; played++) {
      fired += await this.one(cases[played]) ? 1 : 0;
    }
    return { played, fired };
  }

  /** Stops, and checks what is in the folder. @returns {Promise<string[]>} what is wrong */
  async end() {
    await this.server.stop();
    const wrong = [...this.findings];
    await this.start();
    await this.server.stop();
    const db = join(this.data, "stepscope.db");
    const integrity = await run_program("sqlite3", [db, "PRAGMA integrity_check"]);
    if (integrity.trim() !== "ok") wrong.push(integrity);
    const left = files_below(this.data).filter((path) => /\.part$|\.tmp$|blobs\/..\//.test(path));
    // An interrupted resumable upload can still be resumed.
    const rows = await run_program("sqlite3",
      [db, "SELECT (SELECT count(*) FROM blob) + (SELECT count(*) FROM resumable)"]);
    if (left.length > Number(rows)) wrong.push(`files that nobody names: ${left.join(" ")}`);
    this.faults.close();
    return wrong;
  }
}
