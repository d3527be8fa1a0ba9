// SPDX-License-Identifier: Apache-2.0
// Jobs with a fault, asked what they would take without it, beside the same jobs generated without
// it: the true answer. Prints a table by kind of fault; fails where an answer is worse than is
// claimed. node tests/bench/counterfactuals.mjs STEPSCOPE TRACEGEN [--jobs 500] [--seed 1]
// [--minutes 30]: jobs come in an order that makes any first part of them a fair sample.
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const [stepscope, tracegen, ...options] = process.argv.slice(2);
const option = (name, usual) =>
  (options.includes(name) ? Number(options[options.indexOf(name) + 1]) : usual);
const WANTED = option("--jobs", 500);
const FIRST_SEED = option("--seed", 1);
const END_MS = Date.now() + 60000 * option("--minutes", 1e6);
const CLOSE = 0.01, FAR = 0.03, CLOSE_SHARE = 0.95, HELD_SHARE = 0.9;
const MOST_OUTPUT = 1 << 28;

const slow = (category, percents, what) => percents.map((percent) =>
  ({ args: ["--slow", `${category}=${percent}`], change: `scale=${100 / percent}:${what}` }));
const plants = (name, costs, change) =>
  costs.map((cost) => ({ args: ["--plant", `${name}=${cost}`], change }));

// Of one rank's recording.
const LONE = [
  { kind: "kernel", faults: [...slow("gemm", [130, 200], "category=GEMM"),
    ...slow("attention", [150, 300], "category=attention"),
    ...slow("elementwise", [300], "category=elementwise"),
    ...slow("norm", [400], "category=normalization"),
    { args: ["--slow-op", "aten::mm=250"], change: "scale=0.4:op=aten::mm" }] },
  { kind: "network", faults: slow("comm", [150, 200, 400], "class=communication") },
  { kind: "overlap", faults: plants("low_overlap", [2000000, 5000000], "perfect_overlap") },
  { kind: "data", faults: plants("starvation", [1000000, 5000000], "data_ready") },
  { kind: "recompute", faults: [{ args: ["--checkpoint"], change: "no_recompute" }] },
];

const late = (cause, rank, ns) =>
  ({ args: ["--straggler", `${rank}=${ns}`, "--cause", cause], change: "balanced" });

// Of all ranks together.
const JOINT = [
  { kind: "straggler", faults: [late("compute_slower", 1, 2000000),
    late("compute_slower", 3, 5000000), late("copies", 2, 3000000)] },
  { kind: "host", faults: [late("host", 1, 3000000), late("host", 2, 6000000)] },
  { kind: "data", faults: [late("data_loading", 3, 4000000)] },
  { kind: "bubble", needs: (shape) => shape.pp > 2,
    faults: [{ args: ["--slow-ranks", "STAGE=140"], change: "balanced" }] },
];
const SHAPES = [
  { tp: 2, pp: 2, dp: 1 }, { tp: 2, pp: 2, dp: 2 }, { tp: 1, pp: 1, dp: 8 },
  { tp: 2, pp: 4, dp: 2, nodes: 2 }, { tp: 1, pp: 1, dp: 16, nodes: 2 },
  { tp: 4, pp: 4, dp: 4, nodes: 8 },
].map((shape) => ({ nodes: 1, ...shape, ranks: shape.tp * shape.pp * shape.dp }));

/** Jobs in turns of all kinds, until there are as many as are wanted. */
function* list_jobs() {
  for (let seed = FIRST_SEED; ; seed++)
    for (const flavour of ["cuda", "rocm"]) {
      for (const { kind, faults } of LONE)
        for (const fault of faults)
          yield { kind, ...fault, ranks: 1, base: ["--seed", `${seed}`, "--steps", "10", "--layers",
            "4", "--flavour", flavour, "--strategy", seed % 2 ? "ddp" : "fsdp"] };
      for (const shape of SHAPES.filter(({ ranks }) => ranks < 64 || seed % 4 === 1))
        for (const { kind, needs, faults } of JOINT)
          for (const { args, change } of needs && !needs(shape) ? [] : faults)
            yield { kind, change, ranks: shape.ranks,
              args: args.map((arg) => arg.replace("STAGE", stage_ranks(shape))),
              base: ["mesh", "--seed", `${seed}`, "--tp", shape.tp, "--pp", shape.pp, "--dp",
                shape.dp, "--skew", "20000000", "--node-gpus", shape.ranks / shape.nodes,
                "--flavour", flavour].map(String) };
    }
}

/** The ranks of the second stage. */
function stage_ranks({ tp, dp }) {
  const ranks = tp * dp;
  return ranks === 1 ? "1" : `${ranks}-${2 * ranks - 1}`;
}

