// SPDX-License-Identifier: Apache-2.0
// Random programs of a host thread and its streams, simulated as a device runs them and recorded as
// a profiler would; nothing here is shared with tracegen or the replay. Each is asked what it takes
// after a change, beside the same program simulated with the change: the true answer.
// node tests/bench/random_programs.mjs STEPSCOPE [--programs 60] [--seed 1]
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const [stepscope, ...options] = process.argv.slice(2);
const option = (name, usual) =>
  (options.includes(name) ? Number(options[options.indexOf(name) + 1]) : usual);
const PROGRAMS = option("--programs", 60), SEED = option("--seed", 1);
const STEPS = 8, KERNELS = 6, STREAMS = 3;
const CLOSE = 0.01, FAR = 0.03;

/** Numbers from 0 to 1 (xorshift), the same for a seed every time. */
function random_of(seed) {
  let state = (seed * 2654435761) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return state / 2 ** 32;
  };
}

// --- a program ----------------------------------------------------------------------------------

/** What the host does in each step, in order; times in ns. */
function make_program(seed) {
  const random = random_of(seed);
  const between = (low, high) => Math.round(low + random() * (high - low));
  const kernel_ns = Array.from({ length: KERNELS }, () => between(5000, 400000));
  const host_ns = between(3000, 60000), syncs = random() * 0.1, waits = random() * 0.3;
  const body = Array.from({ length: between(40, 120) }, () => {
    const stream = random() < 0.7 ? 0 : between(1, STREAMS - 1);
    return { kernel: between(0, KERNELS - 1), stream, host_ns: between(host_ns / 2, host_ns * 1.5),
      after: random() < waits ? between(0, STREAMS - 1) : stream, sync: random() < syncs };
  });
  const jitter = Array.from({ length: STEPS }, () => body.map(() => 0.98 + random() * 0.04));
  return { kernel_ns, body, jitter, loading_ns: between(0, 2000000) };
}

const LAUNCH_NS = 4000, LATENCY_NS = 5500, GAP_NS = 1200, RETURN_NS = 2500, CALL_NS = 1500;

/** Runs it: the host launches in order, streams run in order, and waits hold either up. */
function simulate({ kernel_ns, body, jitter, loading_ns }, { kernels, host }) {
  const events = [], free = Array(STREAMS).fill(0), due = Array(STREAMS).fill(0);
  let now = 1000000, correlation = 1;
  const scaled = (ns) => Math.round(ns * host);
  const call = (name, ns, args = {}) => {
    events.push({ cat: "cuda_runtime", name, at: now, ns, args });
    now += ns;
  };
  const wait_for = (name, end) => {
    const ns = scaled(CALL_NS) + Math.max(0, end + RETURN_NS - now - scaled(CALL_NS));
    call(name, ns, { correlation: correlation++ });
  };
  for (let step = 0; step < STEPS; step++) {
    const began = now;
    now += scaled(loading_ns);
    body.forEach((one, i) => {
      const op_at = now;
      now += scaled(one.host_ns);
      if (one.after !== one.stream) {
        due[one.stream] = Math.max(due[one.stream], free[one.after]);
        call("cudaEventRecord", scaled(CALL_NS), { correlation: correlation++ });
        call("cudaStreamWaitEvent", scaled(CALL_NS), { correlation: correlation++ });
      }
      const start = Math.max(now + LATENCY_NS, free[one.stream] + GAP_NS, due[one.stream]);
      const ns = Math.round(kernel_ns[one.kernel] * jitter[step][i] * kernels[one.kernel]);
      events.push({ cat: "kernel", name: `kernel_${one.kernel}`, at: start, ns,
        args: { correlation, stream: 7 + one.stream, device: 0 }, stream: 7 + one.stream });
      free[one.stream] = start + ns;
      call("cudaLaunchKernel", scaled(LAUNCH_NS), { correlation: correlation++ });
      events.push({ cat: "cpu_op", name: `aten::op_${one.kernel}`, at: op_at, ns: now - op_at,
        args: {} });
      if (one.sync) wait_for("cudaStreamSynchronize", free[one.stream]);
    });
    wait_for("cudaDeviceSynchronize", Math.max(...free));
    events.push({ cat: "user_annotation", name: `ProfilerStep#${step}`, at: began, ns: now - began,
      args: {} });
  }
  return events;
}

