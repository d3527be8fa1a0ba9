// SPDX-License-Identifier: Apache-2.0
// A stacked bar per run on one scale, with a rule at the end of the first and the others' distance
// from it: for more runs than a waterfall can show.
import { html } from "../base/ui.mjs";
import { PARTS, parts_of, total_of } from "../base/parts.mjs";
import { ms, percent_signed, time_in_bar, time_text } from "../base/format.mjs";
import { timed } from "../base/values.mjs";
import { tone_of } from "./delta.mjs";
import { ChartFigure, Legend } from "./figure.mjs";
import { PlainTable } from "./plain_table.mjs";
import { parts_sentence } from "./stack.mjs";

const LABEL_FROM = 0.07; // of the full width; narrower segments have no figure

/** @typedef {{key: string, name: string, parts: Record<string, number>}} StackRow */

/** What the chart draws: totals, widths relative to the largest, differences from the first. */
export function layout_of(rows) {
  const totals = rows.map(({ parts }) => total_of(parts_of(parts)));
  const scale_ns = Math.max(1, ...totals);
  const base_ns = totals[0] ?? 0;
  return { scale_ns, rule: base_ns / scale_ns, rows: rows.map((row, i) => ({ ...row,
    total_ns: totals[i], width: totals[i] / scale_ns, delta_ns: totals[i] - base_ns,
    delta_share: base_ns > 0 ? (totals[i] - base_ns) / base_ns : null })) };
}

const arrow = (ns) => (ns > 0 ? "▲" : ns < 0 ? "▼" : "");

function Delta({ row, is_base }) {
  if (is_base) return html`<span class="faint">base</span>`;
  return html`<span class="delta ${tone_of(row.delta_ns)}">${arrow(row.delta_ns)} ${
    percent_signed(row.delta_share)}<span class="visually-hidden"> ${row.delta_ns > 0 ? "slower"
    : row.delta_ns < 0 ? "faster" : "the same"}</span></span>`;
}

function Bar({ row, scale_ns }) {
  const parts = parts_of(row.parts);
  return html`<span class="stack-row-bars" role="img" style=${{ width: `${100 * row.width}%` }}
      aria-label="${time_text(row.total_ns, 4)}: ${parts_sentence(parts)}">
    ${parts.map(({ part, ns }) => ns > 0 && html`<span key=${part.key} class="segment bar-${
      part.key}" style=${{ flexGrow: ns }} title="${part.label}: ${time_text(ns)}">${
      ns / scale_ns >= LABEL_FROM && html`<span class="segment-value">${
        time_in_bar(ns)}</span>`}</span>`)}
  </span>`;
}

function table_of({ rows }) {
  return html`<${PlainTable} label="Parts of a step by run" rows=${rows.map((row) => [row.name,
    ...parts_of(row.parts).map(({ ns }) => ms(ns)), ms(row.total_ns, 4),
    percent_signed(row.delta_share)])}
    head=${["Run", ...PARTS.map(({ short }) => short), "Step, ms", "Against base"]} />`;
}

function Total({ ns }) {
  const { value, unit } = timed(ns, 4);
  return html`<span>${value}<span class="unit">${unit}</span></span>`;
}

/**
 * @param {{rows: StackRow[], caption: string, chosen?: string, onpick?: (key: string) => void}}
 * props the first row is the base; the others can be picked
 */
export function StackRows({ rows, caption, chosen, onpick }) {
  const layout = layout_of(rows);
  return html`<${ChartFigure} caption=${caption} table=${() => table_of(layout)}
      legend=${html`<${Legend} parts=${PARTS} />`}>
    <ul class="stack-rows">${layout.rows.map((row, i) => html`<li key=${row.key}
      class=${row.key === chosen ? "chosen" : ""}>
      <span class="stack-row-name" title=${row.name}>${i === 0 || !onpick ? row.name
        : html`<button type="button" class="link" aria-pressed=${row.key === chosen}
          onClick=${() => onpick(row.key)}>${row.name}</button>`}</span>
      <span class="stack-row-track"><${Bar} row=${row} scale_ns=${layout.scale_ns} />
        <span class="stack-row-rule" aria-hidden="true" style=${{ left: `${100 * layout.rule}%` }}>
        </span></span>
      <span class="stack-row-figures"><${Total} ns=${row.total_ns} />
        <${Delta} row=${row} is_base=${i === 0} /></span></li>`)}</ul>
  <//>`;
}
