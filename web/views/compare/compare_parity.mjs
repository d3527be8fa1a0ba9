// SPDX-License-Identifier: Apache-2.0
// The parity ledger: which operators fall short of what their GPU would allow, by the other side's
// measure, each with a program for the team that owns the kernel.
import { html, useMemo, useState } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { address, run_path } from "../../base/address.mjs";
import { ms, number, percent, time_signed, time_text } from "../../base/format.mjs";
import { frame_of, row_at, sort_rows } from "../../base/frame.mjs";
import { DeltaCell } from "../../charts/delta.mjs";
import { Card, CopyButton, ExportLinks, Loaded } from "../../widgets/widgets.mjs";
import { Table } from "../../widgets/table.mjs";
import { PARITY_FIELDS, use_compare_table } from "./compare_data.mjs";
import { calls_label, per_step } from "../run/lead_model.mjs";
import { pair_text } from "./pair_model.mjs";
import { has_ledger, ledger_rows, parity_sums } from "./parity_model.mjs";

const DEFAULTS = { parity_sort: "-shortfall_ns" };
const FIRST_ROWS = 20;

function Name({ row, opened, onopen }) {
  return html`<button type="button" class="kernel-name parity-name" aria-expanded=${opened}
    title=${row.inputs ? `${row.name} · ${row.inputs}` : row.name} onClick=${onopen}>
    <span class="mono">${row.name}</span>${row.inputs && html`<span class="change-more">${
      row.inputs}</span>`}</button>`;
}

function facts_of(row, of_whole) {
  return [
    [calls_label(of_whole), pair_text(row.base_calls, row.cand_calls, number)],
    ["Time at the GPU's peaks", pair_text(row.base_roofline_ns, row.cand_roofline_ns, time_text)],
    ["Limited by", row.bound],
    ["From the number of calls", row.calls_ns === null ? null : time_text(row.calls_ns)],
    ["At its peaks, the candidate's GPU takes", row.hardware_ratio === null ? null
      : `${number(row.hardware_ratio)} times the base's time`],
    ["Gap not attributed", row.note],
    ["No program", row.no_benchmark],
  ].filter(([, value]) => value !== null && value !== undefined);
}

