// SPDX-License-Identifier: Apache-2.0
// A table whose rows form a tree; children are fetched when their row opens. A treegrid: one row is
// in the tab order, arrows move and open, Enter toggles.
import { html, useLayoutEffect, useMemo, useRef, useState } from "../base/ui.mjs";
import { use_columns_in_sight } from "../base/hooks.mjs";
import { use_branches } from "./tree_branches.mjs";
import { ids_of, key_effect, text_of_ids, visible_rows } from "./tree_model.mjs";

const NOTES = {
  loading: () => "Loading…",
  failed: () => "Could not be loaded. Press Enter to try again.",
  more: ({ hidden }) => `Show ${hidden.toLocaleString("en")} more`,
};

const INDENT_PX = 18;
const MOST_INDENT = 14; // deeper nodes stay at the last indent, or names would leave the screen

function Toggle({ open }) {
  return html`<span class="tree-toggle" aria-hidden="true">${
    open === null ? "" : open ? "▾" : "▸"}</span>`;
}

const indent = (level) =>
  ({ paddingLeft: `${12 + INDENT_PX * Math.min(MOST_INDENT, level - 1)}px` });

const column_class = ({ num, className = "" }) => `${num ? "num" : ""} ${className}`;

function NodeRow({ row, index, columns, focus, act }) {
  const [first, ...rest] = columns;
  const { node, level, open, at, of } = row;
  const toggle = () => open !== null && act(row, open ? "close" : "open");
  return html`<tr aria-level=${level} aria-posinset=${at} aria-setsize=${of}
      aria-rowindex=${index + 2} aria-expanded=${open === null ? undefined : open}
      tabindex=${focus.at === index ? 0 : -1} data-row=${index} onFocus=${() => focus.set(index)}
      class=${open === null ? "leaf" : "branch"}>
    <th scope="row" class="tree-name ${column_class(first)}" style=${indent(level)}
      onClick=${toggle}><span class="tree-label"><${Toggle} open=${open} /><span>${
        first.cell(node)}</span></span></th>
    ${rest.map((column) => html`<td key=${column.key} class=${column_class(column)}
      title=${column.title?.(node)}>${column.cell(node)}</td>`)}
  </tr>`;
}

function NoteRow({ row, index, span, focus, act }) {
  const does = { more: "more", failed: "retry" }[row.kind];
  return html`<tr aria-level=${row.level} aria-rowindex=${index + 2} data-row=${index}
      tabindex=${focus.at === index ? 0 : -1} class="tree-note ${does ? "branch" : ""}"
      onFocus=${() => focus.set(index)} onClick=${() => does && act(row, does)}>
    <th scope="row" colspan=${span} style=${indent(row.level)}><${Toggle} open=${null} />${
      NOTES[row.kind](row)}</th></tr>`;
}

/**
 * The row in the tab order. It is known by its key, as children may arrive above it; where it went,
 * as "Loading…" does, the row in its place takes over, with the focus.
 */
function use_focus(body, rows) {
  const [key, set_key] = useState(rows[0].key);
  const place = useRef(0);
  const wanted = useRef(false);
  const had = useRef(false);
  const found = rows.findIndex((row) => row.key === key);
  const at = Math.min(found < 0 ? place.current : found, rows.length - 1);
  place.current = at;
  useLayoutEffect(() => {
    const lost = found < 0 && had.current && document.activeElement === document.body;
    if (wanted.current || lost) body.current?.querySelector(`[data-row="${at}"]`)?.focus();
    wanted.current = false;
    had.current = Boolean(body.current?.contains(document.activeElement));
  });
  const set = (next) => set_key(rows[next].key);
  const go = (next) => {
    wanted.current = rows[next].key !== key;
    set(next);
  };
  return { at, set, go };
}

/**
 * @param {{root: any, base: string, sort: string, first: any[], columns: any[], label: string,
 *          help: Record<string, string>, open: string, onopen: (ids: string) => void,
 *          known?: Map<number, import("./tree_model.mjs").Branch>}} props
 * `base` is the table's address with its rank, `first` the root's children, `open` the ids of the
 * open nodes in the address, `known` all branches if nothing is left to fetch. A column: {key,
 * label, num, unit, cell: (node) => any}.
 */
export function Tree({ root, first, base, sort, label, help, open, onopen, ...more }) {
  const columns = use_columns_in_sight(more.columns);
  const ids = useMemo(() => ids_of(open), [open]);
  const [whole, set_whole] = useState(new Set());
  const { branches, retry } = use_branches({ base, sort, root, first, ids, known: more.known });
  const rows = visible_rows(root, branches, ids, whole);
  const body = useRef(null);
  const focus = use_focus(body, rows);
  const act = (row, what) => {
    if (what === "more") set_whole(new Set([...whole, row.parent]));
    if (what === "retry") retry(row.parent);
    const next = new Set(ids);
    if (what === "open") next.add(row.node.id);
    if (what === "close") next.delete(row.node.id);
    if (what === "open" || what === "close") onopen(text_of_ids(next));
  };
  const on_key = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const effect = key_effect(event.key, rows, focus.at);
    if (!effect) return;
    event.preventDefault();
    if (effect.act) act(rows[effect.at], effect.act);
    focus.go(effect.at);
  };
  return html`<div class="table-region"><table role="treegrid" class="tree" aria-label=${label}
      aria-rowcount=${rows.length + 1}>
    <thead><tr aria-rowindex="1">${columns.map((column) => html`<th scope="col" key=${column.key}
      class=${column_class(column)} title=${column.help ?? help[column.key]}>${column.label}${
        column.unit && html`<span class="unit">${column.unit}</span>`}</th>`)}</tr></thead>
    <tbody ref=${body} onKeyDown=${on_key}>${rows.map((row, i) => (row.kind === "node"
      ? html`<${NodeRow} key=${row.key} row=${row} index=${i} columns=${columns} focus=${focus}
          act=${act} />`
      : html`<${NoteRow} key=${row.key} row=${row} index=${i} span=${columns.length}
          focus=${focus} act=${act} />`))}</tbody>
  </table></div>`;
}
