// SPDX-License-Identifier: Apache-2.0
// How tables show a kernel: its short name in its category's color, full on demand.
import { html, useMemo } from "../../base/ui.mjs";
import { kernel_path } from "../../base/address.mjs";
import { frame_of, value_at } from "../../base/frame.mjs";
import { bar_of } from "../../base/parts.mjs";
import { KernelText, OpLink, PageLink } from "../../widgets/kernel_text.mjs";
import { Table } from "../../widgets/table.mjs";

/** A kernel's name as the first cell of its row; it opens the row or leads to its page. */
export function KernelName({ frame, row, href, onopen, is_open }) {
  const name = value_at(frame, "name", row);
  const label = value_at(frame, "label", row);
  const part = bar_of(value_at(frame, "category", row), value_at(frame, "class", row));
  const swatch = html`<span class="swatch bar-${part}" aria-hidden="true"></span>`;
  if (onopen) {
    return html`<span class="paged-name"><button type="button" class="kernel-name"
      aria-expanded=${is_open} onClick=${onopen}>${swatch}<${KernelText} name=${name}
      label=${label} /></button><${PageLink} href=${href} name=${label || name} /></span>`;
  }
  return html`<a class="kernel-name" href=${href}>${swatch}<${KernelText} name=${name}
    label=${label} /></a>`;
}

/** Columns without meaning for a single rank. */
export const ACROSS_RANKS = [
  { key: "rank_cv", label: "Rank CV", kind: "share", priority: 5,
    help: "Standard deviation of the ranks' totals divided by their mean" },
  { key: "slowest_rank", label: "Slowest rank", kind: "count", priority: 5, width_px: 106,
    help: "Rank with the largest total" },
];

/**
 * The time of a step; of a recording without steps, what the rank took in all. `several`: beside
 * shares of all ranks this column is of the typical one.
 */
export const step_column = (whole, several) => ({ key: "per_step_ns", kind: "ms",
  label: several ? `Typical rank${whole ? "" : "/step"}` : whole ? "Time" : "Per step",
  width_px: several ? (whole ? 118 : 140) : undefined,
  help: whole ? "Time of the typical rank" : "Time per steady step of the typical rank" });

/**
 * The few top kernels of the overview.
 * @param {{run: string, rows: any[], ranks: number, whole?: boolean}} props `whole`: no step is
 * marked
 */
export function KernelRows({ run, rows, ranks, whole = false }) {
  const frame = useMemo(() => frame_of(rows), [rows]);
  const link = (row) => kernel_path(run, value_at(frame, "name", row));
  return html`<${Table} caption="Top kernels" frame=${frame} columns=${[
    { key: "name", label: "Kernel", className: "kernel-cell", cell: (row) =>
      html`<${KernelName} frame=${frame} row=${row} href=${link(row)} />` },
    { key: "op", label: "Launched by", priority: 3, className: "mono op-cell",
      cell: (row) => html`<${OpLink} run=${run} name=${value_at(frame, "op", row)} />`,
      help: "Innermost operator that launched most of its time" },
    step_column(whole, ranks > 1),
    { key: "window_share", label: "Share", kind: "share",
      help: "Total time divided by the time of the whole trace" },
    ...(whole ? [] : [{ key: "calls_per_step", label: "Calls/step", kind: "number", priority: 2,
      help: "Calls per steady step of the typical rank" }]),
    { key: "median_ns", label: "p50", kind: "call", priority: 2, help: "Median time of a call" },
    { key: "p95_ns", label: "p95", kind: "call", priority: 3,
      help: "95th percentile of the time of a call" },
    { key: "max_ns", label: "Max", kind: "call", priority: 4, help: "Longest call" },
    { key: "calls", label: "Calls", kind: "count", priority: 4,
      help: "How often it ran, over all ranks" },
    { key: "total_ns", label: "Total", kind: "ms", priority: 4,
      help: "Sum of all calls, over all ranks" },
    ...(ranks > 1 ? ACROSS_RANKS : []),
  ]} />`;
}
