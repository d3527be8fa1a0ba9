// SPDX-License-Identifier: Apache-2.0
// Planted against found: every fault tracegen can plant is found by its rule, at its true cost
// within 5 %, and by no other rule unless that sees the same time; clean jobs have no findings. The
// sums of every trace and step equal the generator's truth.
import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { run_program, stepscope_bin, temporary, tracegen_bin } from "./helpers/tools.mjs";

const COST_NS = 4_000_000; // target for each plant, per step
const TOLERANCE = 0.05;

// Rules that may also see the planted time, and why that is right.
const LIMITED_BY_HOST = "the waits before the kernels are the host's";
const ALL_EXPOSED = "what nothing hides is reported whatever its size";
const PROFILED = "the trust report warns of the profiler's own work";
const ITS_KERNEL = "its shape runs a kernel of an older device that loads one element at a time";
const HOST_WRITES = "the slow steps are slow because the device waits while the host writes";

/** The cost of a plant: nanoseconds in the steady steps, and their number. */
const plant_ns = (name) => ({ steps }) => sum(steps, (step) => step.plants_ns[name]);

/** Idle time with a cause, by the steps in which the gaps start. */
const idle_ns = (cause) => ({ truth, steps }) =>
  sum(steps, ({ begin_ns, end_ns }) => sum(truth.gaps.filter((gap) =>
    gap.cause === cause && gap.begin_ns >= begin_ns && gap.begin_ns < end_ns), (g) => g.dur_ns));

/** The rule reports all time that nothing hides, planted or not, so all of it is its truth. */
const exposed_ns = ({ steps }) => sum(steps, (step) => step.breakdown.exposed_comm_ns);

/** Repeated forward passes, which the truth counts over all steps. */
const repeated_ns = ({ truth, steps }) => steps.length / truth.steps.length *
  sum(truth.modules.filter(({ phase }) => phase === "recompute"), (module) => module.owned_ns);

/** The cost of a plant in the steps that have it: a step without it is unusual, and left out. */
const typical_ns = (name) => ({ steps }) => {
  const costs = steps.map((step) => step.plants_ns[name]).filter((ns) => ns > 0);
  return steps.length * sum(costs, (ns) => ns) / costs.length;
};

const nothing = () => 0;
const sum = (rows, figure) => rows.reduce((all, row) => all + figure(row), 0);

/**
 * A plant, its rule, other rules that may see its time and why, and more: true_ns gives its cost,
 * also lists rules that must see all of it.
 */
const plant = (name, rule, others = {}, more = {}) => ({
  name, args: ["--plant", `${name}=${COST_NS}`], rule, others, true_ns: plant_ns(name), ...more,
});
const idle = (cause, rule) =>
  plant(`idle_${cause}`, rule, {}, { true_ns: idle_ns(cause) });
const long = { steps: 17 };

