// SPDX-License-Identifier: Apache-2.0
// Recordings of real jobs on an H100, compared with what a clock said about the same jobs.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { analyzed, data, gain_ns, recording, replayed, truth } from "../recorded/promises.mjs";

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const within = (value, low, high, what) =>
  assert.ok(value >= low && value <= high, `${what}: ${value} is not in ${low} to ${high}`);

/** What the CLI says about a recording, once for all tests. @type {Map<string, any>} */
const known = new Map();
async function tables(job) {
  if (!known.has(job)) known.set(job, await analyzed(recording(job)));
  return known.get(job);
}

const finding = async (job, rule) =>
  (await tables(job)).findings.find((found) => found.rule === rule);

test("steps take as long as the clock said while recording", async () => {
  for (const job of ["items", "small", "small_graph"]) {
    const steps = (await tables(job)).steps.map((step) => step.window_ns);
    const ratio = mean(steps) / truth.jobs[job].profiled_mean_step_ns;
    within(ratio, 0.93, 1.03, job);
  }
});

test("the share of the host is given with the profiler and without", async () => {
  const { title, cost_ns, evidence } = await finding("small", "launch_bound");
  const [, share, least] = title.match(/\(([\d.]+) %, (\d+) % or more without the profiler\)/);
  assert.match(JSON.stringify(evidence), /1,855 operators were recorded per step/);
  // By the clock a step without the time of its kernels, which the profiler does not change.
  const [step] = truth.jobs.small.block_mean_step_ns.sort((a, b) => a - b).slice(2);
  const busy = mean((await tables("small")).steps.map((row) => row.busy_ns));
  within(100 * (step - busy) / step, Number(least), Number(share), "share of the host");
  within(step - busy, cost_ns - 1855 * 3300, cost_ns, "wait for the host");
});

test("a graph brings what the finding promises", async () => {
  const { cost_ns, gain_ns: gain } = await finding("small", "no_cuda_graphs");
  const { jobs, faults } = truth;
  const recorded = jobs.small.profiled_mean_step_ns - jobs.small_graph.profiled_mean_step_ns;
  within(cost_ns, 0.8 * recorded, recorded, "while recorded");
  within(faults.small.gain_ns, cost_ns - 1855 * 3300, cost_ns, "without the profiler");
  within(gain, 0.8 * faults.small.gain_ns, faults.small.gain_ns, "simulated without the profiler");
  assert.equal((await finding("small", "launch_bound")).gain_ns, gain);
  within(await gain_ns(recording("small"), "host_free"), faults.small.gain_ns, 1.02 * recorded,
    "with a host that takes no time");
});

test("without the profiler's own time steps take what the clock said", async () => {
  for (const job of ["healthy", "items", "small", "fp32", "unfused"]) {
    const { answers: [{ candidate_ns }] } = await replayed(recording(job), "remove:profiler");
    const [step] = [...truth.jobs[job].block_mean_step_ns].sort((a, b) => a - b).slice(2);
    within(candidate_ns, 0.93 * step, 1.1 * step, job);
  }
});

test("fused attention brings what the finding says once nothing is recorded", async () => {
  const { cost_ns, gain_ns: gain } = await finding("unfused", "unfused_attention");
  const { gain_ns: clock } = truth.faults.unfused;
  within(gain, 0.85 * clock, clock, "gain");
  assert.ok(gain < cost_ns);
});

test("calls that wait for the device are named with what they cost", async () => {
  const { title, cost_ns } = await finding("items", "frequent_syncs");
  assert.match(title, /^40(\.\d)? synchronizing calls per step, most by aten::item, cost /);
  const { gain_ns: clock, standard_error_ns: error } = truth.faults.items;
  within(cost_ns, clock - 3 * error, 2 * clock, "items");
  assert.equal(await finding("small", "frequent_syncs"), undefined);
});

test("the profiler does not count where the device holds the step up", async () => {
  assert.equal(await finding("fp32", "launch_bound"), undefined);
  const { cost_ns, gain_ns: gain } = await finding("fp32", "fp32_without_tensor_cores");
  const { gain_ns: clock } = truth.faults.fp32; // by bf16, which is faster than tf32
  for (const promised of [cost_ns, gain]) within(promised, 0.9 * clock, 1.01 * clock, "fp32");
});

test("two ranks over Gloo wait for the host's collectives, and for the slow loader", async () => {
  const files = [0, 1].map((rank) => join(data, `captured_rank${rank}.json.zst`));
  const { findings } = await analyzed(...files);
  const of = (rule) => findings.find((found) => found.rule === rule);
  const { title: waits } = of("host_collectives");
  assert.match(waits, /for collectives that run on the host \(gloo:all_reduce\)$/);
  assert.equal(findings[0].rule, "host_collectives");
  const { title, cost_ns, ranks } = of("slow_loader");
  assert.match(title, /^rank 1 waits 3\d\.\d ms per step for its data/);
  assert.equal(ranks, "1");
  within(cost_ns, 29e6, 33e6, "the loader sleeps for 30 ms");
});

test("the unchanged replay of each recording reproduces its steps", async () => {
  for (const job of ["healthy", "fp32", "items", "small", "small_graph", "unfused"])
    within(Math.abs(await gain_ns(recording(job), "scale=1:category=GEMM")), 0, 1e4, job);
});
