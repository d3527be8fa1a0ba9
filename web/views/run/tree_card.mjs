// SPDX-License-Identifier: Apache-2.0
// A card around a tree of one rank: root and first level are one request, the rest loads lazily.
import { html, useMemo } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { address, run_path } from "../../base/address.mjs";
import { use_api } from "../../base/api.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { Card, ExportLinks, Lead, Loaded } from "../../widgets/widgets.mjs";
import { Tree } from "../../widgets/tree.mjs";
import { use_range } from "./range_line.mjs";
import { range_note, range_params } from "./range_model.mjs";
import { rank_table_links } from "./rank_data.mjs";
import { run_api } from "./run_frame.mjs";

const SORT = "-total_owned_ns";

// What the page of flame graphs calls these trees.
const FLAME_OF = { op_tree: null, modules: "modules", ranges: "ranges" };
const MOST = 0.5; // of the root's time

/** The root is open at first, and so is a node below it that has most of its time. */
const open_at_first = (root, [first]) =>
  (first.total_owned_ns >= MOST * root.total_owned_ns ? `${root.id}.${first.id}`
    : String(root.id));

/** The query common to all parts of a tree. */
const base_of = (run, table, params) => address(run_api(run, table), params);

function Content({ reply, view, base }) {
  const [query, change] = use_query({ open: "" });
  const frame = useMemo(() => frame_of(reply), [reply]);
  const nodes = useMemo(() => rows_of(frame), [frame]);
  const root = nodes.find(({ depth }) => depth === 0);
  const first = useMemo(() => nodes.filter(({ depth }) => depth === 1), [nodes]);
  if (!root || first.length === 0) return html`<div class="card-empty">${view.empty}</div>`;
  return html`${view.head?.(root)}<${Tree} root=${root} first=${first} base=${base} sort=${SORT}
    label=${view.label} columns=${view.columns(root)} help=${frame.help}
    open=${query.open || open_at_first(root, first)}
    onopen=${(open) => change({ open: open || "none" }, { replace: true })} />
    ${view.foot && html`<p class="table-foot">${view.foot(root)}</p>`}`;
}

/** Root and first level of a tree, by the range in the address. */
function use_top(run, table, rank) {
  const [range] = use_range();
  const within = table === "ranges" ? {} : range_params(table, range);
  const resource = use_api(address(run_api(run, table),
    { ...within, rank, depth: [0, 1], sort: SORT, limit: "all", format: "columns" }));
  return { resource, range, within };
}

/**
 * The page of a tree in a sentence, from its root and the node below it with most time.
 * @param {{run: string, table: string, rank: string,
 *          text: (root: any, first: any) => string}} props
 */
export function TreeLead({ run, table, rank, text }) {
  const { resource } = use_top(run, table, rank);
  const [root, first] = useMemo(() => rows_of(frame_of(resource.data)), [resource.data]);
  return first && html`<${Lead} text=${text(root, first)} />`;
}

/**
 * @param {{run: string, table: string, rank: string, title: string, note?: string, actions?: any,
 *          view: {label: string, columns: (root: any) => any[], empty: any,
 *                 head?: (root: any) => any, foot?: (root: any) => any}}} props
 */
export function TreeCard({ run, table, rank, title, note, view, actions }) {
  const { resource, range, within } = use_top(run, table, rank);
  return html`<${Card} title=${title} flush=${true}
      note=${table === "ranges" ? note : range_note(table, range, note)} actions=${html`${actions}
      <a class="small-link" href=${address(run_path(run, "flame"),
        { of: FLAME_OF[table], rank })}>Flame graph</a>
      <${ExportLinks} links=${rank_table_links(run, table, rank, within)} />`}>
    <${Loaded} resource=${resource}>${(reply) =>
      html`<${Content} reply=${reply} view=${view}
        base=${base_of(run, table, { ...within, rank })} />`}<//><//>`;
}
