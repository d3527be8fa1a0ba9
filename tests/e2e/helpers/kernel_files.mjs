// SPDX-License-Identifier: Apache-2.0
// CSV as Nsight Compute prints it.

const COLUMNS = [["gpu__time_duration.sum", "us"], ["dram__bytes.sum", "Mbyte"],
  ["gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "%"],
  ["sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"],
  ["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "%"],
  ["sm__warps_active.avg.pct_of_peak_sustained_active", "%"],
  ["sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum", ""],
  ["smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "inst"],
  ["smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "inst"],
  ["smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", "inst"]];

const quoted = (values) => values.map((value) => `"${String(value).replaceAll('"', '""')}"`).join();
const dims_of = (text) => `(${text.split(",").join(", ")})`;
const number = (value) => value.toLocaleString("en", { maximumFractionDigits: 3 });

function row_of({ kernel, grid, block, us, mbyte = 100, dram = 50, sm = 30, tensor = 20,
  occupancy = 60, tensor_flops = 1e9, stalls = [5, 4, 1] }, id) {
  const values = [us, mbyte, dram, sm, tensor, occupancy, tensor_flops, ...stalls];
  return quoted([id, 4711, "python3", "127.0.0.1", kernel, 1, 7, dims_of(block), dims_of(grid), 0,
    "9.0", ...values.map(number)]);
}

/**
 * The raw page, after what the profiler prints first.
 * @param {{kernel: string, grid: string, block: string, us: number}[]} launches grid: "8,1,1"
 */
export const ncu_raw = (launches) => ["==PROF== Connected to process 4711 (/usr/bin/python3)",
  quoted(["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream",
    "Block Size", "Grid Size", "Device", "CC", ...COLUMNS.map(([name]) => name)]),
  quoted([...Array(11).fill(""), ...COLUMNS.map(([, unit]) => unit)]),
  ...launches.map(row_of), ""].join("\n");

/** What is printed without --csv. */
export const ncu_text = () => ["==PROF== Connected to process 4711 (/usr/bin/python3)",
  '==PROF== Profiling "gemm" - 0: 0%....50%....100% - 10 passes', "[4711] python3@127.0.0.1",
  "  gemm(float *) (8, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 9.0", ""].join("\n");
