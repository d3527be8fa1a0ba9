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

/** What the odd steps say a step takes, with its interval as an answer has it. */
function answer_of(steps, error_share) {
  const gains = steps.map(({ replayed_ns, changed_ns }) => replayed_ns - changed_ns);
  const measured_ns = mean(steps.map((step) => step.measured_ns));
  const gain_ns = mean(gains);
  const off_ns = Math.max(0.001, error_share) * measured_ns + 0.02 * Math.abs(gain_ns);
  const deviation = Math.sqrt(gains.reduce((sum, gain) => sum + (gain - gain_ns) ** 2, 0)
    / (gains.length - 1));
  const half = (T[gains.length - 2] ?? 1.8) * Math.sqrt(1 + 1 / gains.length) * deviation;
  return { gain_ns, measured_ns, low: Math.min(...gains, gain_ns - half) - off_ns,
    high: Math.max(...gains, gain_ns + half) + off_ns };
}

const files = readdirSync(folder).filter((name) => /\.json\.gz$/.test(name));
let failed = false;
let held = 0, asked = 0;
console.log("| trace | steps | unchanged | odd for even | gains held |\n|---|---|---|---|---|");
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
  let line = "| |", own = 0, of = 0;
  for (const { answers: [{ steps }], error_share } of traces) {
    if (steps.length < 4) continue;
    const [odd, even] = [1, 0].map((rest) =>
      answer_of(steps.filter(({ step }) => step % 2 === rest), error_share));
    if (of === 0) line = `| ${percent(even.measured_ns / odd.measured_ns - 1)} |`;
    own += even.gain_ns >= odd.low && even.gain_ns <= odd.high;
    of++;
  }
  held += own;
  asked += of;
  console.log(`| ${name} | ${first.steps} | ${percent(first.error_share)} ${line} ${
    of ? `${own} of ${of}` : ""} |`);
}
console.log(`\n${held} of ${asked} intervals of odd steps hold the gain of the even ones\n`);
failed ||= held < asked;

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