/** The figures behind a row, its kernels, and the program. */
function Detail({ query, row, of_whole }) {
  const { rows: [more] } = use_compare_table(query, "parity", { waterfall: row.waterfall,
    fields: "cand_kernel,benchmark" }, row.waterfall !== null);
  const names = [["Base", row.base_kernel], ["Candidate", more?.cand_kernel]];
  return html`<div class="kernel-detail">
    ${row.inputs && html`<p class="kernel-full"><span class="faint">Inputs</span><code>${
      row.inputs}</code></p>`}
    ${names.filter(([, name]) => name).map(([side, name]) => html`<p key=${side}
      class="kernel-full"><span class="faint">${side}</span><code>${name}</code></p>`)}
    <dl class="facts">${facts_of(row, of_whole).map(([label, value]) => html`<div key=${label}>
      <dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
    ${more?.benchmark && html`<div class="parity-code"><p class="faint">Times one call on the
      GPU where you run it <${CopyButton} text=${more.benchmark} label="Copy the program" /></p>
      <pre tabindex="0" role="region" aria-label="PyTorch program">${more.benchmark}</pre></div>`}
    </div>`;
}

function columns_of(frame, { opened, toggle, floor_ns }) {
  const at = (row) => row_at(frame, row);
  const scale_ns = Math.max(0, ...["delta_ns", "hardware_ns", "software_ns"].flatMap((key) =>
    (frame.columns[key] ?? []).map(Math.abs)));
  const part = (key) => (row) => (at(row)[key] === null ? html`<span class="faint">–</span>`
    : html`<${DeltaCell} ns=${at(row)[key]} scale_ns=${scale_ns} floor_ns=${floor_ns} />`);
  return [
    { key: "order", label: "Operator", className: "kernel-cell", width_px: 300, sort: false,
      cell: (row) => html`<${Name} row=${at(row)} opened=${opened === row}
        onopen=${() => toggle(row)} />` },
    { key: "base_ns", label: "Takes", kind: "ms", width_px: 150, priority: 2,
      cell: (row) => pair_text(at(row).base_ns, at(row).cand_ns, ms) },
    { key: "base_peak_share", label: "Of the peak", kind: "share", width_px: 130, priority: 3,
      cell: (row) => pair_text(at(row).base_peak_share, at(row).cand_peak_share, percent) },
    { key: "delta_ns", label: "Gap", kind: "ms", width_px: 150, priority: 4,
      className: "parity-part", cell: part("delta_ns") },
    { key: "hardware_ns", label: "By hardware", kind: "ms", width_px: 150, priority: 4,
      className: "parity-part", cell: part("hardware_ns") },
    { key: "software_ns", label: "By software", kind: "ms", width_px: 150, priority: 2,
      className: "parity-part", cell: part("software_ns") },
    { key: "shortfall_ns", label: "Shortfall", kind: "ms", width_px: 110 },
    { key: "behind", label: "Behind", width_px: 110, cell: (row) => at(row).behind
      ?? html`<span class="faint">–</span>` },
  ];
}

function Sums({ rows, of_whole }) {
  const sums = parity_sums(rows);
  const parts = [["number of calls", sums.calls_ns], ["hardware", sums.hardware_ns],
    ["software", sums.software_ns], ["not attributed", sums.unattributed_ns]];
  const direction = sums.delta_ns > 0 ? "more" : "less";
  return html`<p class="card-line">The candidate's computation takes ${
    time_text(Math.abs(sums.delta_ns))} ${direction}${per_step(of_whole)}: ${
    parts.filter(([, ns]) => ns !== 0).map(([name, ns]) => `${name} ${time_signed(ns)}`)
      .join(", ")}. At the other side's share of the peaks, the base would save ${
    time_text(sums.behind_ns.base)} and the candidate ${time_text(sums.behind_ns.candidate)}.</p>`;
}

/** A replay of one side with the kernels of the other. */
function Swaps({ runs }) {
  const swap = (own, other, text) => html`<a href=${address(run_path(own, "whatif"),
    { change: "other_kernels", counterpart: other })}>${text}</a>`;
  return html`<p class="card-line">What if: ${swap(runs[0], runs[1],
    "the base with the candidate's kernels")}, ${swap(runs[1], runs[0],
    "the candidate with the base's kernels")}</p>`;
}

/**
 * @param {{query: any, floor_ns: number, runs: string[], of_whole: boolean}} props with the chosen
 *   candidate only; of_whole: of recordings without steps
 */
export function Parity({ query, floor_ns, runs, of_whole }) {
  const [view, change] = use_query(DEFAULTS);
  const [opened, set_opened] = useState(-1);
  const [whole, set_whole] = useState(false);
  const { resource, rows, links, frame: raw } = use_compare_table(query, "parity", PARITY_FIELDS);
  const frame = useMemo(() => ({ ...frame_of(ledger_rows(rows)), help: raw.help }), [rows, raw]);
  const order = useMemo(() => sort_rows(frame, frame.columns.order ?? [], view.parity_sort),
    [frame, view.parity_sort]);
  const shown = whole ? order : order.slice(0, FIRST_ROWS);
  const toggle = (row) => set_opened(opened === row ? -1 : row);
  return html`<${Card} title="Parity" flush=${true} note="time beyond what each
    side would take at the other's share of its GPU's peaks; the largest first"
      actions=${html`<${ExportLinks} links=${links} />`}>
    <${Loaded} resource=${resource}>${() => (has_ledger(rows) ? html`<${Sums} rows=${rows}
        of_whole=${of_whole} />
      <${Swaps} runs=${runs} />
      <${Table} caption="Parity" frame=${frame} rows=${shown}
        columns=${columns_of(frame, { opened, toggle, floor_ns })} sort=${view.parity_sort}
        onsort=${(next) => change({ parity_sort: next })}
        opened=${opened} detail=${(row) => html`<${Detail} query=${query} of_whole=${of_whole}
          row=${row_at(frame, row)} />`} />
      ${shown.length < order.length && html`<p class="table-foot"><button type="button"
        class="link" onClick=${() => set_whole(true)}>Show all ${order.length} rows</button></p>`}`
      : html`<p class="empty-line">The gap cannot be attributed: no operator has known work on
        both sides, or the GPUs' peaks are unknown.</p>`)}<//><//>`;
}
