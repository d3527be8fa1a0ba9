// SPDX-License-Identifier: Apache-2.0
// Flight Recorder dumps of a job that hangs, as JSON: all ranks run the same collectives of tensor
// and data groups until one does something else.

const AHEAD = 6; // operations that the host enters before the device has finished the first
const START_NS = 1_700_000_000_000_000_000n;

/** The groups of a rank: its tensor group of neighbors, and those of its place in all of them. */
function groups_of(rank, { ranks, tensor }) {
  const all = Array.from({ length: ranks }, (_, other) => other);
  const same = (place) => all.filter((other) => place(other) === place(rank));
  return [["TENSOR_MODEL_PARALLEL_GROUP", same((other) => Math.floor(other / tensor))],
    ["DATA_PARALLEL_GROUP", same((other) => other % tensor)]];
}

function program_of(rank, { steps, fault, at, culprit }) {
  const ops = [];
  const add = (group, name, elements) => ops.push({ group, name, elements,
    seq: ops.filter((op) => op.group === group).length + 1, done: false });
  for (let step = 0; step < steps; step++) {
    add(0, "_all_gather_base", 4096);
    add(0, "_reduce_scatter_base", 8192);
    add(1, "allreduce", 1 << 20);
  }
  if (fault === "mismatch" && rank === culprit) ops[at].elements += 2;
  return ops;
}

const same_call = (a, b) => a && b && a.group === b.group && a.seq === b.seq &&
  a.elements === b.elements;

/** Runs the job until nothing moves. */
function run_job(job) {
  const all = Array.from({ length: job.ranks }, (_, rank) => {
    const stuck = job.fault === "host" && rank === job.culprit;
    return { rank, ops: program_of(rank, job), groups: groups_of(rank, job), head: 0, entered: 0,
      stop: stuck ? job.at : Infinity };
  });
  for (let moved = true; moved;) {
    moved = false;
    for (const one of all)
      one.entered = Math.min(one.head + AHEAD, one.stop, one.ops.length);
    const head = ({ ops, head: at, entered }) => (at < entered ? ops[at] : undefined);
    for (const one of all) {
      const op = head(one);
      const mates = op ? one.groups[op.group][1].map((rank) => all[rank]) : [];
      if (!op || !mates.every((mate) => same_call(head(mate), op))) continue;
      for (const mate of mates) {
        if (job.fault === "device" && mate.rank === job.culprit && mate.head === job.at) continue;
        mate.ops[mate.head++].done = true;
        moved = true;
      }
    }
  }
  return all;
}

const entry_of = ({ rank, groups }, op, place) => ({
  pg_id: op.group, process_group: [`${10 * op.group + (rank % 3)}`, groups[op.group][0]],
  collective_seq_id: op.seq, p2p_seq_id: 0, is_p2p: false, profiling_name: `nccl:${op.name}`,
  state: op.done ? "completed" : "scheduled", input_sizes: [[op.elements]],
  input_dtypes: ["BFloat16"], time_created_ns: Number(START_NS) + place * 1_000_000,
  timeout_ms: 600_000,
  frames: [{ name: "step", filename: "/job/train.py", line: 80 + op.group }],
});

function dump_of(one) {
  const config = one.groups.map(([desc, ranks], group) =>
    [`${10 * group + (one.rank % 3)}`, { desc, ranks: `[${ranks.join(", ")}]` }]);
  return JSON.stringify({ version: "2.10", nccl_version: "2.27.3",
    pg_config: Object.fromEntries(config),
    entries: one.ops.slice(0, one.entered).map((op, place) => entry_of(one, op, place)) });
}

/**
 * The dumps of all ranks.
 * @param {{ranks?: number, tensor?: number, steps?: number, fault: "host"|"device"|"mismatch",
 *          culprit: number, at?: number}} job at: the operation at which the culprit is stuck
 * @returns {{name: string, data: string}[]}
 */
export function flight_dumps(job) {
  const all = run_job({ ranks: 16, tensor: 4, steps: 8, at: 9, ...job });
  return all.map((one) => ({ name: `nccl_trace_rank_${one.rank}`, data: dump_of(one) }));
}
