// SPDX-License-Identifier: Apache-2.0
// Jobs of many ranks: what was planted against what is found. Larger ones on demand, see README.md.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  assert_clocks, bubbles_of, deviations, figures_of, in_steady, mesh, meshes_as_one,
  micro_batches_of, overall_of, rules_of, words_of,
} from "./helpers/ranks.mjs";

const MOST_RANKS = Number(process.env.STEPSCOPE_MOST_RANKS ?? 64);

// Nothing is wrong with these. Names and degrees of dimensions are derived from the truth.
const CLEAN = [
  "--dp 4",
  "--dp 16",
  "--dp 4 --micro-batches 4",
  "--dp 64 --layers 2",
  "--dp 8 --data fsdp",
  "--dp 8 --data zero1",
  "--dp 8 --data zero1 --micro-batches 4",
  "--dp 8 --data zero2",
  "--dp 4 --data zero3 --micro-batches 2",
  "--tp 8",
  "--tp 4 --sequence-parallel",
  "--pp 2 --micro-batches 8",
  "--pp 4 --schedule gpipe",
  "--tp 4 --dp 2 --data zero1",
  "--tp 2 --dp 4 --data fsdp --sequence-parallel",
  "--dp 8 --ep 4",
  "--dp 8 --ep 8 --data zero2",
  "--tp 2 --dp 4 --ep 2",
  "--pp 2 --dp 4 --data fsdp",
  "--pp 4 --dp 2 --data zero1 --schedule gpipe",
  "--pp 2 --dp 4 --ep 2",
  "--tp 2 --pp 2 --dp 4 --ep 2 --data fsdp",
  "--tp 4 --pp 2 --dp 4 --ep 4 --data zero1 --sequence-parallel",
  "--pp 2 --passing lent",
  "--pp 4 --dp 2 --passing lent --flavour rocm",
  "--pp 2 --passing batched --micro-batches 8",
  "--pp 4 --passing batched --schedule gpipe",
  "--pp 4 --dp 2 --passing batched --data zero1",
  "--tp 2 --pp 4 --dp 2 --passing batched --flavour rocm --layers 2",
  "--pp 4 --sends-only",
  "--pp 2 --sends-only --passing lent --flavour rocm",
  "--pp 4 --sends-only --passing batched",
  "--tp 2 --pp 2 --sends-only",
  "--tp 2 --pp 2",
  "--tp 2 --pp 2 --dp 2",
  "--tp 2 --pp 2 --dp 2 --data zero2 --sequence-parallel",
  "--tp 2 --pp 4 --dp 4 --ep 2 --steps 4 --layers 2",
  "--tp 8 --dp 4 --no-sequence",
  "--tp 8 --pp 4 --dp 8 --data zero1 --layers 2 --steps 4",
  "--tp 8 --pp 8 --dp 16 --micro-batches 16",
];

const LATE = [
  "--dp 4 --straggler 0=10000000 --cause compute_slower",
  "--dp 8 --straggler 3=10000000 --cause more_work",
  "--dp 8 --straggler 3=10000000 --cause data_loading",
  "--dp 8 --data fsdp --straggler 7=10000000 --cause host",
  "--dp 8 --data zero2 --straggler 5=10000000 --cause copies",
  "--tp 4 --dp 2 --straggler 6=10000000 --cause compute_slower",
  "--tp 4 --dp 8 --data fsdp --straggler 21=10000000 --cause data_loading --steps 4",
  "--dp 8 --ep 4 --straggler 2=10000000 --cause more_work",
  "--tp 2 --pp 2 --dp 2 --straggler 5=15000000 --cause copies",
  "--pp 4 --dp 4 --straggler 7=20000000 --cause more_work --layers 2",
  "--tp 2 --pp 4 --dp 4 --straggler 5=20000000 --cause host --layers 2 --steps 4",
  "--tp 8 --pp 4 --dp 8 --straggler 100=20000000 --cause data_loading --layers 2 --steps 4",
  "--tp 8 --pp 8 --dp 16 --straggler 777=30000000 --cause compute_slower",
];

