// SPDX-License-Identifier: Apache-2.0
// Operators: by name, by input shapes, and by how they call each other.
import { html } from "../../base/ui.mjs";
import { operator_path } from "../../base/address.mjs";
import { use_query } from "../../base/router.mjs";
import { ms, percent, plural, time_text } from "../../base/format.mjs";
import { frame_of, sum_rows, value_at } from "../../base/frame.mjs";
import { bar_of } from "../../base/parts.mjs";
import { KernelLabels, KernelLink, OpLink } from "../../widgets/kernel_text.mjs";
import { Lead, Segments } from "../../widgets/widgets.mjs";
import { ShareBar } from "../../charts/share_bar.mjs";
import { Lacks } from "../run/lacks.mjs";
import { use_rank_table } from "../run/rank_data.mjs";
import { use_range } from "../run/range_line.mjs";
import { range_params } from "../run/range_model.mjs";
import { RankPage } from "../run/rank_page.mjs";
import { RankTableCard } from "../run/rank_table.mjs";
import { shapes_text, types_text } from "../../base/shapes_text.mjs";
import { TreeCard } from "../run/tree_card.mjs";

const VIEWS = [["table", "By operator"], ["shapes", "By shape"], ["tree", "Call tree"]];

const swatch = (frame, row) => {
  const category = value_at(frame, "category", row);
  return category ? `bar-${bar_of(category)}` : "bar-none";
};

const page = (frame, row, run, rank) => operator_path(run, value_at(frame, "name", row), rank);

/** "812 of 1,204 operators · 12.3 ms of device time, 45.6 % of the busy time". */
const foot_of = (word) => (frame, rows) => {
  const some = rows.length < frame.length ? `${rows.length} of ` : "";
  const owned = time_text(sum_rows(frame, "owned_ns", rows));
  return `${some}${plural(frame.length, word)} · ${owned} of device time, ${
    percent(sum_rows(frame, "busy_share", rows))} of the busy time`;
};

const OPERATORS = {
  caption: "Operators",
  sort: "-owned_ns",
  search: ["name", "category"],
  opens: true,
  swatch,
  page,
  short: (name) => (name === "–" ? "no operator" : name),
  foot: foot_of("row"),
  columns: [
    { key: "name", label: "Operator" },
    { key: "category", label: "Category", priority: 3 },
    { key: "direction", label: "Direction", priority: 4 },
    { key: "calls", label: "Calls", priority: 2 },
    { key: "kernels", label: "Kernels", priority: 4 },
    { key: "self_ns", label: "Self", priority: 2 },
    { key: "total_ns", label: "Total", priority: 2 },
    { key: "owned_ns", label: "Time" },
    { key: "busy_share", label: "Of busy", priority: 2 },
    { key: "host_ns", label: "Host", priority: 3 },
    { key: "median_ns", label: "p50", kind: "call", priority: 4 },
    { key: "p95_ns", label: "p95", kind: "call", priority: 4 },
    { key: "recompute_ns", label: "Recompute", priority: 4, width_px: 96, sparse: true },
  ],
};

const SHAPES = {
  caption: "Operators by shape",
  sort: "-owned_ns",
  search: ["name", "dims", "types", "module", "kernel"],
  opens: true,
  swatch,
  page,
  short: (name) => (name === "–" ? "no operator" : name),
  foot: foot_of("row"),
  columns: [
    { key: "name", label: "Operator", width_px: 230 },
    { key: "dims", label: "Shapes", className: "mono clip", width_px: 250,
      cell: (row, frame) => shapes_text(value_at(frame, "dims", row)) || "–" },
    { key: "types", label: "Types", className: "mono clip", width_px: 140, priority: 4,
      cell: (row, frame) => types_text(value_at(frame, "types", row)) || "–" },
    { key: "module", label: "Module", className: "mono clip short", width_px: 170, priority: 4 },
    { key: "launching_calls", label: "Calls", priority: 3 },
    { key: "self_ns", label: "Self", priority: 2 },
    { key: "owned_ns", label: "Time" },
    { key: "busy_share", label: "Of busy", priority: 2 },
    { key: "median_ns", label: "p50", kind: "call", priority: 3 },
    { key: "p95_ns", label: "p95", kind: "call", priority: 3 },
  ],
};

