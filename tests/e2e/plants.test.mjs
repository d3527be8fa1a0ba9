// SPDX-License-Identifier: Apache-2.0
// Every fault that can be planted is found with about its cost, on both vendors and strategies; a
// clean job is told clean. Sums of every trace and step equal the generator's truth.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run_program, stepscope_bin, temporary, tracegen_bin } from "./helpers/tools.mjs";

/** The rule that must find a plant, and others that may: they see the same time. */
const RULES = {
  exposed_comm: ["exposed_communication", "low_overlap"],
  starvation: ["starved_data_loading"],
  tiny_kernels: ["tiny_kernels", "launch_bound", "no_cuda_graphs"],
  low_overlap: ["low_overlap", "exposed_communication"],
  pageable_copies: ["blocking_copies", "launch_bound"],
  idle_sync: ["starved_sync"],
  idle_data_loading: ["starved_data_loading"],
  idle_allocator: ["starved_allocator"],
  idle_host_compute: ["launch_bound"],
  idle_launch_overhead: ["launch_bound"],
};
const COST_NS = 4_000_000;

/** Generates a job of one rank and analyses it. */
async function analyse(...args) {
  const folder = temporary("plants");
  await run_program(tracegen_bin(), ["--steps", "6", "--layers", "4", ...args, "--out", folder]);
  const truth = JSON.parse(readFileSync(join(folder, "truth.json"), "utf8"));
  const files = truth.ranks.map(({ file }) => join(folder, file));
  const out = await run_program(stepscope_bin(), ["analyze", "--format", "json", ...files]);
  return { truth: truth.ranks[0], trace: JSON.parse(out).traces[0] };
}

/** Every figure of the truth stands in what was found. */
function assert_figures(found, expected, where) {
  for (const [name, value] of Object.entries(expected)) {
    assert.equal(found[name], value, `${where}: ${name}`);
  }
}

function assert_truth({ truth, trace }, where) {
  assert.equal(trace.device_events, truth.device_events, where);
  assert_figures(trace.breakdown, truth.breakdown, where);
  assert.deepEqual(trace.classes, truth.classes, where);
  assert.equal(trace.tables.steps.length, truth.steps.length, where);
  truth.steps.forEach((step, i) => {
    assert.equal(trace.tables.steps[i].step, step.step, where);
    assert_figures(trace.tables.steps[i], step.breakdown, `${where}, step ${step.step}`);
  });
}

const findings_of = ({ trace }) => trace.tables.findings ?? [];

for (const flavour of ["cuda", "rocm"]) {
  for (const strategy of ["ddp", "fsdp"]) {
    const job = ["--flavour", flavour, "--strategy", strategy];

    test(`a clean ${flavour} ${strategy} job has no findings`, async () => {
      const result = await analyse(...job, "--seed", "11");
      assert_truth(result, "clean");
      assert.deepEqual(findings_of(result).map(({ rule }) => rule), []);
    });

    for (const [plant, rules] of Object.entries(RULES)) {
      test(`${plant} is found in a ${flavour} ${strategy} job`, async () => {
        const result = await analyse(...job, "--seed", "12", "--plant", `${plant}=${COST_NS}`);
        assert_truth(result, plant);
        const found = findings_of(result);
        const strangers = found.filter(({ rule }) => !rules.includes(rule));
        assert.deepEqual(strangers.map(({ rule }) => rule), []);
        const finding = found.find(({ rule }) => rule === rules[0]);
        assert.ok(finding, `${rules[0]} is silent`);
        const { plants_ns, idle_causes, steps } = result.truth;
        const cost_ns = plants_ns[plant] ?? idle_causes[plant.slice("idle_".length)].total_ns;
        const planted = cost_ns / steps.length;
        assert.ok(finding.cost_ns >= 0.9 * planted, `${finding.cost_ns} of ${planted} ns`);
        assert.ok(finding.cost_ns <= 1.5 * planted, `${finding.cost_ns} of ${planted} ns`);
      });
    }
  }
}
