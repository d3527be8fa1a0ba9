// SPDX-License-Identifier: Apache-2.0
// Traces to upload: generated ones with their truth, small ones written here, real ones.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { real_traces, run_program, temporary, tracegen_bin } from "./tools.mjs";

/**
 * Generates the traces of a job.
 * @param {string[]} args of tracegen
 * @returns {Promise<{folder: string, truth: any, files: {filename: string, data: Buffer}[]}>}
 */
export async function generate(args) {
  const folder = temporary("traces");
  await run_program(tracegen_bin(), [...args, "--out", folder]);
  const truth = JSON.parse(readFileSync(join(folder, "truth.json"), "utf8"));
  const files = truth.ranks.map(({ file }) => ({
    filename: file,
    data: readFileSync(join(folder, file)),
  }));
  return { folder, truth, files };
}

/** Arguments of a job that takes no time to generate and analyze. */
export const small_job = (...more) => ["--ranks", "2", "--steps", "5", "--layers", "2", ...more];

const STEP_US = 1000;
const BASE_US = 5_000_000_000;

/** Host and device rows of one kernel launch: operator, launch call, kernel. */
function launch_rows(name, number, ts, dur) {
  const ids = { "External id": number, correlation: number };
  const host = { ph: "X", pid: 1, tid: 1 };
  return [
    { ...host, cat: "cpu_op", name: "aten::mul", ts: ts - 3, dur: 3,
      args: { "External id": number } },
    { ...host, cat: "cuda_runtime", name: "cudaLaunchKernel", ts: ts - 2, dur: 1, args: ids },
    { ph: "X", cat: "kernel", name, pid: 0, tid: 7, ts, dur,
      args: { ...ids, device: 0, stream: 7, grid: [1, 1, 1], block: [64, 1, 1] } },
  ];
}

/**
 * A small trace: in each step one call of each kernel, one after another.
 * @param {{names?: string[], steps?: number, rank?: number | null, world_size?: number,
 *          kernel_us?: number}} [what]
 */
export function small_trace(what = {}) {
  const { names = ["kernel_a"], steps = 4, rank = null, world_size = 1, kernel_us = 20 } = what;
  const step_us = Math.max(STEP_US, (kernel_us + 5) * (names.length + 4));
  const events = [];
  for (let step = 0; step < steps; step++) {
    const begin = BASE_US + step * step_us;
    events.push({ ph: "X", cat: "user_annotation", name: `ProfilerStep#${step}`, pid: 1, tid: 1,
      ts: begin, dur: step_us - 1 });
    names.forEach((name, i) => {
      const ts = begin + 10 + i * (kernel_us + 5);
      events.push(...launch_rows(name, 1 + step * names.length + i, ts, kernel_us));
    });
  }
  const info = { distributedInfo: { backend: "nccl", rank, world_size } };
  return {
    schemaVersion: 1,
    deviceProperties: [{ id: 0, name: "NVIDIA H100", numSms: 132 }],
    ...(rank === null ? {} : info),
    traceEvents: events,
  };
}

/** A small trace as bytes. */
export const small_json = (what) => Buffer.from(JSON.stringify(small_trace(what)));

/** The same as a file in which no step is marked. */
export function unmarked_file(what) {
  const trace = small_trace(what);
  trace.traceEvents = trace.traceEvents.filter(({ cat }) => cat !== "user_annotation");
  return { data: Buffer.from(JSON.stringify(trace)), filename: "rank0.json" };
}

/** Whether the real traces are available. */
export const have_real_traces = () => existsSync(join(real_traces, "reference"));

/** Names of the real traces, without folder and extension. */
export function real_names() {
  return readdirSync(real_traces)
    .filter((file) => file.endsWith(".json.gz"))
    .map((file) => file.replace(/\.json\.gz$/, ""));
}

export const real_file = (name) => join(real_traces, `${name}.json.gz`);

export const real_reference = (name) =>
  JSON.parse(readFileSync(join(real_traces, "reference", `${name}.json`), "utf8"));
