// SPDX-License-Identifier: Apache-2.0
// What a change would bring, against the same job generated with that change: the true answer.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { run_program, stepscope_bin, temporary, tracegen_bin } from "./helpers/tools.mjs";

const SEEDS = Number(process.env.STEPSCOPE_TRIALS ?? 1);
// What was done to a job, and the change that undoes it.
const FAULTS = [
  [["--slow", "gemm=150"], `scale=${100 / 150}:category=GEMM`],
  [["--slow", "attention=200"], "scale=0.5:category=attention"],
  [["--slow", "elementwise=300"], `scale=${1 / 3}:category=elementwise`],
  [["--slow", "norm=400"], "scale=0.25:category=normalization"],
  [["--slow", "comm=200"], "scale=0.5:class=communication"],
  [["--slow", "comm=400"], "scale=0.25:class=communication"],
  [["--slow-op", "aten::mm=250"], "scale=0.4:op=aten::mm"],
  [["--plant", "starvation=5000000"], "data_ready"],
];

async function generate(args) {
  const folder = temporary("whatif");
  await run_program(tracegen_bin(), [...args, "--out", folder]);
  return join(folder, "rank0.json");
}

async function whatif(file, change) {
  const args = ["whatif", "--format", "json", "--change", change, file];
  const [trace] = JSON.parse(await run_program(stepscope_bin(), args)).traces;
  return { ...trace, answer: trace.answers[0] };
}

const sum_of = (values) => values.reduce((sum, value) => sum + value, 0);
const mean = (values) => sum_of(values) / values.length;

/** The mean of the same steps of another recording. */
const same_steps = (clean, steps) =>
  mean(steps.map(({ step }) => clean.find((other) => other.step === step).measured_ns));

describe("what if", () => {
  for (const flavour of ["cuda", "rocm"])
    for (const strategy of ["ddp", "fsdp"])
      test(`the undone fault takes as long as the job without it: ${flavour}, ${strategy}`,
        async () => {
          let inside = 0;
          for (let seed = 1; seed <= SEEDS; seed++) {
            const job = ["--seed", `${seed}`, "--steps", "10", "--layers", "4",
              "--flavour", flavour, "--strategy", strategy];
            const clean = (await whatif(await generate(job), "host_free")).answer.steps;
            for (const [fault, change] of FAULTS) {
              const { answer, ...trace } = await whatif(await generate([...job, ...fault]), change);
              const what = `${fault.join(" ")}, seed ${seed}`;
              const truth_ns = same_steps(clean, answer.steps);
              assert.ok(trace.error_share <= 0.001, `${what}: unchanged ${trace.error_share}`);
              assert.ok(Math.abs(answer.candidate_ns - truth_ns) <= 0.01 * truth_ns,
                `${what}: found ${answer.candidate_ns}, the truth is ${truth_ns}`);
              inside += answer.low_ns <= truth_ns && truth_ns <= answer.high_ns;
            }
          }
          assert.ok(inside >= 0.85 * SEEDS * FAULTS.length, `${inside} intervals hold the truth`);
        });

  test("ranks with skewed clocks are replayed together: what a straggler costs", async () => {
    const mesh = async (...args) => {
      const folder = temporary("whatif");
      await run_program(tracegen_bin(), ["mesh", "--tp", "2", "--pp", "2", "--dp", "2", "--skew",
        "20000000", ...args, "--out", folder]);
      return readdirSync(folder).filter((name) => name.startsWith("rank"))
        .map((name) => join(folder, name));
    };
    const together = async (files, change) => {
      const args = ["whatif", "--format", "json", "--change", change, ...files];
      const run = JSON.parse(await run_program(stepscope_bin(), args));
      for (const { error_share, file } of run.traces)
        assert.ok(error_share <= 0.001, `${file}: unchanged ${error_share}`);
      assert.ok(run.joint_calls > 0);
      return run.traces.map(({ measured_ns, answers: [{ candidate_ns }] }) =>
        ({ measured_ns, candidate_ns }));
    };
    const clean = await together(await mesh(), "balanced");
    const slow = await together(
      await mesh("--straggler", "5=3000000", "--cause", "compute_slower"), "balanced");
    slow.forEach(({ measured_ns, candidate_ns }, rank) => {
      const truth_ns = clean[rank].measured_ns;
      assert.ok(measured_ns > 1.03 * truth_ns, `rank ${rank} is not slower`);
      assert.ok(Math.abs(candidate_ns - truth_ns) <= 0.01 * truth_ns,
        `rank ${rank}: found ${candidate_ns}, the truth is ${truth_ns}`);
    });
    const wrong = spawnSync(stepscope_bin(), ["whatif", ...[1, 2].map(() =>
      join(temporary("whatif"), "absent.json"))]);
    assert.equal(wrong.status, 3);
  });

  test("the parts of the critical path sum to the steps to the nanosecond", async () => {
    const { critical_path_ns, answer } = await whatif(
      await generate(["--steps", "6", "--layers", "2", "--plant", "launch_bound"]), "host_free");
    assert.equal(sum_of(Object.values(critical_path_ns)),
      sum_of(answer.steps.map(({ measured_ns }) => measured_ns)));
    assert.ok(critical_path_ns.compute > 0 && critical_path_ns.host > 0);
  });

  test("without a change each ready-made one is answered", async () => {
    const file = await generate(["--steps", "6", "--layers", "2"]);
    const text = await run_program(stepscope_bin(), ["whatif", file]);
    for (const name of ["host_free", "data_ready", "infinite_network", "network_x2", "no_copies"])
      assert.match(text, new RegExp(`^ {2}${name} +\\d`, "m"));
    assert.match(text, /rank0\.json: 5 steady steps of .*; the unchanged replay misses 0\.00 %/);
  });

  test("a wrong change says what one looks like, a trace without a device why not", async () => {
    const file = await generate(["--steps", "3", "--layers", "2"]);
    const wrong = spawnSync(stepscope_bin(), ["whatif", "--change", "faster", file]);
    assert.equal(wrong.status, 2);
    assert.match(`${wrong.stderr}`, /found change 'faster', expected such as scale=0\.5:category=/);
    const both = await whatif(file, "network_x2;scale=0.5:kernel=*");
    assert.equal(both.answer.touched_ns.length, 2);
  });
});
