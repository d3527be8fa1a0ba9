// SPDX-License-Identifier: Apache-2.0
// What a step waits for, as recorded and after the changes, as two bars of one scale.
import { html } from "../../base/ui.mjs";
import { percent, time_in_bar, time_signed, time_text } from "../../base/format.mjs";
import { ChartFigure } from "../../charts/figure.mjs";
import { PlainTable } from "../../charts/plain_table.mjs";
import { path_rows } from "./whatif_model.mjs";

const LABEL_FROM = 0.07; // narrower segments have no label
const LEAST = 0.0005; // of the step; smaller parts are only in the table

const sum_of = (rows) => rows.reduce((sum, { ns }) => sum + ns, 0);
const sentence_of = (rows) => rows.filter(({ ns }) => ns >= LEAST * sum_of(rows))
  .sort((a, b) => b.ns - a.ns)
  .map(({ label, ns }) => `${label} ${percent(ns / sum_of(rows))}`).join(", ");

function Piece({ row, scale_ns }) {
  const text = `${row.label}: ${time_text(row.ns)}`;
  return html`<span class="segment bar-${row.part}" style=${{ flexGrow: row.ns }} title=${text}>
    ${row.ns / scale_ns >= LABEL_FROM && html`<span class="segment-name">${row.label}</span>
      <span class="segment-value">${time_in_bar(row.ns)}</span>`}</span>`;
}

function Bar({ label, rows, scale_ns }) {
  const shown = rows.filter(({ ns }) => ns > 0);
  return html`<div class="path-bar"><p class="path-bar-head"><span>${label}</span>
      <strong>${time_text(sum_of(rows))}</strong></p>
    <div class="stack" role="img" aria-label=${`${label}: ${sentence_of(rows)}`}
      style=${{ width: `${(100 * sum_of(shown)) / scale_ns}%` }}>${shown.map((row) =>
        html`<${Piece} key=${row.key} row=${row} scale_ns=${scale_ns} />`)}</div></div>`;
}

function Keys({ before, after }) {
  const shown = before.map((row, i) => ({ ...row, then_ns: after?.[i].ns ?? row.ns }))
    .filter((row) => Math.max(Math.abs(row.ns), Math.abs(row.then_ns)) >= LEAST * sum_of(before));
  return html`<ul class="keys">${shown.map(({ key, part, label, help, ns, then_ns }) => html`
    <li key=${key} title=${help}><span class="swatch bar-${part}"></span>
      <span class="key-name">${label}</span><span class="key-value">${time_text(then_ns)}</span>
      <span class="key-share">${after ? time_signed(then_ns - ns) : percent(ns / sum_of(before))}
      </span></li>`)}</ul>`;
}

/**
 * @param {{base: any, then: any, steps: number, whole: boolean}} props two sides of a reply; `then`
 * null: nothing is changed; whole: no step is marked
 */
export function PathBars({ base, then, steps, whole }) {
  const before = path_rows(base.critical_path, steps);
  const after = then && path_rows(then.critical_path, steps);
  const scale_ns = Math.max(...[before, after ?? before].map((rows) =>
    sum_of(rows.filter(({ ns }) => ns > 0))));
  const what = whole ? "the recording" : "a step";
  const table = () => html`<${PlainTable} label="Critical path of ${what}"
    head=${["Part", "As recorded", "Then", "Difference"]} rows=${before.map((row, i) =>
      [row.label, time_text(row.ns), time_text((after ?? before)[i].ns),
        time_signed((after ?? before)[i].ns - row.ns)])} />`;
  const caption = `What ${what} waits for, back from its end: ${sentence_of(after ?? before)}.`;
  return html`<${ChartFigure} caption=${caption} table=${table}>
    <${Bar} label="As recorded" rows=${before} scale_ns=${scale_ns} />
    ${after && html`<${Bar} label="Then" rows=${after} scale_ns=${scale_ns} />`}
    <${Keys} before=${before} after=${after} /><//>`;
}
