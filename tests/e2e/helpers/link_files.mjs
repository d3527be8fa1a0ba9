// SPDX-License-Identifier: Apache-2.0
// Tests and records of links as their tools print them.

const MODE = "time   algbw   busbw #wrong";

/** 2(n-1)/n of an all_reduce, (n-1)/n of the others here. */
const factor_of = (collective, ranks) =>
  ((collective === "all_reduce" ? 2 : 1) * (ranks - 1)) / ranks;

const fixed = (value) => value.toFixed(2).padStart(8);

function row_of([bytes, bus_gbps], factor) {
  const algo = bus_gbps / factor;
  const us = bytes / algo / 1000;
  const figures = `${fixed(us)} ${fixed(algo)} ${fixed(bus_gbps)}      0`;
  return `${String(bytes).padStart(12)} ${bytes / 4}   float     sum      -1 ${figures} ${figures}`;
}

/**
 * As nccl-tests prints it, on GPUs of one host.
 * @param {{ranks: number, points: [number, number][], collective?: string}} what points: message
 *   size and bus bandwidth in GB/s
 */
export function nccl_tests({ ranks, points, collective = "all_reduce" }) {
  const devices = Array.from({ length: ranks }, (_, rank) =>
    `#  Rank  ${rank} Group  0 Pid   700${rank} on     node-a device  ${rank} [0000:0${rank}:00] `
    + "NVIDIA H100 80GB HBM3");
  return ["# nccl-tests version 2.17.1 nccl-headers=22807 nccl-library=22807",
    `# nThread 1 nGpus ${ranks} minBytes 1048576 maxBytes 268435456 step: 2(factor) `
      + "warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0",
    "#", "# Using devices", ...devices, "#",
    `#       size         count      type   redop    root     ${MODE}     ${MODE}`,
    ...points.map((point) => row_of(point, factor_of(collective, ranks))),
    "# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 100.5",
    `# Collective test concluded: ${collective}_perf`, ""].join("\n");
}

/** nvidia-smi topo -m of four GPUs on two CPUs, a network card at each. */
export const topology = () => ["\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity",
  "GPU0\t X \tNV18\tNV18\tNV18\tPIX\tSYS\t0-55\t0",
  "GPU1\tNV18\t X \tNV18\tNV18\tNODE\tSYS\t0-55\t0",
  "GPU2\tNV18\tNV18\t X \tNV18\tSYS\tPIX\t56-111\t1",
  "GPU3\tNV18\tNV18\tNV18\t X \tSYS\tNODE\t56-111\t1", "NIC0\tPIX\tNODE\tSYS\tSYS\t X \tSYS\t\t",
  "NIC1\tSYS\tSYS\tPIX\tNODE\tSYS\t X \t\t", "", "NIC Legend:", "", "  NIC0: mlx5_0",
  "  NIC1: mlx5_1", ""].join("\n");

/** ibstat of two cards, the second of which is down. */
export const ports = () => [["mlx5_0", "Active", "400"], ["mlx5_1", "Down", "10"]].map(
  ([card, state, rate]) => `CA '${card}'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n`
    + `\t\tState: ${state}\n\t\tPhysical state: LinkUp\n\t\tRate: ${rate}\n`
    + "\t\tLink layer: InfiniBand\n").join("");

/** NCCL Inspector's log of one all_reduce on each of two ranks. */
export const inspector_log = () => [0, 1].map((rank) => `${JSON.stringify({
  header: { id: "0x1f", comm_name: "data", rank, n_ranks: 2, nnodes: 1 },
  metadata: { inspector_output_format_version: "v4.0", hostname: "node-a", pid: 7000 + rank },
  coll_perf: { coll: "AllReduce", coll_sn: 5, coll_msg_size_bytes: 1048576,
    coll_exec_time_us: 40 + rank, coll_algobw_gbs: 26, coll_busbw_gbs: 26 - rank },
})}\n`).join("");

const member = (rank, count) => ({ rank, host: "node-a", pid: 7000 + rank, cuda_dev: rank,
  status: { init_state: 0, async_error: 0 }, collective_counts: { AllReduce: count } });

/** ncclras -f json: rank 2 did not answer, rank 1 is behind. */
export const ras_status = () => JSON.stringify({ nccl_version: "2.28.3", communicators_count: 1,
  communicators: [{ hash: "0x1f", size: 3, ranks_count: 2, missing_ranks_count: 1,
    ranks: [member(0, 12), member(1, 11)], missing_ranks: [{ rank: 2, host: "node-a" }] }] });
