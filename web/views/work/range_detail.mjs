// SPDX-License-Identifier: Apache-2.0
// What one named range consists of: its parts of time, kernels, operators, collectives, idle time.
import { html, useMemo } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { kernel_path, operator_path } from "../../base/address.mjs";
import { short_kernel, time_text } from "../../base/format.mjs";
import { frame_of, row_at, value_at } from "../../base/frame.mjs";
import { bar_of, PARTS } from "../../base/parts.mjs";
import { cause_label } from "../../base/values.mjs";
import { Segments } from "../../charts/segments.mjs";
import { KernelText } from "../../widgets/kernel_text.mjs";
import { Card, Loaded } from "../../widgets/widgets.mjs";
import { RangePick, use_range_names } from "../run/range_pick.mjs";
import { use_rank_table } from "../run/rank_data.mjs";
import { RankTableCard } from "../run/rank_table.mjs";

const KERNELS = {
  id: "range_kernels",
  caption: "Kernels of the range",
  sort: "-total_ns",
  search: ["name", "op", "category"],
  opens: true,
  limit: 20,
  short: (name) => html`<${KernelText} name=${name} />`,
  page: (frame, row, run, rank) => kernel_path(run, value_at(frame, "name", row) ?? "", rank),
  swatch: (frame, row) =>
    `bar-${bar_of(value_at(frame, "category", row), value_at(frame, "class", row))}`,
  columns: [
    { key: "name", label: "Kernel", width_px: 320 },
    { key: "op", label: "Launched by", className: "mono clip", width_px: 200, priority: 3 },
    { key: "calls", label: "Calls", priority: 3 },
    { key: "total_ns", label: "Total" },
    { key: "busy_share", label: "Of busy", priority: 2 },
    { key: "exposed_ns", label: "Exposed", priority: 4 },
    { key: "mean_ns", label: "Mean", kind: "call", priority: 3 },
    { key: "max_ns", label: "Max", kind: "call", priority: 4 },
  ],
};

const OPERATORS = {
  id: "range_operators",
  caption: "Operators of the range",
  sort: "-owned_ns",
  limit: 10,
  opens: true,
  page: (frame, row, run, rank) => operator_path(run, value_at(frame, "name", row), rank),
  columns: [
    { key: "name", label: "Operator", className: "mono clip", width_px: 240 },
    { key: "category", label: "Category", priority: 3 },
    { key: "kernels", label: "Kernels", priority: 2 },
    { key: "owned_ns", label: "Owned" },
    { key: "busy_share", label: "Of busy" },
  ],
};

const IDLE = {
  id: "range_idle",
  caption: "Idle time of the range",
  sort: "-total_ns",
  columns: [
    { key: "cause", label: "Cause", cell: (row, frame) =>
      cause_label(value_at(frame, "cause", row)) },
    { key: "total_ns", label: "Idle" },
    { key: "window_share", label: "Share" },
  ],
  empty: html`<p class="empty-line">The device was never idle between its device events.</p>`,
};

const COLLECTIVES = {
  id: "range_collectives",
  caption: "Collectives of the range",
  sort: "-total_ns",
  limit: 10,
  columns: [
    { key: "collective", label: "Collective", className: "mono clip", width_px: 200,
      cell: (row, frame) => value_at(frame, "collective", row)
        ?? short_kernel(value_at(frame, "kernel", row) ?? "–") },
    { key: "process_group", label: "Group", className: "mono clip", width_px: 120, priority: 3 },
    { key: "bytes", label: "Size", priority: 2 },
    { key: "calls", label: "Calls", priority: 2 },
    { key: "total_ns", label: "Total" },
    { key: "exposed_ns", label: "Exposed" },
  ],
  empty: html`<p class="empty-line">No collective was launched in it.</p>`,
};

function Breakdown({ reply }) {
  const frame = useMemo(() => frame_of(reply), [reply]);
  const row = row_at(frame, 0);
  const items = PARTS.map(({ key, label }) => ({ key, label, part: key, value: row[`${key}_ns`] }))
    .filter(({ value }) => value > 0);
  return html`<div class="card-chart"><${Segments} items=${items} head="Part" bare=${true}
    caption="${time_text(row.busy_ns)} of device time, ${time_text(row.idle_ns)} idle in between" />
  </div>`;
}

function Parts({ run, rank, range }) {
  const resource = use_rank_table(run, "breakdown", rank, { range });
  return html`<${Loaded} resource=${resource}>${(reply) =>
    html`<${Breakdown} reply=${reply} />`}<//>`;
}

function Tables({ run, rank, range }) {
  const params = { range };
  const card = (name, title, view, note) => html`<${RankTableCard} key=${`${name} ${range}`}
    run=${run} rank=${rank} name=${name} title=${title} view=${view} note=${note}
    params=${params} />`;
  return html`${card("kernels", "Kernels in the range", KERNELS, "launched within the range")}
    <div class="columns-2">
      ${card("operators", "Operators in the range", OPERATORS)}
      ${card("idle_causes", "Idle time in the range", IDLE, "by what delayed the next work")}
    </div>
    ${card("collectives", "Collectives in the range", COLLECTIVES)}`;
}

/** The chosen range of a page, in the address. @param {{run: string, rank: string}} props */
export function RangeDetail({ run, rank }) {
  const [{ range }, change] = use_query({ range: "" });
  const names = use_range_names(run, rank);
  if (names.length === 0) return null;
  const pick = html`<${RangePick} names=${names} range=${range}
    onchange=${(next) => change({ range: next })} />`;
  return html`<${Card} title="Inside a range" actions=${pick}
      note=${range || "choose one here or in the tree"} flush=${true}>
      ${range !== "" && html`<${Parts} run=${run} rank=${rank} range=${range} />`}<//>
    ${range !== "" && html`<${Tables} run=${run} rank=${rank} range=${range} />`}`;
}
