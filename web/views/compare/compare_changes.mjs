// SPDX-License-Identifier: Apache-2.0
// What changed, largest first, at the level chosen by the reader; noise and trifles on demand.
import { html, useMemo, useState } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { address, fits_address, kernel_path } from "../../base/address.mjs";
import { count, p_text, percent, plural, time_text } from "../../base/format.mjs";
import { filter_rows, frame_of, row_at, sort_rows, value_at } from "../../base/frame.mjs";
import { part_of } from "../../base/parts.mjs";
import { DeltaCell } from "../../charts/delta.mjs";
import { Card, CopyButton, ExportLinks, Loaded, SearchBox } from "../../widgets/widgets.mjs";
import { KernelLink, KernelText } from "../../widgets/kernel_text.mjs";
import { Table } from "../../widgets/table.mjs";
import { use_compare_table } from "./compare_data.mjs";
import { hidden_text, is_unmatched, LEVELS, only_in, per_call_ns, shown_changes }
  from "./change_model.mjs";
import { pair_text } from "./pair_model.mjs";
import { calls_label, per_step } from "../run/lead_model.mjs";
import { are_whole, matched } from "./verdict_model.mjs";

const DEFAULTS = { q: "", sort: "-size_ns", level: "op", noise: "" };
const TEXT = ["name", "more", "op", "base_kernel", "cand_kernel", "category"];

function Name({ change, opened, onopen }) {
  const { bar, name, more, level } = change;
  const has_kernel = change.base_kernel ?? change.cand_kernel;
  const what = level === "kernel" && has_kernel ? html`<${Kernels} change=${change} />`
    : html`<span class="mono">${name}</span>${more && html`<span class="change-more">${more}
      </span>`}`;
  return html`<button type="button" class="kernel-name" aria-expanded=${opened}
    title=${more ? `${name} · ${more}` : name} onClick=${onopen}><span class="swatch bar-${bar}"
    title=${part_of(bar).label}></span>${what}</button>`;
}

const Chip = ({ side, name, run }) => html`<span class="kernel-chip kernel-${side}">${run
  ? html`<${KernelLink} run=${run} name=${name} />` : html`<${KernelText} name=${name} />`}</span>`;

/** The kernels that did the work on each side, as links if `runs` says in which runs they are. */
function Kernels({ change, runs = [] }) {
  const { base_kernel: base, cand_kernel: cand } = change;
  if (!base && !cand) return html`<span class="faint">–</span>`;
  if (base === cand) {
    return html`<span class="pair mono"><${Chip} side="both" name=${base}
      run=${runs[1]} /></span>`;
  }
  const missing = html`<span class="faint">none</span>`;
  return html`<span class="pair mono">${base ? html`<${Chip} side="base" name=${base}
      run=${runs[0]} />` : missing}
    <span class="to" aria-label="to">→</span>${
    cand ? html`<${Chip} side="cand" name=${cand}
      run=${runs[1]} />` : missing}</span>`;
}

function facts_of(change, whole) {
  const tested = change.p_value !== null && change.p_value !== undefined;
  const has_calls = change.base_calls + change.cand_calls > 0;
  const calls = [
    ["From the number of calls", time_text(change.calls_effect_ns)],
    ["From the time per call", time_text(change.per_call_effect_ns)],
    [calls_label(whole), pair_text(change.base_per_step, change.cand_per_step, count)],
    ["Time per call",
      pair_text(per_call_ns(change, "base"), per_call_ns(change, "cand"), time_text)],
  ];
  return [
    ...(has_calls ? calls : []),
    ["Matched by", change.how],
    ["Category", change.category ?? "–"],
    ["Verdict", change.verdict ?? "–"],
    ["p", tested ? p_text(change.p_value) : null],
    ["q, over all rows", tested ? p_text(change.q_value) : null],
  ].filter(([, value]) => value !== null);
}

/**
 * The timelines of both runs, aligned at the first call of what changed; null without a name or
 * with one too long for an address.
 */
function timelines_path([base, cand], { op, base_kernel, cand_kernel }) {
  const names = op && !op.startsWith("(") ? [op, op] : [base_kernel, cand_kernel];
  const [base_name, cand_name] = names.map((name) => name ?? "");
  if (!(base_name || cand_name) || !fits_address(base_name + cand_name)) return null;
  return address("/compare/timeline", { base, cand, base_name, cand_name });
}

/** Said where the other timeline has nothing to align. */
const one_sided = ({ base_kernel: base, cand_kernel: cand }) => (base && cand ? ""
  : `, only the ${base ? "base" : "candidate"} has this kernel`);