const CASES = [
  plant("starvation", "starved_data_loading", {}, { true_ns: typical_ns("starvation") }),
  plant("launch_bound", "launch_bound", {}, { also: ["no_cuda_graphs"] }),
  plant("tiny_kernels", "tiny_kernels",
    { launch_bound: LIMITED_BY_HOST, no_cuda_graphs: LIMITED_BY_HOST }),
  plant("exposed_comm", "exposed_communication", {},
    { true_ns: exposed_ns, also: ["low_overlap"] }),
  plant("low_overlap", "low_overlap", {},
    { true_ns: exposed_ns, also: ["exposed_communication"] }),
  plant("pageable_copies", "blocking_copies"),
  plant("fp32_gemm", "gemm_precision"),
  plant("fp8_unused", "fp8_unused"),
  plant("bad_gemm", "gemm_below_roofline",
    { misaligned_products: ITS_KERNEL, older_architecture: ITS_KERNEL }),
  plant("bad_attention", "attention_below_roofline"),
  plant("unfused_attention", "unfused_attention"),
  plant("unfused_optimizer", "unfused_optimizer"),
  plant("periodic_steps", "periodic_slow_steps", { launch_bound: HOST_WRITES }, long),
  plant("unstable_steps", "unstable_steps", {}, long),
  plant("slow_calls", "slow_calls"),
  plant("small_collectives", "small_messages",
    { exposed_communication: ALL_EXPOSED, low_overlap: ALL_EXPOSED }),
  plant("preprocessing", "launch_bound", {}, { true_ns: idle_ns("host_compute") }),
  { ...plant("generator", "launch_bound", {}, { also: ["no_cuda_graphs"] }),
    args: ["--plant", `generator=${COST_NS}`, "--stacks"] },
  // Not faults: layers that differ in every step, a batch that is copied ahead.
  plant("uneven_layers", null),
  plant("prefetch", null),
  idle("sync", "starved_sync"),
  idle("data_loading", "starved_data_loading"),
  idle("allocator", "starved_allocator"),
  idle("host_compute", "launch_bound"),
  idle("launch_overhead", "launch_bound"),
  // The host is not the cause of these: one finding says what is known.
  idle("event_wait", "unexplained_idle"),
  idle("graph_replay", "unexplained_idle"),
  idle("unknown", "unexplained_idle"),
  idle("cold_start", "unexplained_idle"),
  plant("idle_unrecorded", "data_quality", {}, { true_ns: nothing }),
  plant("idle_profiler", "unexplained_idle", { data_quality: PROFILED },
    { true_ns: idle_ns("profiler") }),
  plant("backlog", "data_quality", {}, { true_ns: nothing }),
  plant("overrun", "data_quality", {}, { true_ns: nothing }),
  { name: "checkpointing", args: ["--checkpoint"], rule: "recompute", true_ns: repeated_ns },
  { name: "a leak", args: ["--leak", "50000000", "--held", "part"], rule: "memory_leak" },
  { name: "memory that is full", args: ["--held", "full"], rule: "memory_near_capacity" },
  { name: "memory that is free", args: ["--memory"], rule: "memory_headroom" },
  { name: "memory held for nothing", args: ["--held", "part", "--spare", "spare"],
    rule: "memory_fragmentation" },
];

/** Sizes for --held and --spare by how much of each device's memory they leave free. */
const SIZES = {
  cuda: { part: "42G", full: "74G", spare: "20G" },
  rocm: { part: "100G", full: "183G", spare: "60G" },
};

/** Generates a job of one or more ranks and analyzes it: its first rank, and the run. */
async function analyze(flavour, args) {
  const folder = temporary("findings");
  const sized = args.map((arg) => SIZES[flavour][arg] ?? arg);
  await run_program(tracegen_bin(), ["--flavour", flavour, ...sized, "--out", folder]);
  const { ranks } = JSON.parse(readFileSync(join(folder, "truth.json"), "utf8"));
  const out = await run_program(stepscope_bin(),
    ["analyze", "--format", "json", ...ranks.map(({ file }) => join(folder, file))]);
  rmSync(folder, { recursive: true });
  const { traces, run } = JSON.parse(out);
  return { truth: ranks[0], trace: traces[0], traces, run };
}

/** Every figure of the truth was found. */
function assert_figures(found, expected, where) {
  for (const [name, value] of Object.entries(expected)) {
    assert.equal(found[name], value, `${where}: ${name}`);
  }
}

function assert_truth({ truth, trace }) {
  assert.equal(trace.device_events, truth.device_events);
  assert_figures(trace.breakdown, truth.breakdown, "trace");
  assert.deepEqual(trace.classes, truth.classes);
  assert.equal(trace.tables.steps.length, truth.steps.length);
  truth.steps.forEach((step, i) => {
    assert.equal(trace.tables.steps[i].step, step.step);
    assert_figures(trace.tables.steps[i], step.breakdown, `step ${step.step}`);
  });
}

