// SPDX-License-Identifier: Apache-2.0
// What people named in their code: ranges as a tree, with the device time launched in each.
import { html } from "../../base/ui.mjs";
import { address, run_path } from "../../base/address.mjs";
import { percent, time_text } from "../../base/format.mjs";
import { ShareBar } from "../../charts/share_bar.mjs";
import { RankPage } from "../run/rank_page.mjs";
import { TreeCard, TreeLead } from "../run/tree_card.mjs";
import { RangeDetail } from "./range_detail.mjs";
import { Roles } from "./roles.mjs";
import { classes_of } from "./split_model.mjs";
import { SplitLegend, tree_figure } from "./split_tree.mjs";

function RangeName({ node, run, rank }) {
  if (node.depth === 0) return html`<strong>All device work</strong>`;
  if (!node.name) return html`<span class="mono">(no name)</span>`;
  const href = address(run_path(run, "ranges"), { rank, range: node.name });
  return html`<a class="mono" href=${href} title=${node.name}>${node.name}</a>`;
}

const whole = (number) => (number === null ? "–" : number.toLocaleString("en"));

const columns_of = (root, run, rank) => [
  { key: "name", label: "Range", cell: (node) =>
    html`<${RangeName} node=${node} run=${run} rank=${rank} />` },
  tree_figure("total_owned_ns", "Device"),
  { key: "of_all", label: "Of all", num: true, priority: 3,
    help: "Device time divided by the busy time of the whole trace.",
    cell: (node) => percent(node.total_owned_ns / (root.total_owned_ns || 1)) },
  { key: "parent_share", label: "Share of parent", className: "share-column",
    cell: (node) => html`<${ShareBar} share=${node.depth === 0 ? 1 : node.parent_share}
      split=${classes_of(node)} />` },
  { key: "calls", label: "Calls", num: true, priority: 2, cell: (node) => whole(node.calls) },
  tree_figure("owned_median_ns", "Device p50", { priority: 2 }),
  tree_figure("owned_p95_ns", "Device p95", { priority: 4 }),
  tree_figure("idle_ns", "Idle inside", { priority: 3 }),
  tree_figure("host_median_ns", "Host p50", { priority: 4 }),
  tree_figure("host_p95_ns", "Host p95", { priority: 5 }),
];

const WHOLE = 0.9995; // the range of all steps says nothing about its parts

/** "forward launches the most device work: 493 ms, 45.8 % of all." */
function lead_of(root, { name, total_owned_ns: ns }) {
  const share = ns / (root.total_owned_ns || 1);
  if (!name) return "";
  return share > WHOLE ? `All device work, ${time_text(ns)}, was launched within ${name}.`
    : `${name} launches the most device work: ${time_text(ns)}, ${percent(share)} of all.`;
}

const Empty = () => html`<div class="lacks">
  <p class="lacks-title">No range was recorded</p>
  <p>Name parts of the code with <code>torch.profiler.record_function("forward")</code>, NVTX or
    roctx ranges.</p></div>`;

export default function Ranges({ route }) {
  return html`<${RankPage} route=${route} title="Ranges"
    lead=${(run, rank) => html`<${TreeLead} run=${run} table="ranges" rank=${rank}
      text=${lead_of} />`}>${(run, rank) => html`
    <${Roles} run=${run} />
    <${TreeCard} run=${run} table="ranges" rank=${rank} title="Ranges"
      note="device time launched within each named range, counted once"
      view=${{
        label: "Ranges",
        columns: (root) => columns_of(root, run, rank),
        head: (root) => html`<${SplitLegend} parts=${classes_of(root)} />`,
        empty: html`<${Empty} />`,
      }} />
    <${RangeDetail} run=${run} rank=${rank} />`}<//>`;
}