async function whatif(args, change) {
  const folder = mkdtempSync(join(tmpdir(), "stepscope-counterfactual-"));
  try {
    await run(tracegen, [...args, "--out", folder], { maxBuffer: MOST_OUTPUT });
    const files = readdirSync(folder).filter((name) => name.startsWith("rank"))
      .map((name) => join(folder, name));
    const { stdout, message } = await run(stepscope, ["whatif", "--format", "json", "--change",
      change, ...files], { maxBuffer: MOST_OUTPUT }).catch((problem) => problem);
    if (!stdout)
      throw new Error(`no answer to ${change} after ${args.join(" ")}: ${message ?? "empty"}`);
    return JSON.parse(stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const clean_jobs = new Map(); // one for many faults

function clean_steps(job) {
  const key = job.base.join(" ");
  if (!clean_jobs.has(key)) clean_jobs.set(key, whatif(job.base, "scale=1:kernel=none"));
  return clean_jobs.get(key);
}

/** How far the answer is from the truth, and whether its interval holds that; null: refused. */
async function judge(job) {
  const [faulty, clean] = await Promise.all([whatif([...job.base, ...job.args], job.change),
    clean_steps(job)]);
  const own = faulty.traces.find(({ rank }) => rank === faulty.headline_rank);
  if (faulty.traces.some(({ refused }) => refused)) return null;
  const [answer] = own.answers;
  const [{ steps }] = clean.traces.find(({ rank }) => rank === own.rank).answers;
  const truth_ns = mean(answer.steps.map(({ step }) =>
    steps.find((other) => other.step === step).measured_ns));
  return { error: Math.abs(answer.candidate_ns - truth_ns) / truth_ns,
    cost: own.measured_ns / truth_ns - 1, gain: answer.gain_ns / truth_ns,
    held: answer.low_ns <= truth_ns && truth_ns <= answer.high_ns,
    width: (answer.high_ns - answer.low_ns) / 2 / truth_ns,
    gain_width: (answer.gain_high_ns - answer.gain_low_ns) / 2 / truth_ns,
    gain_held: answer.gain_low_ns <= own.measured_ns - truth_ns &&
      own.measured_ns - truth_ns <= answer.gain_high_ns };
}

const STRIDE = 7919; // a prime, so that every job comes once
const listed = [];
for (const job of list_jobs()) {
  if (listed.length === WANTED) break;
  listed.push(job);
}
const mixed = listed.map((_, i) => listed[(i * STRIDE) % listed.length]);
let next = 0;
async function work() {
  while (next < mixed.length && Date.now() < END_MS) {
    const job = mixed[next++];
    job.found = await judge(job);
    if (job.found && (job.found.error > CLOSE || !job.found.held)) {
      const { error, gain } = job.found;
      process.stderr.write(`${(100 * error).toFixed(3)} % off at a gain of ${
        (100 * gain).toFixed(2)} %: ${job.change} after ${[...job.base, ...job.args].join(" ")}\n`);
    }
  }
}
await Promise.all(cpus().map(work));
const jobs = mixed.filter(({ found }) => found !== undefined);

const share = (part, whole) => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
function row(kind, all) {
  const answered = all.filter(({ found }) => found).map(({ found }) => found);
  const errors = answered.map(({ error }) => error).sort((a, b) => a - b);
  const close = errors.filter((error) => error <= CLOSE).length;
  const far = errors.filter((error) => error > FAR).length;
  const held = answered.filter((one) => one.held).length;
  const gains_held = answered.filter((one) => one.gain_held).length;
  const at = (sorted, q) => (100 * (sorted[Math.floor(q * (sorted.length - 1))] ?? 0)).toFixed(3);
  const quantile = (q) => at(errors, q);
  const middle = (of) => at(answered.map(of).sort((a, b) => a - b), 0.5);
  console.log(`| ${kind} | ${all.length} | ${all.length - answered.length} | ${
    share(mean(answered.map(({ cost }) => cost)), 1)} | ${quantile(0.5)} | ${quantile(0.95)} | ${
    quantile(1)} | ${share(close, answered.length)} | ${share(held, answered.length)} | ${
    middle((one) => one.width)} | ${share(gains_held, answered.length)} | ${
    middle((one) => one.gain_width)} |`);
  return { answered: answered.length, ok: answered.length > 0 && far === 0 &&
    close >= CLOSE_SHARE * answered.length && held >= HELD_SHARE * answered.length };
}
console.log(["| fault | jobs | refused | cost | median error % | 95 % | worst | within 1 % " +
  "| held | half width % | gain held | half width % |", `|${"---|".repeat(12)}`].join("\n"));
const kinds = [...new Set(jobs.map((job) => job.kind))].map((kind) =>
  row(kind, jobs.filter((job) => job.kind === kind)));
// A kind that is always refused shows nothing, however good the others are.
process.exitCode = row("all", jobs).ok && kinds.every(({ answered }) => answered > 0) ? 0 : 1;
