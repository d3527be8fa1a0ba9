// SPDX-License-Identifier: Apache-2.0
// Jobs of many ranks: what was planted in them against what is found. Larger ones on demand, see
// README.md.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  assert_clocks, bubbles_of, deviations, figures_of, in_steady, mesh, micro_batches_of,
  overall_of, rules_of, words_of,
} from "./helpers/ranks.mjs";

const MOST_RANKS = Number(process.env.STEPSCOPE_MOST_RANKS ?? 64);

// Nothing is wrong with these. Names of dimensions and degrees are worked out from the truth.
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

/** Clocks, waits, transfers, bubbles, the way the job is spread. */
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
  const spread = (args) => args.replace(/ --(layers|steps|no-sequence).*/, "");
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
      const told = job.found.quality.filter(({ item }) => item === "missing_ranks");
      assert.equal(told.length, lost === null ? 0 : 1);
      if (lost !== null) assert.match(told[0].detail, new RegExp(`: ${lost}$`));
      assert.ok(!rules_of(job).includes("straggler"));
    });
  }
});

test("without metadata of collectives no wait is made up", async () => {
  const job = await mesh("--dp 4 --no-metadata");
  assert.equal(overall_of(job), "DDP");
  assert.ok(job.found.rank_steps.every((row) => row.wait_ns === null));
  assert.ok(job.found.lateness.every((row) => row.caused_wait_ns === 0));
});