const ranks_in = (args) => ["tp", "pp", "dp"]
  .reduce((all, name) => all * Number(args.match(`--${name} (\\d+)`)?.[1] ?? 1), 1);
const affordable = (jobs) => jobs.filter((args) => ranks_in(args) <= MOST_RANKS);

/** Clocks, waits, transfers, bubbles, the parallel strategy. */
function assert_found(job) {
  assert_clocks(job);
  assert.deepEqual(deviations(figures_of(job)), [], job.args);
  assert.deepEqual(deviations(bubbles_of(job)), [], job.args);
  assert.equal(overall_of(job), words_of(job.truth.strategy), job.args);
  assert.equal(micro_batches_of(job), job.truth.micro_batches, job.args);
}

describe("in a clean job clocks, waits, transfers, bubbles, strategy are right, no fault is found",
  () => {
    for (const args of affordable(CLEAN)) {
      test(args, async () => {
        const job = await mesh(args);
        assert_found(job);
        const by_design = job.truth.ideal_share >= 0.3 ? ["pipeline_bubble"] : [];
        assert.deepEqual(rules_of(job).filter((rule) => !by_design.includes(rule)), []);
      });
    }
  });

test("the clean jobs are spread in 20 ways or more", () => {
  const spread = (args) => args.replace(/ --(layers|steps|no-sequence|passing|sends-only).*/, "");
  assert.ok(new Set(affordable(CLEAN).map(spread)).size >= 20);
});

describe("the straggler is named with its cause and what it costs the others", () => {
  for (const args of affordable(LATE)) {
    test(args, async () => {
      const job = await mesh(args);
      assert_found(job);
      const { rank, cause } = job.truth.straggler;
      const [latest] = job.found.lateness;
      assert.equal(latest.rank, rank);
      assert.equal(latest.reason, cause);
      if (/^--dp \d+ --straggler/.test(args)) { // nobody passes waits on
        assert.deepEqual(deviations([{ what: "caused waits", truth: in_steady(job,
          job.truth.straggler.caused_wait_ns), found: latest.caused_wait_ns }]), []);
      }
      const finding = job.found.findings.find(({ rule }) => rule === "straggler");
      assert.equal(finding?.ranks, String(rank));
      const planted_ns = Number(args.match(/--straggler \d+=(\d+)/)[1]);
      assert.deepEqual(deviations([{ what: "cost", truth: planted_ns, found: finding.cost_ns,
        slack: planted_ns * 0.04 }]), []);
    });
  }
});

// A clock that is set back repeats timestamps, which makes calls at those times ambiguous.
describe("clocks that drift or jump are straightened, and the trust report says so", () => {
  for (const [args, drifts, jumps] of [
    ["--tp 2 --dp 4 --drift 2=20 --drift 5=-45 --steps 40", { 2: 20, 5: -45 }, {}],
    ["--dp 4 --jump 1=8000000 --steps 12", {}, { 1: 8_000_000 }],
    ["--dp 2 --flavour rocm --drift 1=20 --jump 1=8000000 --steps 30", { 1: 20 },
      { 1: 8_000_000 }],
    ["--tp 2 --dp 2 --jump 1=-2000000 --steps 20", {}, { 1: -2_000_000 }],
    ["--pp 4 --sends-only --drift 2=40 --steps 20", { 2: 40 }, {}],
    ["--pp 4 --sends-only --passing batched --flavour rocm --jump 2=8000000 --steps 12", {},
      { 2: 8_000_000 }],
    ["--tp 2 --dp 4 --steps 40", {}, {}],
  ]) {
    test(args, async () => {
      const job = await mesh(args);
      assert_clocks(job);
      assert.deepEqual(deviations(figures_of(job)), []);
      for (const { rank, drift_ppm, jumps: count, jump_ns } of job.found.clocks) {
        const drift = drifts[rank] ?? 0, jump = jumps[rank] ?? 0;
        assert.ok(Math.abs(drift_ppm - drift) <= (drift ? 1.5 : 0), `${rank}: ${drift_ppm} ppm`);
        assert.equal(count, jump ? 1 : 0, `rank ${rank}`);
        if (jump) assert.ok(Math.abs(jump_ns - jump) <= 5000, `rank ${rank}: ${jump_ns} ns`);
      }
      const doubts = job.found.trust?.filter(({ item }) => /^clock_/.test(item)) ?? [];
      const expected = [...(Object.keys(jumps).length ? ["clock_jump"] : []),
        ...(Object.keys(drifts).length ? ["clock_drift"] : [])];
      assert.deepEqual(doubts.map(({ item }) => item), expected);
    });
  }
});