/** Backward operators all start alike; what distinguishes them must stay visible. */
const short_op = (name) => name.replace(/^autograd::engine::evaluate_function: /, "autograd: ");

function NodeName({ node, run, rank }) {
  if (node.kind === "root") return html`<strong>All device work</strong>`;
  if (node.kind === "unlinked") return html`<em>${node.name || "no operator"}</em>`;
  if (node.kind === "op") {
    return html`<${OpLink} run=${run} name=${node.name} rank=${rank}
      text=${short_op(node.name)} />`;
  }
  return html`<${KernelLink} run=${run} name=${node.name} rank=${rank} />
    <span class="chip">kernel</span>`;
}

const tree_columns = (run, rank) => (root) => [
  { key: "name", label: "Operator", cell: (node) =>
    html`<${NodeName} node=${node} run=${run} rank=${rank} />` },
  { key: "total_owned_ns", label: "Total", unit: "ms", num: true,
    cell: (node) => ms(node.total_owned_ns), title: (node) => `${node.total_owned_ns} ns` },
  { key: "of_all", label: "Of all", num: true, priority: 2,
    help: "Total divided by the total of all device work.",
    cell: (node) => percent(node.total_owned_ns / (root.total_owned_ns || 1)) },
  { key: "parent_share", label: "Share of parent", className: "share-column",
    cell: (node) => html`<${ShareBar} share=${node.kind === "root" ? 1 : node.parent_share} />` },
  { key: "self_owned_ns", label: "Self", unit: "ms", num: true, priority: 3,
    cell: (node) => ms(node.self_owned_ns), title: (node) => `${node.self_owned_ns} ns` },
  { key: "calls", label: "Calls", num: true, priority: 3,
    cell: (node) => (node.calls === null ? "–" : node.calls.toLocaleString("en")) },
];

const TITLES = { table: "Operators", shapes: "Operators by shape", tree: "Call tree" };

function Content({ run, rank }) {
  const [{ view }, change] = use_query({ view: "table" });
  // Sort order and open row belong to the table they were chosen in.
  const pick = (next) => change({ view: next, sort: "", q: "" });
  const shown = view in TITLES ? view : "table";
  const none = html`<${Lacks} run=${run} rank=${rank} items=${["operators"]}
    title="No operator launched device work in this recording" />`;
  const no_shapes = html`<${Lacks} run=${run} rank=${rank} items=${["shapes"]}
    title="The shapes of inputs were not recorded" />`;
  const views = html`<${Segments} label="View" value=${shown} options=${VIEWS} onchange=${pick} />`;
  return html`<div class="view-bar">${views}</div>
    ${shown === "tree"
      ? html`<${TreeCard} run=${run} table="op_tree" rank=${rank} title=${TITLES.tree}
          note="device time counted once; a node's own and its children's sum to it exactly"
          view=${{ label: "Call tree", columns: tree_columns(run, rank), empty: none }} />`
      : html`<${RankTableCard} key=${shown} run=${run} rank=${rank} title=${TITLES[shown]}
          name=${shown === "table" ? "operators" : "op_shapes"}
          note=${shown === "table" ? "time: each nanosecond of the device counts for one operator; "
            + "self: launched directly; total: with operators below it" : ""}
          view=${shown === "table" ? { ...OPERATORS, empty: none }
            : { ...SHAPES, empty: no_shapes }} />`}`;
}

/** The operator with the most device time. */
function Most({ run, rank }) {
  const [range] = use_range();
  const { data } = use_rank_table(run, "operators", rank, range_params("operators", range));
  const { columns, length } = frame_of(data);
  if (length === 0) return null;
  const most = columns.owned_ns.indexOf(Math.max(...columns.owned_ns));
  const name = columns.name[most] || "Work outside operators";
  const within = range === "" ? " in the whole recording" : "";
  return html`<${Lead} text="${name} takes the most device time: ${
    time_text(columns.owned_ns[most])}${within}, ${
    percent(columns.busy_share[most])} of the busy time." />`;
}

export default function Operators({ route }) {
  return html`<${RankPage} route=${route} title="Operators" by_range=${true}
    lead=${(run, rank) => html`<${Most} run=${run} rank=${rank} />`}>${(run, rank) =>
    html`<${KernelLabels} runs=${[run]} />
      <${Content} run=${run} rank=${rank} />`}<//>`;
}
