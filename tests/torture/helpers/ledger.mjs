// SPDX-License-Identifier: Apache-2.0
// What a service has promised so far: runs it acknowledged, runs it reported gone, and those whose
// answer never came, which may be there or not, but never in part.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../e2e/helpers/tools.mjs";
import { small_json } from "../../e2e/helpers/traces.mjs";

/**
 * @typedef {{kernel: string, data: Buffer, sha256: string}} Content
 * @typedef {{name: string, state: "kept" | "maybe" | "leaving" | "gone", busy: boolean,
 *            ranked: boolean, ranks: Content[][]}} Run
 * Each rank lists the contents it may have: one, or two while a replacement is unconfirmed.
 */

/** A small trace that is unique through its one kernel. @returns {Content} */
export function content(kernel, steps = 2) {
  const data = small_json({ names: [kernel], steps });
  return { kernel, data, sha256: createHash("sha256").update(data).digest("hex") };
}

/**
 * What is read of a file or folder; null if that has vanished, as it may while a service runs.
 * @template T @param {() => T} read @returns {T | null}
 */
export function if_there(read) {
  try {
    return read();
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}

/** Every file below a folder; folders that vanish meanwhile are empty. @returns {string[]} */
export function files_below(folder) {
  const entries = if_there(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? files_below(path) : entry.isFile() ? [path] : [];
  });
}

export class Ledger {
  /** @type {Map<string, Run>} */
  runs = new Map();

  /**
   * Records that a run is being uploaded. @param {Content[]} contents one per rank @returns {Run}
   */
  begin(name, contents, ranked) {
    const ranks = contents.map((one) => [one]);
    const run = { name, state: "maybe", busy: true, ranked, ranks };
    this.runs.set(name, run);
    return run;
  }

  /** @param {Run["state"][]} states @returns {Run[]} */
  in_state(...states) {
    return [...this.runs.values()].filter(({ state }) => states.includes(state));
  }

  /** An idle acknowledged run, marked busy; null if there is none. @returns {Run | null} */
  take(random, suits = () => true) {
    const idle = this.in_state("kept").filter((run) => !run.busy && suits(run));
    if (idle.length === 0) return null;
    const run = idle[Math.floor(random() * idle.length)];
    run.busy = true;
    return run;
  }

  /** Contents that some run may still have. @returns {Map<string, Content>} by SHA-256 */
  possible() {
    const held = this.in_state("kept", "maybe", "leaving").flatMap(({ ranks }) => ranks.flat());
    return new Map(held.map((one) => [one.sha256, one]));
  }
}

/** Whether one of a rank's contents is in the data folder with the right bytes. */
export function is_stored(data, contents) {
  return contents.some(({ sha256, data: bytes }) => {
    const path = join(data, "blobs", sha256.slice(0, 2), sha256);
    return existsSync(path) && readFileSync(path).equals(bytes);
  });
}

/**
 * Looks up what happened to a run that was touched, and settles what was unknown. Returns whether
 * it is there. @param {{request: Function}} server @param {Run} run
 */
export async function look_up(server, run) {
  const reply = await server.request(`/api/v1/runs/${run.name}`);
  assert.ok([200, 404].includes(reply.status), `${run.name}: ${reply.status} ${reply.text}`);
  const is_there = reply.status === 200;
  if (run.state === "kept") assert.ok(is_there, `the acknowledged run ${run.name} is lost`);
  if (run.state === "gone") assert.ok(!is_there, `the deleted run ${run.name} is back`);
  run.state = is_there ? "kept" : "gone";
  if (!is_there) return false;
  const { received } = reply.json;
  assert.equal(received, run.ranks.length, `${run.name} has ${received} files`);
  return true;
}

/** The same, and its bytes are in the folder of the service. */
export async function look_after(server, run) {
  if (!await look_up(server, run)) return;
  for (const contents of run.ranks)
    assert.ok(is_stored(server.data, contents), `bytes of ${run.name} are lost`);
}

/** There is no unaccounted file. @param {string} data @param {Ledger} ledger */
export async function no_strangers(data, ledger) {
  const possible = ledger.possible();
  const strangers = files_below(join(data, "blobs"))
    .filter((path) => !possible.has(path.slice(-64)));
  // The service deletes orphans in the background soon after it starts; the scratch file of a job
  // resumed then exists for a moment.
  const orphans = [...strangers, ...files_below(join(data, "spool"))];
  await until("orphaned blobs and unfinished files are deleted after the start",
    () => !orphans.some(existsSync))
    .catch(({ message }) => assert.fail(`${message}: ${orphans.filter(existsSync)}`));
}

/** A run's figures and bytes once it is analyzed; settles which content a rank has. */
export async function verify_run(server, run) {
  const found = await server.settled(run.name, 120_000);
  assert.equal(found.status, "done", `${run.name}: ${found.error}`);
  for (const [rank, contents] of run.ranks.entries()) {
    const reply = await server.request(`/api/v1/runs/${run.name}/ranks/${rank}/trace`);
    assert.equal(reply.status, 200, `${run.name}, rank ${rank}: ${reply.text}`);
    const held = contents.find(({ data }) => data.equals(reply.body));
    assert.ok(held, `${run.name}, rank ${rank}: other bytes than were uploaded`);
    run.ranks[rank] = [held];
  }
  const { items } = await server.get(`/runs/${run.name}/kernels?limit=all&fields=name`);
  const expected = [...new Set(run.ranks.map(([{ kernel }]) => kernel))].sort();
  assert.deepEqual([...new Set(items.map(({ name }) => name))].sort(), expected, run.name);
}
