// SPDX-License-Identifier: Apache-2.0
// Training logs as frameworks print them, of steps of 2 seconds.
const START = Date.UTC(2026, 10, 20, 8);
const CHECKPOINT_AFTER = 20; // whose next step takes 3 seconds more

const stamp = (seconds) => new Date(START + seconds * 1000).toISOString()
  .replace("T", " ").replace("Z", "");

const seconds_of = (step) => (step === 1 ? 30 : step === CHECKPOINT_AFTER + 1 ? 5 : 2);

/** Steps 1 to `steps` with their loss and the time at which each ends. */
export function steps_of(steps) {
  let at = 0;
  return Array.from({ length: steps }, (_, i) => {
    at += seconds_of(i + 1);
    return { step: i + 1, at, seconds: seconds_of(i + 1), loss: 12 - i * 0.05 };
  });
}

const ARGUMENTS = ["------------------------ arguments ------------------------",
  "  global_batch_size ............................... 128",
  "  seq_length ...................................... 4096",
  "-------------------- end of arguments ---------------------", ""].join("\n");

/** As Megatron-LM prints it, its arguments first. */
export function megatron_log({ steps }) {
  return ARGUMENTS + steps_of(steps).map(({ step, at, seconds, loss }) => [
    ` [${stamp(at)}] iteration ${step}/ ${steps}`, `consumed samples: ${step * 128}`,
    `elapsed time per iteration (ms): ${(seconds * 1000).toFixed(1)}`,
    "throughput per GPU (TFLOP/s/GPU): 400.5", "learning rate: 1.0E-04", "global batch size: 128",
    `lm loss: ${loss.toExponential(6)}`, "grad norm: 1.5", "number of skipped iterations: 0",
    "number of nan iterations: 0 |\n"].join(" | ")
    + (step === CHECKPOINT_AFTER
      ? `  successfully saved checkpoint from iteration ${step} to /ckpt\n` : "")).join("");
}

/** As torchtitan prints it, in colors. */
export function titan_log({ steps }) {
  return steps_of(steps).map(({ step, at, loss }) =>
    `[rank0]:[titan] ${stamp(at).replace(".", ",")} - root - INFO - \x1b[31mstep: ${step}  `
    + `\x1b[32mloss: ${loss.toFixed(5)}  \x1b[34mmemory: 45.25GiB(56.77%)  \x1b[34mtps: 7,123  `
    + "\x1b[36mtflops: 400.50  \x1b[35mmfu: 40.50%\x1b[39m\n").join("");
}

/** As torchtitan's structured logger writes it on one rank: what its host did in each step. */
export function structured_log({ rank, steps }) {
  const record = (log_type_name, step, at) => JSON.stringify({ rank, global_rank: rank, step,
    time_us: (START + at * 1000) * 1000, log_type: "event", log_type_name, source: "training",
    log_function: "train_step", logger_name: "torchtitan.structured_logger" });
  return steps_of(steps).flatMap(({ step, at, seconds }) => [
    record("step_start", step, at - seconds), record("fetching_batch_start", step, at - seconds),
    record("fetching_batch_end", step, at - seconds + 1), record("step_end", step, at)])
    .map((line) => `${line}\n`).join("");
}
