// SPDX-License-Identifier: Apache-2.0
// Each page of a run in one sentence: a number, its unit, and what it is of.
import assert from "node:assert/strict";
import { test } from "node:test";
import { lead_text, ranks_text } from "../../../../../web/views/run/lead_model.mjs";

const row = { scope: "run_median", steps: 2, window_ns: 100e6, busy_ns: 64e6, gemm_ns: 60e6,
  attention_ns: 0, other_compute_ns: 4e6, exposed_comm_ns: 0, exposed_memory_ns: 0,
  idle_host_wait_ns: 36e6, idle_other_ns: 0, unrecorded_ns: 0 };
const data = (summary = {}, more = {}) => ({ breakdown: [row], kernels: [],
  summary: { device_events: 9, step_median_ns: 50e6, ranks: 1, ...summary }, ...more });

test("the overview says the step and its two largest parts", () => {
  assert.equal(lead_text("overview", data()),
    "A step takes 50.0 ms: 60.0 % of it in matrix products, 36.0 % waiting for the host.");
  assert.match(lead_text("overview", data({ ranks: 8 })), /^A step of the typical rank takes 50/);
  assert.equal(lead_text("overview", data({ step_median_ns: null })), "");
});

test("without marked steps the whole recording is not called a step", () => {
  const whole = data({ headline_rank: 2 }, { no_steps: [{ rank: 2, item: "no_steps" }] });
  assert.match(lead_text("overview", whole),
    /^No step is marked; the recording takes 50.0 ms: 60.0 % of it in matrix products/);
  assert.equal(lead_text("timeline", whole),
    "The GPU is busy for 32.0 ms of the recording of 50.0 ms (64.0 %).");
  assert.match(lead_text("overview", data({ headline_rank: 1 }, { no_steps: [{ rank: 2 }] })),
    /^A step takes/);
});

test("other pages say what they are about", () => {
  const kernel = { name: "void f<int>(int)", label: "", op: "aten::mm", per_step_ns: 3e6,
    busy_share: 0.25 };
  assert.equal(lead_text("kernels", data({}, { kernels: [kernel] })), "f<int>, launched by "
    + "aten::mm, takes the most time: 3.00 ms per step, 25.0 % of the busy time.");
  assert.equal(lead_text("timeline", data()),
    "The GPU is busy for 32.0 ms of a step of 50.0 ms (64.0 %).");
  assert.equal(lead_text("ranks", data({ ranks: 4, slowest_rank: 3, rank_spread_share: 0.1 })),
    "Rank 3 is the slowest of 4: its step is 10.0 % longer than the 50.0 ms of the typical rank.");
  assert.equal(lead_text("ranks", data({ ranks: 4, slowest_rank: 3, rank_spread_share: 0.001 })),
    "All 4 ranks end their steps together, after 50.0 ms.");
  assert.match(lead_text("ranks", data({ ranks: 2, slowest_rank: 1, rank_spread_share: 0 })),
    /^Both ranks end their steps together/);
  assert.equal(lead_text("ranks", data({ headline_rank: 0, ranks: 2, rank_spread_share: 0 },
    { no_steps: [{ rank: 0 }] })), "Both recordings take 50.0 ms.");
  assert.equal(lead_text("ranks", data({ headline_rank: 0 })),
    "Only rank 0 was recorded: its step takes 50.0 ms.");
  assert.equal(lead_text("ranks", data({ headline_rank: 0 }, { run: { world_size: 1 } })),
    "The job has one rank: its step takes 50.0 ms.");
});

test("of several ranks a kernel has a share, and no time of one of them beside it", () => {
  const kernel = { name: "f", label: "AllReduce", op: null, per_step_ns: 1e6, busy_share: 0.46 };
  assert.equal(lead_text("kernels", data({ ranks: 16 }, { kernels: [kernel] })),
    "AllReduce takes the most time: 46.0 % of the busy time of all ranks.");
});

test("time of a rank with several GPUs is that of any of them", () => {
  assert.match(lead_text("timeline", data({ devices: 2 })),
    /^At least one of 2 GPUs is busy for 32/);
  assert.match(lead_text("idle", data({ devices: 2 })), /^Both GPUs are idle at once for 18/);
  assert.match(lead_text("idle", data({ devices: 8 })), /^All 8 GPUs are idle at once for 18/);
  assert.match(lead_text("idle", data({ devices: 1 })), /^The GPU is idle for 18/);
});

test("idle time says how much of it waits for the host", () => {
  assert.equal(lead_text("idle", data()), "The GPU is idle for 18.0 ms of a step of 50.0 ms "
    + "(36.0 %), 100.0 % of that waiting for the host.");
  const other = { ...row, idle_host_wait_ns: 0, idle_other_ns: 36e6 };
  assert.match(lead_text("idle", data({}, { breakdown: [other] })), /\(36\.0 %\)\.$/);
});

test("shares are of what was recorded", () => {
  const gaps = data({}, { breakdown: [{ ...row, idle_host_wait_ns: 16e6, unrecorded_ns: 20e6 }] });
  assert.equal(lead_text("timeline", gaps),
    "The GPU is busy for 32.0 ms of the 40.0 ms recorded of a step of 50.0 ms (80.0 %).");
  assert.match(lead_text("idle", gaps), /^The GPU is idle for 8\.00.ms of the 40\.0.ms recorded /);
});

test("a page of another rank or of a range has no sentence of the summary", () => {
  const said = (page, shown) => lead_text(page, data({ headline_rank: 3 }),
    { rank: "", range: "", ...shown });
  assert.notEqual(said("idle", { rank: "3" }), "");
  assert.equal(said("idle", { rank: "4" }), "");
  assert.equal(said("idle", { range: "forward" }), "");
  assert.notEqual(said("timeline", { range: "forward" }), "");
  assert.equal(said("flame", { of: "idle" }), said("idle", {}));
  assert.equal(said("flame", { vs: "r_2" }), "", "two runs have their own");
});

test("nothing is said where nothing is known, or the page says it itself", () => {
  for (const page of ["overview", "kernels", "operators", "ranks"]) {
    assert.equal(lead_text(page, { summary: null }), "");
    assert.equal(lead_text(page, data({ device_events: 0 })), "");
  }
  assert.equal(lead_text("kernels", data()), "");
  assert.equal(lead_text("memory", data()), "");
});

test("a file that failed is no rank", () => {
  const of = (more) => ranks_text({ received: 9, failed: 1, evidence: 0, world_size: 8, ...more });
  assert.equal(of({}), "8 ranks of 8, 1 file failed");
  assert.equal(of({ received: 1, failed: 0, world_size: null }), "1 rank");
  assert.equal(of({ received: 1, world_size: null }), "0 ranks, 1 file failed");
  assert.equal(of({ received: 0, failed: 0, evidence: 2 }), "no trace");
});