/** Matrix products and attention are classified correctly, whether composed or fused. */
function assert_categories({ truth, trace }) {
  const owned = (rows, word) =>
    sum(rows.filter(({ category }) => category === word), (row) => row.owned_ns);
  for (const [found, expected] of [["GEMM", "gemm"], ["attention", "attention"]]) {
    assert.equal(owned(trace.tables.categories, found), owned(truth.categories, expected), found);
  }
}

/** Unrecorded time is found to the nanosecond where it was planted, and nowhere else. */
function assert_unrecorded({ truth, trace }) {
  const rows = trace.tables.idle_causes.filter(({ cause, device }) =>
    cause === "unrecorded" && device === null);
  assert.equal(sum(rows, (row) => row.total_ns), truth.idle_causes.unrecorded?.total_ns ?? 0);
}

const findings_of = ({ trace }) => trace.tables.findings ?? [];

/** The truth of the steps that count. */
const steady_of = ({ truth, trace }) =>
  truth.steps.filter((_, i) => trace.tables.steps[i].steady);

/** No time counts twice, and shared time is marked as such. */
function assert_shared_out(result) {
  const findings = findings_of(result), steps = steady_of(result);
  const step_ns = sum(steps, (step) => step.breakdown.window_ns) / steps.length;
  const own_ns = sum(findings, (finding) => finding.own_cost_ns);
  assert.ok(own_ns <= step_ns, `own costs sum to ${own_ns} of a step of ${step_ns} ns`);
  for (const { rule, cost_ns, own_cost_ns, overlaps } of findings) {
    assert.ok(own_cost_ns >= 0 && own_cost_ns <= cost_ns, rule);
    assert.equal(overlaps !== null, own_cost_ns < cost_ns, `${rule} overlaps ${overlaps}`);
    assert.ok(overlaps === null || findings.some((other) => other.rule === overlaps), rule);
  }
}

function assert_cost(finding, true_ns, steps) {
  const expected = true_ns / steps.length;
  const off = Math.abs(finding.cost_ns - expected);
  assert.ok(off <= TOLERANCE * expected,
    `${finding.rule} costs ${finding.cost_ns} ns, truly ${Math.round(expected)} ns`);
}

/** "3-5,9" -> [3, 4, 5, 9] */
const numbers_of = (list) => list.split(",").flatMap((part) => {
  const [first, last = first] = part.split("-").map(Number);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
});

async function assert_found(flavour, strategy, { name, args, rule, others = {}, ...planted }) {
  const { steps: count = 7, true_ns = nothing, also = [] } = planted;
  const result = await analyze(flavour, ["--strategy", strategy, "--layers", "4", "--seed", "12",
    "--steps", String(count), ...args]);
  const found = findings_of(result), steps = steady_of(result);
  // An overrunning event is cut at the next one, which is not where it truly ended.
  if (name !== "overrun") {
    assert_truth(result);
    assert_categories(result);
  }
  assert_unrecorded(result);
  assert_shared_out(result);
  const rules = rule === null ? [] : [rule, ...also];
  const names = found.map((finding) => finding.rule).filter((one) => !others[one]);
  assert.deepEqual(names.sort(), rules.sort());
  for (const one of rules) {
    const finding = found.find((other) => other.rule === one);
    assert_cost(finding, true_ns({ ...result, steps }), steps);
    if (one === "unexplained_idle") assert.doesNotMatch(finding.title, /_/, "causes as words");
  }
  if (planted.steps) {
    const finding = found.find((one) => one.rule === rule);
    const slow = steps.filter((step) => step.plants_ns[name] > 0).map(({ step }) => step);
    assert.deepEqual(numbers_of(finding.steps), slow);
  }
}

for (const flavour of ["cuda", "rocm"]) {
  for (const strategy of ["ddp", "fsdp"]) {
    describe(`planted in a ${flavour} ${strategy} job`, { concurrency: 2 }, () => {
      for (const planted of CASES) {
        const outcome = planted.rule ? `is found by ${planted.rule}` : "is no fault to any rule";
        test(`${planted.name} ${outcome}`, () => assert_found(flavour, strategy, planted));
      }
    });
  }
}

