// SPDX-License-Identifier: Apache-2.0
// Jobs of many ranks: generated with planted faults, and what the product finds.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sum } from "./figures.mjs";
import { fast_tmpdir, run_program, stepscope_bin, temporary, tracegen_bin } from "./tools.mjs";

const CLOCKS_OFF = ["--skew", "50000000"];
const MOST_OFF_NS = 20_000;
const MOST_OFF_SHARE = 0.01;

/** Tables of a run from the command line, which prints them before those of the ranks. */
function run_tables(files) {
  const child = spawn(stepscope_bin(), ["analyze", "--format", "json", ...files],
    { stdio: ["ignore", "pipe", "pipe"] });
  let text = "", errors = "";
  child.stderr.on("data", (data) => { errors += data; });
  child.stdout.setEncoding("utf8");
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => reject(new Error(`found no run: ${errors}`)));
    child.stdout.on("data", (data) => {
      text += data;
      const end = text.indexOf("},\"traces\":[");
      if (end < 0) return;
      child.kill();
      resolve(JSON.parse(`${text.slice(0, end)}}}`).run.tables);
    });
  });
}

/**
 * Generates a mesh and analyzes it; clocks are off by up to 50 ms.
 * @param {string} args of `tracegen mesh`
 */
export async function mesh(args) {
  const folder = temporary("mesh", fast_tmpdir());
  await run_program(tracegen_bin(),
    ["mesh", ...CLOCKS_OFF, ...args.split(" "), "--format", "zst", "--out", folder]);
  const truth = JSON.parse(readFileSync(join(folder, "truth.json"), "utf8"));
  const files = truth.ranks.filter(({ file }) => file).map(({ file }) => join(folder, file));
  const found = await run_tables(files);
  rmSync(folder, { recursive: true, force: true });
  const steady = [...new Set(found.rank_steps.filter((row) => row.steady).map(({ step }) => step))];
  return { args, truth, found, steady };
}

/**
 * Ranks of several meshes as one run: for each, the first and the last rank and the arguments.
 * @param {[number, number, string][]} parts
 */
export async function meshes_as_one(parts) {
  const folders = [], files = [];
  for (const [first, last, args] of parts) {
    const folder = temporary("mesh", fast_tmpdir());
    await run_program(tracegen_bin(),
      ["mesh", ...CLOCKS_OFF, ...args.split(" "), "--format", "zst", "--out", folder]);
    folders.push(folder);
    for (let rank = first; rank <= last; rank++) files.push(join(folder, `rank${rank}.json.zst`));
  }
  const found = await run_tables(files);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  return { found };
}

/** Sum over the steady steps of a figure in the truth, which has one per step, starting at 1. */
export const in_steady = ({ steady }, values) => sum(steady.map((step) => values[step - 1]));

/**
 * Deviations that are too large, in words; [] if none.
 *  @param {{what: string, truth: number, found: number, slack?: number}[]} figures
 */
export function deviations(figures) {
  return figures.filter(({ truth, found, slack = 0 }) =>
    !(Math.abs(found - truth) <= MOST_OFF_SHARE * Math.abs(truth) + slack))
    .map(({ what, truth, found }) => `${what}: planted ${truth}, found ${found}`);
}

/** The clocks of all ranks are known relative to the first one's. */
export function assert_clocks({ args, truth, found }) {
  const planted = new Map(truth.ranks.map((rank) => [rank.rank, rank.clock_offset_ns]));
  const first = found.clocks[0].rank;
  assert.equal(found.clocks.length, truth.ranks.filter(({ file }) => file).length, args);
  for (const { rank, component, offset_ns } of found.clocks) {
    assert.equal(component, 0, `${args}: rank ${rank}`);
    const off_ns = offset_ns + planted.get(rank) - planted.get(first);
    assert.ok(Math.abs(off_ns) <= MOST_OFF_NS, `${args}: rank ${rank} is off by ${off_ns} ns`);
  }
}

const PARTS = ["wait_ns", "exposed_wait_ns", "exposed_transfer_ns"];
// The ends of collectives pin the clocks down no better, and so each call's wait.
const CLOCK_NS = 100;

/** A send and its recv count as one. */
const is_passing = ({ kind }) => kind === "send" || kind === "recv" || kind === "send_recv";

function figures_of_rank(job, truth) {
  const steps = job.found.rank_steps.filter((row) => row.rank === truth.rank && row.steady);
  const calls = in_steady(job, truth.calls);
  return PARTS.map((part) => ({ what: `rank ${truth.rank} ${part}`, slack: calls * CLOCK_NS,
    truth: in_steady(job, truth[part]), found: sum(steps.map((row) => row[part])) }));
}

function figures_of_group(job, group, kinds) {
  const rows = job.found.comm_waits.filter((row) => row.process_group === group.process_group &&
    (is_passing(row) ? is_passing(group) : row.kind === group.kind));
  const calls = sum(kinds.map((kind) => in_steady(job, kind.calls)));
  const slack = calls * CLOCK_NS;
  return [...PARTS, "transfer_ns"].map((part) => ({
    what: `${group.dimension} group ${group.process_group} ${group.kind} ${part}`, slack,
    truth: sum(kinds.map((kind) => in_steady(job, kind[part]))),
    found: sum(rows.map((row) => row[part])) }));
}

/** Per rank and per group: waits and transfers, hidden or not. */
export function figures_of(job) {
  const groups = new Map();
  for (const group of job.truth.groups) {
    const key = `${group.process_group} ${is_passing(group) || group.kind}`;
    groups.set(key, [...(groups.get(key) ?? []), group]);
  }
  return [
    ...job.truth.ranks.filter(({ file }) => file).flatMap((truth) => figures_of_rank(job, truth)),
    ...[...groups.values()].flatMap((kinds) => figures_of_group(job, kinds[0], kinds)),
  ];
}

/** The stages' shares of the interval in which they compute nothing. */
export function bubbles_of(job) {
  return job.truth.pipeline.map((truth) => {
    const interval_ns = in_steady(job, truth.interval_ns);
    const row = job.found.pipeline.find(({ stage }) => stage === truth.stage);
    return { what: `bubble of stage ${truth.stage}`,
      truth: (interval_ns - in_steady(job, truth.compute_ns)) / interval_ns,
      found: row?.bubble_share ?? NaN };
  });
}

/** In the words of the table strategy: "TP2 x PP4 x DDP4". */
export function words_of({ tensor, expert, pipeline, data, variant }) {
  const word = (name, degree) => (degree > 1 ? [name + degree] : []);
  const colon = /\d$/.test(variant) ? ":" : "";
  return [...word("TP", tensor), ...word("EP", expert), ...word("PP", pipeline),
    ...word(variant + colon, data)].join(" x ");
}

/** The line found for all dimensions. */
export const overall_of = ({ found }) =>
  found.strategy.find(({ dimension }) => dimension === "overall")?.variant;

/** Micro-batches per step, 1 if not given. */
export const micro_batches_of = ({ found }) => found.strategy.find(({ dimension }) =>
  dimension === "micro_batches" || dimension === "gradient_accumulation")?.degree ?? 1;

/** Rules that found something. */
export const rules_of = ({ found }) => (found.findings ?? []).map(({ rule }) => rule);
