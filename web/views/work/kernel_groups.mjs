// SPDX-License-Identifier: Apache-2.0
// Kernels summed by what their names say: library, operation, architecture, type.
import { html, useMemo } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { address, run_path } from "../../base/address.mjs";
import { frame_of, sort_rows, value_at } from "../../base/frame.mjs";
import { Table } from "../../widgets/table.mjs";
import { Card } from "../../widgets/widgets.mjs";
import { within } from "../run/range_model.mjs";
import { kernel_groups } from "./kernel_group_model.mjs";

// What each property by which kernels can be summed is called: of all values, and of one.
const NAMES = { library: ["Libraries", "Library"], operation: ["Operations", "Operation"],
  dtype: ["Types", "Type"], arch: ["Architectures", "Architecture"],
  alignment: ["Alignments", "Alignment"] };

/** The properties by which kernels can be summed, and what each is called. */
export const KERNEL_GROUPS = Object.fromEntries(
  Object.entries(NAMES).map(([by, [plural]]) => [by, plural]));

const columns_of = (frame, run, where, by) => [
  { key: "value", label: NAMES[by][1], width_px: 220, className: "mono",
    cell: (row) => {
      const value = value_at(frame, "value", row);
      return value === null ? html`<span class="faint">not in the name</span>`
        : html`<a href=${address(run_path(run, "kernels"), { [by]: String(value), ...where })}>${
          value}</a>`;
    } },
  { key: "kernels", label: "Kernels", kind: "count" },
  { key: "calls", label: "Calls", kind: "count", priority: 2 },
  { key: "total_ns", label: "Total", kind: "ms" },
  { key: "share", label: "Share", kind: "share" },
];

/** @param {{frame: import("../../base/frame.mjs").Frame, run: string, rank: string,
 *           range: string, by: string}} props */
export function KernelGroups({ frame, run, rank, range, by }) {
  const [{ group_sort: sort }, change] = use_query({ group_sort: "-total_ns" });
  const groups = useMemo(() => frame_of(kernel_groups(frame, by)), [frame, by]);
  const rows = useMemo(() => sort_rows(groups,
    Array.from({ length: groups.length }, (_, i) => i), sort), [groups, sort]);
  return html`<${Card} title=${KERNEL_GROUPS[by]} flush=${true}
      note="${range === "" ? "" : `${within(range, rank)}; `}by the kernels' names; share of ${
        range === "" ? "all" : "its"} device time">
    <${Table} caption=${KERNEL_GROUPS[by]} frame=${groups} rows=${rows} sort=${sort}
      columns=${columns_of(groups, run, { rank, range }, by)}
      onsort=${(next) => change({ group_sort: next })}
      empty=${html`<p class="empty-line">No work on a device was recorded.</p>`} /><//>`;
}
