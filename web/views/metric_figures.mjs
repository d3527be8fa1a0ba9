// SPDX-License-Identifier: Apache-2.0
// The single figures of the table `metrics` as key figures, each with its definition.
import { html } from "../ui.mjs";
import { frame_of, rows_of } from "../frame.mjs";
import { label_of, value_and_unit } from "../values.mjs";
import { Figure, Help } from "../widgets.mjs";
import { use_rank_table } from "./rank_data.mjs";

const LEADING = 6;

function Metric({ row }) {
  const [value, unit] = value_and_unit(row.value, row.unit);
  return html`<${Figure} label=${label_of(row.metric)} help=${row.help} value=${value}
    unit=${unit} />`;
}

function Others({ rows }) {
  return html`<dl class="facts metric-facts">${rows.map((row) => html`<div key=${row.metric}>
    <dt><${Help} text=${row.help}>${label_of(row.metric)}<//></dt>
    <dd>${value_and_unit(row.value, row.unit).filter(Boolean).join(" ")}</dd></div>`)}</dl>`;
}

/**
 * @param {{run: string, rank: string, wanted?: string[]}} props `wanted`: names that lead, in
 * order; the others follow smaller. Figures without a value say why in their help.
 */
export function MetricFigures({ run, rank, wanted = [] }) {
  const { data } = use_rank_table(run, "metrics", rank);
  const rows = rows_of(frame_of(data));
  if (rows.length === 0) return null;
  const place = ({ metric }) => (wanted.includes(metric) ? wanted.indexOf(metric) : wanted.length);
  const sorted = [...rows].sort((a, b) => place(a) - place(b));
  const leading = sorted.filter((row) => wanted.includes(row.metric)).slice(0, LEADING);
  const rest = sorted.filter((row) => !leading.includes(row));
  return html`${leading.length > 0 && html`<dl class="kpis">${leading.map((row) =>
      html`<${Metric} key=${row.metric} row=${row} />`)}</dl>`}
    ${rest.length > 0 && html`<${Others} rows=${rest} />`}`;
}