const us = (ns) => Number((ns / 1000).toFixed(3));
const trace_of = (events) => ({ schemaVersion: 1,
  deviceProperties: [{ id: 0, name: "NVIDIA H100 80GB HBM3", computeMajor: 9 }],
  traceEvents: events.map(({ cat, name, at, ns, args, stream }) => ({ ph: "X", cat, name,
    pid: cat === "kernel" ? 0 : 100, tid: cat === "kernel" ? stream : 100, ts: us(at), dur: us(ns),
    args })) });

// --- questions ----------------------------------------------------------------------------------

const same = () => ({ kernels: Array(KERNELS).fill(1), host: 1 });
const QUESTIONS = [
  ["scale=0.5:kernel=kernel_0", (how) => { how.kernels[0] = 0.5; }],
  ["scale=0.2:kernel=kernel_3", (how) => { how.kernels[3] = 0.2; }],
  ["scale=1.5:kernel=kernel_1", (how) => { how.kernels[1] = 1.5; }],
  ["scale=0.5:class=compute", (how) => { how.kernels.fill(0.5); }],
  ["scale=0.5:host", (how) => { how.host = 0.5; }],
  ["scale=0.25:host;scale=0.7:kernel=kernel_2",
    (how) => { how.host = 0.25; how.kernels[2] = 0.7; }],
];

const folder = mkdtempSync(join(tmpdir(), "stepscope-programs-"));
async function ask(events, change) {
  const file = join(folder, "trace.json");
  writeFileSync(file, JSON.stringify(trace_of(events)));
  const { stdout } = await run(stepscope, ["whatif", "--format", "json", "--change", change, file],
    { maxBuffer: 1 << 28 }).catch((problem) => problem);
  if (!stdout) throw new Error("no answer");
  return JSON.parse(stdout).traces[0];
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const percent = (share) => (100 * share).toFixed(3);
const found = [];
let refused = 0, worst_unchanged = 0;
for (let i = 0; i < PROGRAMS; i++) {
  const program = make_program(SEED + i);
  const recorded = simulate(program, same());
  for (const [change, apply] of QUESTIONS) {
    const how = same();
    apply(how);
    const asked = await ask(recorded, change);
    if (asked.refused) {
      refused++;
      process.stderr.write(`program ${SEED + i}: ${asked.refused}\n`);
      break;
    }
    worst_unchanged = Math.max(worst_unchanged, asked.error_share);
    const [answer] = asked.answers;
    const [{ steps }] = (await ask(simulate(program, how), "scale=1:kernel=none")).answers;
    const truth = mean(answer.steps.map(({ step }) =>
      steps.find((other) => other.step === step).measured_ns));
    const one = { error: Math.abs(answer.candidate_ns - truth) / truth,
      held: answer.low_ns <= truth && truth <= answer.high_ns };
    found.push({ change, ...one });
    if (one.error > CLOSE) {
      process.stderr.write(`program ${SEED + i}: ${percent(one.error)} % off, ${change}\n`);
    }
  }
}
rmSync(folder, { recursive: true });

function row(change, all) {
  const errors = all.map(({ error }) => error).sort((a, b) => a - b);
  const at = (q) => percent(errors[Math.floor(q * (errors.length - 1))] ?? 0);
  const close = errors.filter((error) => error <= CLOSE).length / errors.length;
  const held = all.filter((one) => one.held).length / all.length;
  console.log(`| ${change} | ${all.length} | ${at(0.5)} | ${at(0.95)} | ${at(1)} | ${
    percent(close)} | ${percent(held)} |`);
  return close >= 0.95 && held >= 0.9 && errors.at(-1) <= FAR;
}
console.log(`${PROGRAMS} programs, ${refused} refused, unchanged at most ${
  percent(worst_unchanged)} % off\n`);
console.log("| change | answers | median error % | 95 % | worst | within 1 % | held % |");
console.log("|---|---|---|---|---|---|---|");
for (const [change] of QUESTIONS) row(change, found.filter((one) => one.change === change));
process.exitCode = row("all", found) ? 0 : 1;