/** The two exact terms of a change, the test results, and the names in full. */
function Detail({ change, runs, whole }) {
  const { base_kernel: base, cand_kernel: cand } = change;
  const names = [["Base", base, runs[0]], ["Candidate", cand, runs[1]]];
  const timelines = runs.length === 2 && timelines_path(runs, change);
  return html`<div class="kernel-detail">
    ${change.more && html`<p class="kernel-full"><span class="faint">${
      change.level === "shape" ? "Shapes" : "Part of"}</span><code>${change.more}</code></p>`}
    ${names.filter(([, name]) => name).map(([side, name, run]) => html`<p key=${side}
      class="kernel-full"><span class="faint">${side}</span><code>${run
      ? html`<a href=${kernel_path(run, name)}>${name}</a>` : name}</code>
      <${CopyButton} text=${name} what="the kernel of the ${side.toLowerCase()}" /></p>`)}
    <dl class="facts">${facts_of(change, whole).map(([label, value]) => html`<div key=${label}>
      <dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
    ${timelines && html`<p class="tl-links"><a href=${timelines}>Both timelines, aligned here</a>${
      (base || cand) && one_sided(change)}</p>`}</div>`;
}

/** Names, and next to them what did the work; kernels are named by the chips of both sides. */
function name_columns(frame, { opened, toggle, level, runs }) {
  const at = (row) => row_at(frame, row);
  const name = (row) => html`<${Name} change=${at(row)} opened=${opened === row}
    onopen=${() => toggle(row)} />`;
  const match = { key: "how", label: "Match", priority: 3, width_px: 150,
    help: "How closely both sides match: the weakest level among the row's parts" };
  if (level === "kernel") {
    return [{ key: "name", label: "Kernels", className: "kernel-cell kernel-pair", width_px: 480,
      cell: name }, match,
    { key: "op", label: "Operator", priority: 4, className: "mono", width_px: 220 }];
  }
  return [{ key: "name", label: level === "category" ? "Category" : "Operator or kernel",
    className: "kernel-cell", width_px: 320, cell: name }, match,
  { key: "base_kernel", label: "Kernels", sort: false, priority: 4, className: "pair-cell",
    width_px: 400, cell: (row) => html`<${Kernels} change=${at(row)} runs=${runs} />` }];
}

function columns_of(frame, view) {
  const scale_ns = Math.max(0, ...(frame.columns.size_ns ?? []));
  const tested = (frame.columns.q_value ?? []).some((q) => q !== null);
  return [
    ...name_columns(frame, view),
    { key: "base_ns", label: "Base", kind: "ms", priority: 2,
      help: `Time${per_step(view.whole)} in the base` },
    { key: "cand_ns", label: "Candidate", kind: "ms", priority: 2,
      help: `Time${per_step(view.whole)} in the candidate` },
    ...(tested ? [{ key: "q_value", label: "q", kind: "number", priority: 2, width_px: 72,
      help: "Chance of such a difference between equal sides, corrected for the number of rows",
      cell: (row) => p_text(value_at(frame, "q_value", row)) }] : []),
    { key: "size_ns", label: "Difference", kind: "ms", width_px: 230,
      help: "Candidate minus base; sorted by magnitude", cell: (row) =>
      html`<${DeltaCell} ns=${value_at(frame, "delta_ns", row)} scale_ns=${scale_ns} />` },
  ];
}

function Rows({ rows, runs, whole, caption, query, change, empty, level }) {
  const [opened_id, set_opened_id] = useState(null);
  const { q, sort } = query;
  const frame = useMemo(() => frame_of(rows), [rows]);
  const order = useMemo(
    () => sort_rows(frame, filter_rows(frame, { q, text: TEXT }), sort), [frame, q, sort]);
  const opened = frame.columns.id?.indexOf(opened_id) ?? -1;
  const toggle = (row) => set_opened_id(opened === row ? null : value_at(frame, "id", row));
  return html`<${Table} caption=${caption} frame=${frame} rows=${order} sort=${sort}
    view="${q}|${level}" onsort=${(next) => change({ sort: next })} opened=${opened} empty=${empty}
    columns=${columns_of(frame, { opened, toggle, level, runs, whole })}
    detail=${(row) => html`<${Detail} change=${row_at(frame, row)} runs=${runs}
      whole=${whole} />`} />`;
}

/** How well the two sides were matched, as a bar of rungs with its key. */
function Matched({ summary }) {
  const { rungs, at_op } = matched(summary);
  const shown = rungs.filter(({ share }) => share > 0);
  if (shown.length === 0) return null;
  const words = shown.map(({ label, share }) => `${label} ${percent(share)}`).join(", ");
  return html`<div class="matched"><p><strong>${percent(at_op)}</strong> of device time is matched
      by operator or better</p>
    <span class="match-bar" role="img" aria-label=${words} title=${words}>${shown.map(
      ({ key, share }) => html`<span key=${key} class="rung-${key}"
        style=${{ flexGrow: share }}></span>`)}</span>
    <ul class="legend">${shown.map(({ key, label, share }) => html`<li key=${key}><span
      class="swatch rung-${key}"></span>${label} ${percent(share)}</li>`)}</ul></div>`;
}

function LevelPick({ query, change }) {
  return html`<label class="pick"><span>By</span><select aria-label="Level of the changes"
    value=${query.level} onChange=${(event) => change({ level: event.target.value })}>
    ${LEVELS.map(([key, text]) => html`<option key=${key} value=${key}>${text}</option>`)}
  </select></label>`;
}

function Controls({ query, change, found, floor_text }) {
  const all = query.noise === "yes";
  const hidden = hidden_text(found.hidden, floor_text);
  return html`<div class="filter-bar">
    <${SearchBox} label="Filter changes" value=${query.q}
      placeholder="Filter by operator, shape or kernel"
      oninput=${(q) => change({ q }, { replace: true })} />
    <${LevelPick} query=${query} change=${change} />
    <label class="check"><input type="checkbox" checked=${!all}
      onChange=${() => change({ noise: all ? "" : "yes" })} />
      Hide noise and small changes (${hidden || "none"})</label></div>`;
}

function NoChange({ found, floor_text, query, change }) {
  if (query.q && found.shown.length > 0) {
    return html`<p class="empty-line">No change matches “${query.q}”.</p>`;
  }
  return html`<p class="empty-line">No relevant change${found.hidden_count > 0
    ? html`: ${plural(found.hidden_count, "row")} hidden (${hidden_text(found.hidden, floor_text)})
      ${" "}<button type="button" class="link" onClick=${() => change({ noise: "yes" })}>show
      them</button>` : ""}.</p>`;
}

/**
 * @param {{query: any, summary: any, place: {bar: string, cat: string}, onall: () => void,
 *          runs: string[]}} props
 * `place` is the place in the waterfall: the table follows it; `runs` are the first ones of base
 * and candidate
 */
export function ChangeTable({ query, summary, place, onall, runs }) {
  const [view, change] = use_query(DEFAULTS);
  const { resource, rows, links } = use_compare_table(query, "waterfall", { level: view.level });
  const floor_ns = summary.relevant_from_ns ?? 0;
  const floor_text = time_text(floor_ns, 2);
  const all = view.noise === "yes";
  const whole = are_whole(summary);
  const found = useMemo(() => shown_changes(rows, { floor_ns, all, place }),
    [rows, floor_ns, all, place.bar, place.cat]);
  const scope = place.bar && (place.cat || part_of(place.bar).label);
  const note = scope
    ? html`in ${scope}, as the waterfall <button type="button" class="link" onClick=${onall}>show
      all parts</button>` : `${whole ? "" : "per step, "}largest first; lower is better`;
  return html`<${Card} title="Changes" flush=${true} note=${note}
      actions=${html`<${ExportLinks} links=${links} />`}>
    <${Matched} summary=${summary} />
    <${Controls} query=${view} change=${change} found=${found} floor_text=${floor_text} />
    <${Loaded} resource=${resource}>${() => html`<${Rows} rows=${found.shown} caption="Changes"
      runs=${runs} whole=${whole}
      query=${view} change=${change} level=${view.level}
      empty=${html`<${NoChange} found=${found} floor_text=${floor_text} query=${view}
        change=${change} />`} />`}<//><//>`;
}

const only_text = ({ rows, ns }) => `${plural(rows, "row")}, ${time_text(ns)}`;

/** What only one side has, whatever its size. */
export function Unmatched({ query, runs, whole }) {
  const [view, change] = use_query({ unmatched_sort: "-size_ns" });
  const { rows } = use_compare_table(query, "waterfall", { level: "op" });
  const unmatched = useMemo(() => shown_changes(rows.filter(is_unmatched),
    { floor_ns: 0, all: true, place: { bar: "", cat: "" } }).shown, [rows]);
  if (unmatched.length === 0) return null;
  return html`<${Card} title="Unmatched" flush=${true} note=${`only in base: ${
      only_text(only_in(unmatched, "base"))} · only in candidate: ${
      only_text(only_in(unmatched, "cand"))}`}>
    <${Rows} rows=${unmatched} caption="Unmatched" level="op" runs=${runs} whole=${whole}
      query=${{ q: "", sort: view.unmatched_sort }}
      change=${({ sort }) => change({ unmatched_sort: sort })} /><//>`;
}
