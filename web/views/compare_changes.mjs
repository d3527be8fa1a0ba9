// SPDX-License-Identifier: Apache-2.0
// What changed, largest first, by operator or kernel; and what only one of the runs has.
import { html, useMemo, useState } from "../ui.mjs";
import { use_query } from "../router.mjs";
import { ms_unit, number, plural, short_kernel } from "../format.mjs";
import { filter_rows, frame_of, row_at, sort_rows, value_at } from "../frame.mjs";
import { part_of } from "../parts.mjs";
import { DeltaCell } from "../charts/delta.mjs";
import { Card, CopyButton, ExportLinks, SearchBox } from "../widgets.mjs";
import { Table } from "../table.mjs";
import { relevant_from_ns } from "./compare_model.mjs";

const DEFAULTS = { q: "", sort: "-size_ns", bar: "", small: "" };
const TEXT = ["op", "base_kernel", "cand_kernel", "category"];

function label_of({ op, base_kernel, cand_kernel, bar }) {
  const kernel = base_kernel ?? cand_kernel;
  return op ?? (kernel ? short_kernel(kernel) : part_of(bar).label);
}

/** Rows with what the table sorts by: the size of the change, whatever its direction. */
function changes_frame(rows, is_wanted) {
  const wanted = rows.filter((row) => row.level === "row" && is_wanted(row));
  return frame_of(wanted.map((row) => ({
    ...row,
    size_ns: Math.abs(row.delta_ns),
    label: label_of(row),
  })));
}

function Name({ frame, row, opened, onopen }) {
  const bar = value_at(frame, "bar", row);
  return html`<button type="button" class="kernel-name" aria-expanded=${opened === row}
    onClick=${() => onopen(opened === row ? -1 : row)}><span class="swatch bar-${bar}"
    title=${part_of(bar).label}></span><span class="mono">${value_at(frame, "label", row)}</span>
  </button>`;
}

function Kernels({ frame, row }) {
  const base = value_at(frame, "base_kernel", row);
  const cand = value_at(frame, "cand_kernel", row);
  if (base === cand) return html`<span class="mono">${short_kernel(base)}</span>`;
  return html`<span class="pair mono"><span>${short_kernel(base)}</span>
    <span class="to" aria-label="to">→</span><span>${short_kernel(cand)}</span></span>`;
}

