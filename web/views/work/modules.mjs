// SPDX-License-Identifier: Apache-2.0
// The model's own structure: time by nn.Module, with forward and backward separate.
import { html } from "../../base/ui.mjs";
import { percent, time_text } from "../../base/format.mjs";
import { ShareBar } from "../../charts/share_bar.mjs";
import { Lacks } from "../run/lacks.mjs";
import { RankPage } from "../run/rank_page.mjs";
import { TreeCard, TreeLead } from "../run/tree_card.mjs";
import { passes_of } from "./split_model.mjs";
import { SplitLegend, tree_figure } from "./split_tree.mjs";

function ModuleName({ node }) {
  if (node.depth === 0) return html`<strong>All device work</strong>`;
  return html`<span class="mono" title=${node.path}>${node.name || "–"}</span>`;
}

const columns_of = (root) => [
  { key: "name", label: "Module", cell: (node) => html`<${ModuleName} node=${node} />` },
  tree_figure("total_owned_ns", "Total"),
  { key: "of_all", label: "Of all", num: true, priority: 2,
    help: "Total divided by the busy time of the whole trace.",
    cell: (node) => percent(node.total_owned_ns / (root.total_owned_ns || 1)) },
  { key: "parent_share", label: "Share of parent", className: "share-column",
    cell: (node) => html`<${ShareBar} share=${node.depth === 0 ? 1 : node.parent_share}
      split=${passes_of(node)} />` },
  tree_figure("forward_ns", "Forward", { priority: 2 }),
  ...(root.backward_ns > 0 ? [tree_figure("backward_ns", "Backward", { priority: 2 })] : []),
  ...(root.recompute_ns > 0 ? [tree_figure("recompute_ns", "Recomputed", { priority: 4 })] : []),
  tree_figure("self_owned_ns", "Self", { priority: 4 }),
  { key: "calls", label: "Calls", num: true, priority: 4,
    cell: (node) => (node.calls === null ? "–" : node.calls.toLocaleString("en")) },
];

/** "Qwen2Model_0 takes 69.9 % of the device time: 31.9 of 45.6 ms." */
const lead_of = (root, { name, total_owned_ns: ns }) => `${name || "Work outside modules"} takes ${
  percent(ns / (root.total_owned_ns || 1))} of the device time: ${time_text(ns)} of ${
  time_text(root.total_owned_ns)}.`;

export default function Modules({ route }) {
  return html`<${RankPage} route=${route} title="Modules" by_range=${true}
    lead=${(run, rank) => html`<${TreeLead} run=${run} table="modules" rank=${rank}
      text=${lead_of} />`}>${(run, rank) => html`
    <${TreeCard} run=${run} table="modules" rank=${rank} title="Modules"
      note="device time counted once; a module's own and its children's sum to it exactly"
      view=${{
        label: "Modules",
        columns: columns_of,
        head: (root) => html`<${SplitLegend} parts=${passes_of(root)} />`,
        empty: html`<${Lacks} run=${run} rank=${rank} items=${["modules"]}
          title="No module was recorded" />`,
      }} />`}<//>`;
}