test("metadata on few ranks makes no second row of a dimension", async () => {
  for (const args of ["--dp 8 --metadata-ranks 2", "--tp 2 --dp 4 --metadata-ranks 3"]) {
    const job = await mesh(args);
    assert.equal(overall_of(job), words_of(job.truth.strategy), args);
    const rows = job.found.strategy.filter(({ dimension }) => dimension !== "overall");
    assert.equal(new Set(rows.map(({ dimension }) => dimension)).size, rows.length, args);
  }
});

// Devices that take 12 % longer for the same work, and what their ranks have in common.
const SLOW = [
  ["--dp 8 --slow-ranks 5=12", "5", ""],
  ["--dp 8 --data fsdp --slow-ranks 0-3=12", "0-3", ""],
  ["--dp 16 --slow-ranks 8-15=12", "8-15", " (node 1)"],
  ["--dp 16 --slow-ranks 0-7=12 --flavour rocm", "0-7", " (node 0)"],
  ["--tp 2 --dp 4 --slow-ranks 2-3=12 --flavour rocm", "2-3", " (a group of tensor parallelism)"],
  ["--tp 2 --pp 2 --dp 2 --slow-ranks 4-7=12", "4-7", " (stage 1)"],
];

describe("slow devices are one cause with what they take longer", () => {
  for (const [args, ranks, place] of SLOW) {
    test(args, async () => {
      const { truth, found } = await mesh(args);
      const slow = found.findings.find(({ rule }) => rule === "slow_rank_kernels");
      assert.equal(slow?.ranks, ranks);
      assert.ok(slow.title.includes(`${ranks}${place} than`), slow.title);
      assert.deepEqual(deviations([{ what: "cost", truth: truth.planted.ns_per_step,
        found: slow.cost_ns, slack: truth.planted.ns_per_step * 0.04 }]), []);
      const straggler = found.findings.find(({ rule }) => rule === "straggler");
      if (!args.includes("--pp")) {
        assert.equal(straggler?.ranks, ranks);
        assert.equal(slow.own_cost_ns, 0);
      }
      assert.ok(!rules_of({ found }).includes("imbalance"));
      for (const { advice } of found.findings) assert.doesNotMatch(advice, /out of the job/);
    });
  }
});

// Longer sequences, more layers, more tokens for the experts: all devices are equally fast.
const MORE = [
  ["--dp 8 --more 3=longer:20", "3"],
  ["--dp 8 --more 3=layers:25 --flavour rocm", "3"],
  ["--dp 8 --more 3=experts:60", "3"],
  ["--dp 16 --more 8-15=longer:20 --flavour rocm", "8-15"],
  ["--dp 8 --ep 4 --more 6=experts:60 --flavour rocm", "6"],
  ["--pp 4 --dp 2 --more 4-5=layers:50", null],
];

