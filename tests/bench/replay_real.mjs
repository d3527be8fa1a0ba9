// SPDX-License-Identifier: Apache-2.0
// How good replays of real traces are: the unchanged one, steps predicted by others of the same
// recording, and another vendor's kernels. Prints tables; fails where more is claimed.
// node tests/bench/replay_real.mjs STEPSCOPE FOLDER
import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const [stepscope, folder] = process.argv.slice(2);
const MOST_OUTPUT = 1 << 28;
const CLOSE = 0.01;
const CHANGES = ["scale=1:kernel=none", "scale=0.5:class=compute", "host_free", "network_x2"];

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const percent = (share) => `${(100 * share).toFixed(2)} %`;

async function whatif(file, ...args) {
  const { stdout } = await run(stepscope, ["whatif", "--format", "json", ...args, file],
    { maxBuffer: MOST_OUTPUT }).catch((problem) => problem);
  return stdout ? JSON.parse(stdout).traces[0] : null;
}

// Student's t, as in analysis/replay/whatif.c.
const T = [6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83];

/** How far further values reach from the mean of these. */
function half_range(values) {
  const middle = mean(values);
  const squares = values.reduce((sum, one) => sum + (one - middle) ** 2, 0);
  const own = (T[values.length - 2] ?? 1.8) * Math.sqrt(1 + 1 / values.length);
  return own * Math.sqrt(squares / (values.length - 1));
}

/** What such steps say a step takes and gains, with the intervals that an answer has. */
function answer_of(steps, error_share) {
  const gains = steps.map(({ replayed_ns, changed_ns }) => replayed_ns - changed_ns);
  const after = steps.map(({ measured_ns }, i) => measured_ns - gains[i]);
  const measured_ns = mean(steps.map((step) => step.measured_ns));
  const off_ns = Math.max(0.001, error_share) * measured_ns + 0.02 * Math.abs(mean(gains));
  return { gain_ns: mean(gains), step_ns: mean(after), measured_ns,
    gain_half: half_range(gains) + off_ns, step_half: half_range(after) + off_ns };
}

const holds = (middle, half, value) => Math.abs(value - middle) <= half;

const files = readdirSync(folder).filter((name) => /\.json\.gz$/.test(name));
let failed = false;
const LEAST_HELD = 0.9; // of the intervals of gains
const all = { asked: 0, steps: 0, gains: 0 };
console.log("| trace | steps | unchanged | odd for even | steps held | gains held | "
  + "width: step, gain |\n|---|---|---|---|---|---|---|");
for (const name of files) {
  const traces = [];
  for (const change of CHANGES) {
    const trace = await whatif(join(folder, name), "--change", change);
    if (trace) traces.push(trace);
    if (!trace || trace.refused) break;
  }
  const [first] = traces;
  if (!first || first.refused) {
    console.log(`| ${name} | ${first?.steps ?? 0} | ${first?.refused ?? "not read"} | | |`);
    continue;
  }
  failed ||= first.error_share > CLOSE;
  let even_off = "";
  const own = { asked: 0, steps: 0, gains: 0 }, widths = [];
  for (const { answers: [{ steps }], error_share } of traces) {
    if (steps.length < 4) continue;
    const [odd, even] = [1, 0].map((rest) =>
      answer_of(steps.filter(({ step }) => step % 2 === rest), error_share));
    even_off ||= percent(even.measured_ns / odd.measured_ns - 1);
    for (const [said, came] of [[odd, even], [even, odd]]) {
      own.asked++;
      own.steps += holds(said.step_ns, said.step_half, came.step_ns);
      own.gains += holds(said.gain_ns, said.gain_half, came.gain_ns);
    }
    const { step_half, gain_half, measured_ns } = answer_of(steps, error_share);
    widths.push(`${percent(step_half / measured_ns)}, ${percent(gain_half / measured_ns)}`);
  }
  for (const key of Object.keys(all)) all[key] += own[key];
  console.log(`| ${name} | ${first.steps} | ${percent(first.error_share)} | ${even_off} | ${
    own.asked ? `${own.steps} of ${own.asked} | ${own.gains} of ${own.asked}` : " | "} | ${
    widths.join("; ")} |`);
}
console.log(`\nOdd steps for even ones and even for odd: ${all.steps} of ${
  all.asked} intervals hold the step, ${all.gains} the gain\n`);
failed ||= all.steps < all.asked || all.gains < LEAST_HELD * all.asked;

console.log("| model | on | with the kernels of | predicted | took there | off |\n"
  + "|---|---|---|---|---|---|");
for (const name of files.filter((one) => one.startsWith("h100_"))) {
  const other = name.replace("h100_", "mi300x_");
  if (!existsSync(join(folder, other))) continue;
  for (const [own, theirs] of [[name, other], [other, name]]) {
    const trace = await whatif(join(folder, own), "--counterpart", join(folder, theirs),
      "--change", "other_kernels");
    const truth = await whatif(join(folder, theirs), "--change", CHANGES[0]);
    const found_ns = trace.answers[0].candidate_ns;
    console.log(`| ${name.slice(5, -8)} | ${own.split("_")[0]} | ${theirs.split("_")[0]} | ${
      (found_ns / 1e6).toFixed(2)} ms | ${(truth.measured_ns / 1e6).toFixed(2)} ms | ${
      percent(found_ns / truth.measured_ns - 1)} |`);
  }
}
process.exitCode = failed ? 1 : 0;