describe("what is planted together", { concurrency: 2 }, () => {
  const together = CASES.filter(({ name }) => ["starvation", "pageable_copies", "fp32_gemm",
    "bad_gemm", "unfused_attention", "unfused_optimizer", "slow_calls", "idle_sync",
    "idle_allocator", "idle_host_compute"].includes(name));
  for (const flavour of ["cuda", "rocm"]) {
    test(`is found one by one, each at its own cost, in a ${flavour} job`, async () => {
      const result = await analyze(flavour, ["--layers", "4", "--steps", "7",
        ...together.flatMap(({ args }) => args)]);
      const found = findings_of(result), steps = steady_of(result);
      assert_shared_out(result);
      const rules = new Set(together.map(({ rule }) => rule));
      const others = new Set(together.flatMap((planted) => Object.keys(planted.others ?? {})));
      const names = found.map(({ rule }) => rule).filter((rule) => !others.has(rule));
      assert.deepEqual(new Set(names), rules);
      for (const rule of rules) {
        const true_ns = sum(together.filter((planted) => planted.rule === rule),
          (planted) => planted.true_ns({ ...result, steps }));
        const finding = found.find((one) => one.rule === rule);
        assert_cost(finding, true_ns, steps);
        assert.ok(finding.own_cost_ns >= 0.95 * finding.cost_ns, `${rule} overlaps`);
      }
    });
  }
});

describe("unequal ranks cost what their finding says", { concurrency: 2 }, () => {
  // A rank with less to compute lets each of the others gain compute time; one that computes longer
  // makes others wait, and its slow kernels explain the same time.
  for (const [straggler, rule, ...why] of [["1=70", "imbalance"],
    ["1=140", "straggler", "slow_rank_kernels"]]) {
    for (const flavour of ["cuda", "rocm"]) {
      test(`--straggler ${straggler} in a ${flavour} job is ${rule} at its own cost`, async () => {
        const { run } = await analyze(flavour, ["--ranks", "4", "--straggler", straggler]);
        const found = findings_of({ trace: run });
        assert.deepEqual(found.map((finding) => finding.rule), [rule, ...why]);
        assert.ok(found[0].cost_ns > 0);
        assert.equal(found[0].own_cost_ns, found[0].cost_ns);
        assert.equal(found[0].overlaps, null);
        if (why.length === 0) return;
        assert.match(found[0].title, /its kernels take longer/);
        assert.equal(found[1].overlaps, rule);
        assert.ok(found[1].own_cost_ns < 0.05 * found[1].cost_ns);
      });
    }
  }
});

describe("a clean job has no findings", { concurrency: 2 }, () => {
  const jobs = [
    ["--layers", "3", "--seed", "11"],
    ["--layers", "4", "--seed", "2", "--steps", "20", "--noise", "2"],
    ["--layers", "6", "--seed", "31", "--stacks", "--sync-events"],
    ["--layers", "12", "--seed", "5", "--steps", "6"],
    ["--layers", "4", "--seed", "77", "--world", "64", "--noise", "0"],
    ["--layers", "4", "--seed", "9", "--held", "part"],
    ["--layers", "24", "--seed", "8", "--steps", "4"],
    ["--layers", "4", "--seed", "6", "--steps", "6", "--ranks", "4"],
  ];
  for (const flavour of ["cuda", "rocm"]) {
    for (const strategy of ["ddp", "fsdp"]) {
      for (const job of jobs) {
        test(`${flavour} ${strategy} ${job.join(" ")}`, async () => {
          const result = await analyze(flavour, ["--strategy", strategy, ...job]);
          assert_truth(result);
          for (const part of [result.run, ...result.traces]) {
            assert.deepEqual(findings_of({ trace: part }).map(({ rule }) => rule), []);
          }
        });
      }
    }
  }
});