describe("more work is no slow device", () => {
  for (const [args, ranks] of MORE) {
    test(args, async () => {
      const { truth, found } = await mesh(args);
      const rules = rules_of({ found });
      assert.ok(!rules.includes("slow_rank_kernels"));
      if (ranks === null) { // a stage: others wait for it in the pipeline
        assert.ok(rules.includes("imbalance"));
        assert.ok(!rules.includes("straggler"));
        return;
      }
      const straggler = found.findings.find(({ rule }) => rule === "straggler");
      assert.equal(straggler?.ranks, ranks);
      assert.match(straggler.title, /more to compute/);
      assert.deepEqual(deviations([{ what: "cost", truth: truth.planted.ns_per_step,
        found: straggler.cost_ns, slack: truth.planted.ns_per_step * 0.04 }]), []);
    });
  }
});

describe("nothing is judged across two jobs in one run", () => {
  const hours = 7_200_000_000_000;
  for (const [first, second, sign] of [
    ["--dp 8", `--dp 8 --seed 2 --later ${hours}`, "time"],
    ["--dp 8 --straggler 1=10000000", "--dp 8 --flavour rocm", "device"],
    ["--dp 8", "--dp 4 --tp 4 --seed 2", "number of ranks"],
  ]) {
    test(`${first} and ${second}`, async () => {
      const { found } = await meshes_as_one([[0, 3, first], [4, 6, second]]);
      assert.equal(found.findings[0].rule, "several_jobs");
      assert.equal(found.findings[0].severity, "high");
      assert.equal(found.trust[0].item, "several_jobs");
      assert.equal(found.trust[0].severity, "error");
      assert.match(found.trust[0].detail, new RegExp(`${sign}.*: 4-6$`));
      assert.deepEqual(rules_of({ found }).filter((rule) =>
        ["straggler", "exposed_wait", "imbalance", "slow_rank_kernels", "slow_link"]
          .includes(rule)), []);
      assert.equal(found.efficiency, undefined);
      const component = new Map(found.clocks.map((row) => [row.rank, row.component]));
      assert.equal(component.get(0), component.get(3));
      assert.equal(component.get(4), component.get(6));
      assert.notEqual(component.get(0), component.get(4));
    });
  }
  test("and the ranks of one job are judged together", async () => {
    const { found } = await meshes_as_one([[0, 3, "--dp 8"], [4, 7, "--dp 8"]]);
    assert.ok(!found.findings?.some(({ rule }) => rule === "several_jobs"));
    assert.ok(found.efficiency.length > 0);
  });
});

test("groups that cross a slow link are named", async () => {
  const job = await mesh("--tp 8 --dp 2 --pp 4 --slow-link 2-3=2000 --layers 2 --steps 4");
  assert_found(job);
  const slow = job.truth.groups.filter((group) => group.slow && group.dimension === "data");
  assert.equal(slow.length, 8);
  const finding = job.found.findings.find(({ rule }) => rule === "slow_link");
  assert.ok(slow.some(({ ranks }) => finding?.ranks === ranks.join(",")), finding?.ranks);
  assert.ok(!rules_of(job).includes("straggler"));
});

describe("what is missing is survived, and the rest is right", () => {
  for (const args of [
    "--tp 4 --dp 8 --drop 9=8", "--dp 4 --no-sequence --drop 2=2", "--pp 4 --dp 2 --drop 3=9",
    "--tp 4 --dp 8 --without 9", "--dp 4 --data fsdp --without 0",
  ]) {
    test(args, async () => {
      const job = await mesh(args);
      assert_found(job);
      const lost = job.truth.missing_rank;
      const doubts = job.found.trust.filter(({ item }) => item === "missing_ranks");
      assert.equal(doubts.length, lost === null ? 0 : 1);
      if (lost !== null) assert.match(doubts[0].detail, new RegExp(`: ${lost}$`));
      assert.ok(!rules_of(job).includes("straggler"));
    });
  }
});

test("without metadata of collectives no wait is made up", async () => {
  const job = await mesh("--dp 4 --no-metadata");
  assert.equal(overall_of(job), "DDP");
  assert.ok(job.found.rank_steps.every((row) => row.wait_ns === null));
  assert.equal(job.found.lateness, undefined);
});
