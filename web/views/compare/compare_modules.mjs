// SPDX-License-Identifier: Apache-2.0
// The difference by modules of the model, as a tree whose children are sorted by their change.
import { html, useMemo } from "../../base/ui.mjs";
import { address } from "../../base/address.mjs";
import { use_query } from "../../base/router.mjs";
import { count, ms } from "../../base/format.mjs";
import { DeltaCell, Delta } from "../../charts/delta.mjs";
import { PageLink } from "../../widgets/kernel_text.mjs";
import { Tree } from "../../widgets/tree.mjs";
import { Card, ExportLinks, Loaded } from "../../widgets/widgets.mjs";
import { calls_label, per_step } from "../run/lead_model.mjs";
import { MODULE_FIELDS, use_compare_table } from "./compare_data.mjs";
import { module_tree, open_at_first } from "./compare_module_model.mjs";

const paths_text = ({ base_path, cand_path }) => {
  if (base_path === null || cand_path === null) return base_path ?? cand_path ?? "";
  return base_path === cand_path ? base_path : `${base_path} → ${cand_path}`;
};

/** The timelines of both runs, aligned at the device work of a module's first call. */
const timelines_path = ([base, cand], { base_path, cand_path }) => address("/compare/timeline",
  { base, cand, base_module: base_path, cand_module: cand_path });

function Name({ node, runs }) {
  if (node.depth === 0) return html`<strong>${node.name}</strong>`;
  const only = node.base_path === null ? "only in candidate"
    : node.cand_path === null ? "only in base" : "";
  return html`<span class="mono" title=${paths_text(node)}>${node.name}</span>${only
    ? html`<span class="change-more">${only}</span>` : html`<${PageLink} name=${node.name}
      title="Both timelines, aligned here" href=${timelines_path(runs, node)} />`}`;
}

const calls_text = ({ base_calls: base, cand_calls: cand }) => (base === cand ? count(base)
  : `${count(base)} → ${count(cand)}`);

const scale_of = ({ root, first }) =>
  Math.max(1, ...[root, ...first].map(({ delta_ns }) => Math.abs(delta_ns)));

const columns_of = (scale_ns, floor_ns, runs, whole) => [
  { key: "path", label: "Module", cell: (node) => html`<${Name} node=${node} runs=${runs} />` },
  { key: "base_ns", label: "Base", unit: "ms", num: true, priority: 2,
    cell: ({ base_ns }) => ms(base_ns), title: ({ base_ns }) => `${count(base_ns)} ns` },
  { key: "cand_ns", label: "Candidate", unit: "ms", num: true, priority: 2,
    cell: ({ cand_ns }) => ms(cand_ns), title: ({ cand_ns }) => `${count(cand_ns)} ns` },
  { key: "delta_ns", label: "Difference", unit: "ms", num: true,
    cell: ({ delta_ns }) => html`<${DeltaCell} ns=${delta_ns} scale_ns=${scale_ns}
      floor_ns=${floor_ns} />` },
  { key: "delta_self_ns", label: "Self", unit: "ms", num: true, priority: 3,
    cell: ({ delta_self_ns }) => html`<${Delta} ns=${delta_self_ns}
      floor_ns=${floor_ns} />` },
  { key: "base_calls", label: calls_label(whole), num: true, priority: 4, cell: calls_text },
];

/**
 * @param {{query: any, floor_ns: number, runs: string[], whole: boolean}} props query: with the
 *   chosen candidate only; runs: the first of each side
 */
export function Modules({ query, floor_ns, runs, whole }) {
  const [view, change] = use_query({ modules: "" });
  const { resource, frame, rows, links } = use_compare_table(query, "modules", MODULE_FIELDS);
  const tree = useMemo(() => module_tree(rows), [rows]);
  return html`<${Card} title="Modules" flush=${true} actions=${html`<${ExportLinks}
      links=${links} />`}
      note="device time${per_step(whole)}, including submodules; largest change first">
    <${Loaded} resource=${resource}>${() => (tree ? html`<${Tree} root=${tree.root}
      first=${tree.first} known=${tree.known} base="" sort="" label="Modules of both sides"
      columns=${columns_of(scale_of(tree), floor_ns, runs, whole)} help=${frame.help}
      open=${view.modules || open_at_first(tree)}
      onopen=${(open) => change({ modules: open || "none" }, { replace: true })} />`
      : html`<p class="empty-line">Neither side has recorded modules: PyTorch’s profiler needs${" "}
          <code>with_stack=True</code> or <code>with_modules=True</code>.</p>`)}<//>
  <//>`;
}
