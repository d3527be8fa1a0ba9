// SPDX-License-Identifier: Apache-2.0
// A memory snapshot of a small job, as JSON: seven steps, of which each leaves a tensor behind, and
// a request that fails in the last.

const MIB = 2 ** 20;
const BEGIN_US = 1_775_299_487_000_000;
const frames = (...names) => names.map((name, i) => ({ name, filename: "/srv/job/model.py",
  line: 10 + i }));
const CALLS = {
  weights: frames("__init__", "main"),
  activations: frames("forward", "train_step", "main"),
  kept: frames("log_loss", "train_step", "main"),
};

function events() {
  const made = [];
  const add = (action, addr, size, calls) => made.push({ action, addr, size, stream: 0,
    time_us: BEGIN_US + made.length * 1000, frames: CALLS[calls] });
  add("segment_alloc", 0, 400 * MIB, "weights");
  for (let i = 0; i < 4; i++) add("alloc", 1000 + i, 25 * MIB, "weights");
  const marks = [];
  for (let step = 0; step < 7; step++) {
    marks.push({ name: `ProfilerStep#${step}`, stage: "START", device: 0,
      time_us: BEGIN_US + made.length * 1000 });
    add("alloc", 2000, 150 * MIB, "activations");
    add("alloc", 3000 + step, MIB, "kept");
    if (step === 6) {
      made.push({ action: "oom", size: 160 * MIB, device_free: 8 * MIB, stream: 0,
        time_us: BEGIN_US + made.length * 1000, frames: CALLS.activations });
    }
    add("free_requested", 2000, 150 * MIB, "activations");
    add("free_completed", 2000, 150 * MIB, "activations");
  }
  return { made, marks };
}

/** As torch.cuda.memory._snapshot() returns it. @returns {string} */
export function memory_snapshot() {
  const { made, marks } = events();
  const block = (address, size, state, calls) => ({ address, size, requested_size: size, state,
    frames: CALLS[calls] ?? [] });
  return JSON.stringify({ segments: [{ device: 0, address: 1000, total_size: 400 * MIB,
    allocated_size: 107 * MIB, active_size: 107 * MIB, segment_type: "large", blocks: [
      block(1000, 25 * MIB, "active_allocated", "weights"),
      block(9000, 293 * MIB, "inactive")] }],
  device_traces: [made], external_annotations: marks });
}
