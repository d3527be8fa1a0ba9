#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// What findings and changes promised for recorded jobs, against what undoing the fault brought by
// the clock.
//
//     tests/recorded/promises.mjs [FOLDER]   recordings as JOB.json.zst or JOB/rank0.json.gz
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { run_program, stepscope_bin } from "../e2e/helpers/tools.mjs";

export const data = fileURLToPath(new URL("data", import.meta.url));
export const truth = JSON.parse(readFileSync(join(data, "truth.json"), "utf8"));

// The job without the fault, the rule that names it, and the change that undoes it.
export const FAULTS = {
  starved: ["healthy", "starved_data_loading", "data_ready"],
  pageable: ["healthy", "blocking_copies", "no_copies"],
  items: ["healthy", "frequent_syncs", "drop:op=aten::item"],
  unfused: ["healthy", "unfused_attention", null],
  fp32: ["healthy", "fp32_without_tensor_cores", null],
  odd_vocabulary: ["healthy", "misaligned_products", null],
  small: ["small_graph", "no_cuda_graphs", "host_free"],
};

/** @returns {string | undefined} the job's recording, if it is there */
export const recording = (job, folder = data) =>
  [join(folder, `${job}.json.zst`), join(folder, job, "rank0.json.gz")].find(existsSync);

/** All tables of the run whose ranks the recordings are. */
export async function analyzed(...files) {
  const args = ["analyze", "--format", "json", ...files];
  return JSON.parse(await run_program(stepscope_bin(), args)).run.tables;
}

/** The recording's replay with a change. */
export async function replayed(file, change) {
  const args = ["whatif", "--format", "json", "--change", change, file];
  return JSON.parse(await run_program(stepscope_bin(), args)).traces[0];
}

/** What a change brings to the mean step. */
export async function gain_ns(file, change) {
  const trace = await replayed(file, change);
  return trace.measured_ns - trace.answers[0].candidate_ns;
}

const ms = (ns) => (ns === undefined || ns === null ? "-" : (ns / 1e6).toFixed(2));

async function print(folder) {
  console.log("| fault | finding | cost ms | its gain ms | change | gain ms | by the clock ms |"
    + " while recorded ms |");
  console.log("|---|---|---|---|---|---|---|---|");
  for (const [job, [right, rule, change]] of Object.entries(FAULTS)) {
    const file = recording(job, folder);
    if (!file) continue;
    const found = (await analyzed(file)).findings.find((finding) => finding.rule === rule);
    const { gain_ns: clock, standard_error_ns: error } = truth.faults[job];
    const recorded = truth.jobs[job].profiled_mean_step_ns
      - truth.jobs[right].profiled_mean_step_ns;
    console.log(`| ${job} | ${rule} | ${ms(found?.cost_ns)} | ${ms(found?.gain_ns)} |`
      + ` ${change ?? "-"} | ${change ? ms(await gain_ns(file, change)) : "-"} |`
      + ` ${ms(clock)} +- ${ms(error)} | ${ms(recorded)} |`);
  }
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url))
  await print(process.argv[2] ? resolve(process.argv[2]) : data);
