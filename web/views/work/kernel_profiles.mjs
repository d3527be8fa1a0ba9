// SPDX-License-Identifier: Apache-2.0
// Launches that Nsight Compute or rocprof-compute measured, beside the same kernels of the trace.
import { html } from "../../base/ui.mjs";
import { kernel_path } from "../../base/address.mjs";
import { ms, number, time_text } from "../../base/format.mjs";
import { value_at } from "../../base/frame.mjs";
import { KernelText } from "../../widgets/kernel_text.mjs";
import { Card, ExportLinks } from "../../widgets/widgets.mjs";
import { use_range } from "../run/range_line.mjs";
import { range_note } from "../run/range_model.mjs";
import { RankTable } from "../run/rank_table.mjs";
import { use_table } from "../run/run_table.mjs";

const LOCKED_CLOCKS = "Nsight Compute locks clocks and empties caches by default";

const in_trace = (row, frame) => {
  const median = value_at(frame, "trace_median_ns", row);
  if (median !== null) return ms(median);
  return value_at(frame, "matched", row) ? "another grid" : "–";
};

const VIEW = {
  id: "profiles",
  caption: "Launches measured one by one",
  sort: "-duration_ns",
  search: ["kernel", "trace_kernel", "stalls"],
  opens: true,
  limit: 20,
  short: (name) => html`<${KernelText} name=${name} />`,
  page: (frame, row, run, rank) => {
    const kernel = value_at(frame, "trace_kernel", row);
    return kernel ? kernel_path(run, kernel, rank) : null;
  },
  columns: [
    { key: "kernel", label: "Kernel", width_px: 280 },
    { key: "grid", label: "Grid", priority: 4, className: "mono" },
    { key: "block", label: "Block", priority: 5, className: "mono" },
    { key: "duration_ns", label: "Measured" },
    { key: "trace_median_ns", label: "Trace p50", priority: 2, cell: in_trace },
    { key: "achieved_occupancy_percent", label: "Occupancy", unit: "%", priority: 3,
      sparse: true },
    { key: "sm_percent", label: "SM", unit: "%", priority: 4, sparse: true },
    { key: "dram_percent", label: "DRAM", unit: "%", priority: 2, sparse: true },
    { key: "dram_bytes", label: "DRAM bytes", priority: 4, sparse: true },
    { key: "tensor_percent", label: "Tensor", unit: "%", priority: 3, sparse: true },
    { key: "stalls", label: "Stalls", className: "clip", width_px: 240, priority: 3,
      sparse: true },
  ],
  labels: { trace_kernel: "Kernel in the trace", matched: "Found by" },
};

/** The table of a run; asked for only if it has files other than traces. */
export const use_kernel_profiles = (run, wanted) =>
  use_table(run, "kernel_profiles", { limit: "all" }, wanted);

/** Nothing for a run without such a file. @param {{run: string, table: any}} props */
export function KernelProfiles({ run, table }) {
  const [range] = use_range();
  if (table.rows.length === 0) return null;
  return html`<${Card} title="Measured launches" flush=${true}
      note=${range_note("kernel_profiles", range, LOCKED_CLOCKS)}
      actions=${html`<${ExportLinks} links=${table.links} />`}>
    <${RankTable} frame=${table.frame} view=${VIEW} run=${run} /><//>`;
}

const percent_of = (value) => `${number(value)} %`;

/** What a kernel's row shows of it: label, column, how it is written. */
export const PROFILE_FACTS = [
  ["Measured launches", "profiled_launches", (v) => String(v)],
  ["Measured time", "profiled_ns", (v) => `${time_text(v)}; ${LOCKED_CLOCKS}`],
  ["Achieved occupancy", "achieved_occupancy_percent", percent_of],
  ["SM throughput", "sm_percent", percent_of],
  ["DRAM throughput", "dram_percent", percent_of],
  ["Tensor pipe", "tensor_percent", percent_of],
  ["Stalls", "stalls", (v) => v],
  ["Measured in", "profile_basis", (v) => v],
];
