// SPDX-License-Identifier: Apache-2.0
// Device time by kind of work, and by name for what no rule matches.
import { html, useMemo } from "../../base/ui.mjs";
import { percent, time_text } from "../../base/format.mjs";
import { address, kernel_path, run_path } from "../../base/address.mjs";
import { frame_of, rows_of, value_at } from "../../base/frame.mjs";
import { part_of } from "../../base/parts.mjs";
import { Segments } from "../../charts/segments.mjs";
import { ShareBar } from "../../charts/share_bar.mjs";
import { KernelLabels, KernelText } from "../../widgets/kernel_text.mjs";
import { Card, ExportLinks, Loaded, Notice } from "../../widgets/widgets.mjs";
import { RankTable, RankTableCard } from "../run/rank_table.mjs";
import { use_range } from "../run/range_line.mjs";
import { range_params, ranged_view, within } from "../run/range_model.mjs";
import { rank_table_links, use_rank_table } from "../run/rank_data.mjs";
import { other_share, OTHER_FROM } from "./category_model.mjs";

const columns_of = (frame, run, where) => [
  { key: "category", label: "Category", className: "cause-cell", width_px: 200, cell: (row) => {
    const category = value_at(frame, "category", row);
    return html`<a href=${address(run_path(run, "kernels"), { ...where, category })}><span
      class="swatch bar-${value_at(frame, "bar", row)}"></span>${category}</a>`;
  } },
  { key: "bar", label: "Part of a step", priority: 3, width_px: 170,
    cell: (row) => part_of(value_at(frame, "bar", row)).label },
  { key: "owned_ns", label: "Owned" },
  { key: "busy_share", label: "Of busy", kind: "text", className: "share-column", width_px: 220,
    cell: (row) => html`<${ShareBar} share=${value_at(frame, "busy_share", row)}
      className="bar-${value_at(frame, "bar", row)}" />` },
  { key: "total_ns", label: "Total", priority: 2 },
  { key: "steady_owned_ns", label: "In steady steps", priority: 4, width_px: 130 },
  { key: "calls", label: "Calls", priority: 2 },
  { key: "kernels", label: "Kernels", priority: 2 },
  { key: "ops", label: "Operators", priority: 4, width_px: 90 },
];

const UNKNOWN = {
  id: "unknown",
  caption: "Uncategorized kernels",
  sort: "-owned_ns",
  search: ["kernel", "op"],
  opens: true,
  short: (name) => html`<${KernelText} name=${name} />`,
  page: (frame, row, run, rank) => kernel_path(run, value_at(frame, "kernel", row) ?? "", rank),
  empty: html`<p class="empty-line">Every kernel has a category.</p>`,
  columns: [
    { key: "kernel", label: "Kernel" },
    { key: "op", label: "Launched by", className: "mono clip", width_px: 240, priority: 2 },
    { key: "calls", label: "Calls", priority: 2 },
    { key: "owned_ns", label: "Owned" },
    { key: "busy_share", label: "Of busy" },
  ],
};

function Unknown({ run, rank, share }) {
  const far = share > OTHER_FROM;
  return html`${far && html`<${Notice} kind="warning"><p><strong>${percent(share)} of the busy time
      has no category. </strong>No rule matches these names.</p><//>`}
    <${RankTableCard} run=${run} rank=${rank} name="uncategorized" title="Uncategorized kernels"
      note="counted as other compute" view=${UNKNOWN} />`;
}

function Content({ reply, run, rank, range }) {
  const frame = useMemo(() => frame_of(reply), [reply]);
  const rows = useMemo(() => rows_of(frame), [frame]);
  const view = useMemo(() => {
    const all = { id: "categories", caption: "Categories", sort: "-owned_ns",
      columns: columns_of(frame, run, { rank, range }) };
    return range === "" ? all : ranged_view(all);
  }, [frame, run, rank, range]);
  if (rows.length === 0) {
    return html`<${Card} title="Categories"><p class="empty-line">No device work ${range === ""
      ? "was recorded" : "was launched within the range"}.</p>
      <//>`;
  }
  const items = rows.map(({ category, owned_ns, bar }) =>
    ({ key: `${bar} ${category}`, label: category, value: owned_ns, part: bar }));
  const busy_ns = rows.reduce((sum, row) => sum + row.owned_ns, 0);
  const links = rank_table_links(run, "categories", rank, range_params("categories", range));
  return html`<${KernelLabels} runs=${[run]} />
    <${Card} title="Device time by kind of work" flush=${true}
      note=${range !== "" && within(range, rank)}
      actions=${html`<${ExportLinks} links=${links} />`}>
      <div class="card-chart"><${Segments} items=${items} head="Category" bare=${true}
        caption="${time_text(busy_ns)} of busy time, each nanosecond owned by one category" /></div>
      <${RankTable} frame=${frame} view=${view} /><//>
    <${Unknown} run=${run} rank=${rank} share=${other_share(rows)} />`;
}

/** @param {{run: string, rank: string}} props */
export function Categories({ run, rank }) {
  const [range] = use_range();
  const resource = use_rank_table(run, "categories", rank, range_params("categories", range));
  return html`<${Loaded} resource=${resource}>${(reply) => html`<${Content} reply=${reply}
    run=${run} rank=${rank} range=${range} />`}<//>`;
}