/** The two exact terms of a change, and the names in full. */
function Detail({ frame, row }) {
  const change = row_at(frame, row);
  const fact = (label, value) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`;
  const names = [["Base", change.base_kernel], ["Candidate", change.cand_kernel]];
  return html`<div class="kernel-detail">
    ${names.filter(([, name]) => name).map(([side, name]) => html`<p key=${side}
      class="kernel-full"><span class="faint">${side}</span><code>${name}</code>
      <${CopyButton} text=${name} /></p>`)}
    <dl class="facts">
      ${fact("Because of more or fewer calls", ms_unit(change.calls_effect_ns))}
      ${fact("Because calls take longer or shorter", ms_unit(change.per_call_effect_ns))}
      ${fact("Calls per step", `${number(change.base_calls / (change.base_steps || 1))} → ${
        number(change.cand_calls / (change.cand_steps || 1))}`)}
      ${fact("Category", change.category ?? "–")}
    </dl></div>`;
}

function columns_of(frame, opened, onopen, scale_ns) {
  return [
    { key: "label", label: "Operator or kernel", className: "kernel-cell",
      width_px: 300, cell: (row) =>
      html`<${Name} frame=${frame} row=${row} opened=${opened} onopen=${onopen} />` },
    { key: "match", label: "Match", priority: 2 },
    { key: "base_kernel", label: "Kernels", sort: false, priority: 3, className: "pair-cell",
      width_px: 420, cell: (row) => html`<${Kernels} frame=${frame} row=${row} />` },
    { key: "base_ns", label: "Base", kind: "ms", priority: 2 },
    { key: "cand_ns", label: "Candidate", kind: "ms", priority: 2 },
    { key: "size_ns", label: "Difference", kind: "ms", width_px: 230, cell: (row) =>
      html`<${DeltaCell} ns=${value_at(frame, "delta_ns", row)} scale_ns=${scale_ns} />` },
  ];
}

function Rows({ frame, caption, query, change, empty }) {
  const [opened, set_opened] = useState(-1);
  const { q, sort, bar } = query;
  const rows = useMemo(
    () => sort_rows(frame, filter_rows(frame, { q, text: TEXT, equals: { bar } }), sort),
    [frame, q, sort, bar],
  );
  const scale_ns = Math.max(0, ...(frame.columns.size_ns ?? []));
  return html`<${Table} caption=${caption} frame=${frame} rows=${rows} sort=${sort}
    view="${q}|${bar}" onsort=${(next) => change({ sort: next })} opened=${opened}
    columns=${columns_of(frame, opened, set_opened, scale_ns)} empty=${empty}
    detail=${(row) => html`<${Detail} frame=${frame} row=${row} />`} />`;
}

/** Idle time has no counterpart to be matched with; it is a change like any other. */
const is_unmatched = (row) =>
  row.match === "unmatched" && Boolean(row.op ?? row.base_kernel ?? row.cand_kernel);

function sum_text(rows, side) {
  const own = rows.filter((row) => row[`${side}_ns`] > 0);
  const ns = own.reduce((sum, row) => sum + row[`${side}_ns`], 0);
  return `${plural(own.length, "row")}, ${ms_unit(ns)}`;
}

function Unmatched({ rows, query, change }) {
  const unmatched = rows.filter((row) => row.level === "row" && is_unmatched(row));
  const frame = useMemo(() => changes_frame(rows, is_unmatched), [rows]);
  if (unmatched.length === 0) return null;
  return html`<${Card} title="Unmatched" flush=${true} note=${`only in base: ${
      sum_text(unmatched, "base")} · only in candidate: ${sum_text(unmatched, "cand")}`}>
    <${Rows} frame=${frame} caption="Unmatched" query=${query} change=${change} /><//>`;
}

/** @param {{rows: any[], data: any, href: (format: string) => string}} props */
export function ChangeTable({ rows, data, href }) {
  const [query, change] = use_query(DEFAULTS);
  const floor_ns = relevant_from_ns(data.summary.base_step_ns);
  const with_small = query.small === "yes";
  const is_shown = (row) => with_small || Math.abs(row.delta_ns) >= floor_ns;
  const frame = useMemo(
    () => changes_frame(rows, (row) => !is_unmatched(row) && is_shown(row)),
    [rows, with_small, floor_ns],
  );
  const hidden = rows.filter((row) => row.level === "row" && Math.abs(row.delta_ns) < floor_ns);
  const links = html`<${ExportLinks} links=${[["CSV", href("csv")], ["JSON", href("json")]]} />`;
  const empty = html`<p class="empty-line">No change of ${ms_unit(floor_ns)} per step or more${
    query.q || query.bar ? " among the rows that match" : ""}.</p>`;
  return html`<${Card} title="Changes" flush=${true} note="per step; lower is better"
      actions=${links}>
    <div class="filter-bar">
      <${SearchBox} label="Filter changes" value=${query.q}
        placeholder="Filter by operator or kernel"
        oninput=${(q) => change({ q }, { replace: true })} />
      <label class="check"><input type="checkbox" checked=${!with_small}
        onChange=${() => change({ small: with_small ? "" : "yes" })} />
        Hide changes below ${ms_unit(floor_ns, 2)} (${hidden.length})</label>
    </div>
    <${Rows} frame=${frame} caption="Changes" query=${query} change=${change} empty=${empty} /><//>
    <${Unmatched} rows=${rows.filter(is_shown)} query=${query} change=${change} />`;
}
