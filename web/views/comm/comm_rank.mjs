// SPDX-License-Identifier: Apache-2.0
// Communication of one rank: by process group, and by collective, type and size class.
import { html } from "../../base/ui.mjs";
import { Lacks } from "../run/lacks.mjs";
import { RankTableCard } from "../run/rank_table.mjs";

const name_of = (name) => (name === "–" || name === "" ? "not described" : name);

const GROUPS = {
  id: "groups",
  caption: "Process groups",
  sort: "-exposed_ns",
  opens: true,
  prose: true,
  short: name_of,
  columns: [
    { key: "process_group", label: "Process group", width_px: 200 },
    { key: "description", label: "Description", className: "clip", priority: 3 },
    { key: "size", label: "Size", priority: 2 },
    { key: "ranks", label: "Ranks", kind: "text", className: "mono clip", priority: 2 },
    { key: "span", label: "Span", priority: 4 },
    { key: "calls", label: "Calls", priority: 2 },
    { key: "bytes", label: "Moved", priority: 2 },
    { key: "total_ns", label: "Total" },
    { key: "exposed_ns", label: "Exposed" },
    { key: "exposed_share", label: "Exposed share", priority: 2 },
    { key: "window_share", label: "Of trace", priority: 3 },
  ],
};

const SIZES = {
  id: "sizes",
  caption: "Message sizes",
  sort: "-exposed_ns",
  search: ["kind", "dtype", "process_group", "size_class"],
  opens: true,
  prose: true,
  short: name_of,
  columns: [
    { key: "kind", label: "Collective", width_px: 170 },
    { key: "size_class", label: "Sizes", width_px: 140 },
    { key: "dtype", label: "Type", priority: 4 },
    { key: "process_group", label: "Process group", priority: 4 },
    { key: "group_size", label: "Group", priority: 3 },
    { key: "calls", label: "Calls", priority: 2 },
    { key: "calls_per_step", label: "Calls/step", kind: "number", priority: 4 },
    { key: "bytes", label: "Moved", priority: 2 },
    { key: "total_ns", label: "Total", priority: 2 },
    { key: "median_ns", label: "p50", kind: "call", priority: 2 },
    { key: "p95_ns", label: "p95", kind: "call", priority: 4 },
    { key: "algo_gbps", label: "Algo", priority: 3 },
    { key: "bus_gbps", label: "Bus", priority: 2 },
    { key: "best_bus_gbps", label: "Best bus", priority: 4, width_px: 110 },
    { key: "exposed_ns", label: "Exposed" },
    { key: "exposed_share", label: "Exposed share", priority: 3 },
  ],
};

const SIZES_OF_ALL = { ...SIZES,
  columns: SIZES.columns.filter(({ key }) => key !== "calls_per_step") };

/** @param {{run: string, rank: string, whole: boolean}} props `whole`: no step is marked */
export function CommOfRank({ run, rank, whole }) {
  const empty = html`<${Lacks} run=${run} rank=${rank} items=${["collectives", "distributed"]}
    title="The kernels of this rank record no groups or sizes" />`;
  return html`<${RankTableCard} run=${run} rank=${rank} name="process_groups" title="Process groups"
      note="exposed: not hidden by compute" view=${{ ...GROUPS, empty }} />
    <${RankTableCard} run=${run} rank=${rank} name="comm_sizes" title="Message sizes"
      note="power-of-two size classes; bandwidths are medians over the calls"
      view=${{ ...(whole ? SIZES_OF_ALL : SIZES), empty }} />`;
}
