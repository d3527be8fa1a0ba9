// SPDX-License-Identifier: Apache-2.0
// Counters of one rank: over the steady steps, each step, and over time.
import { html, useMemo } from "../../base/ui.mjs";
import { frame_of, rows_of, value_at } from "../../base/frame.mjs";
import { CounterLine } from "../../charts/counter_line.mjs";
import { Card, ExportLinks } from "../../widgets/widgets.mjs";
import { counter_label, counter_text, series_of } from "./counter_model.mjs";
import { rank_table_links, use_rank_table } from "../run/rank_data.mjs";
import { RankTable } from "../run/rank_table.mjs";

const MOST_CHARTS = 12;

const of_unit = (key) => (row, frame) =>
  counter_text(value_at(frame, key, row), value_at(frame, "unit", row));

const VIEW = {
  id: "counters",
  caption: "Counters",
  sort: "counter",
  search: ["counter"],
  limit: 20,
  columns: [
    { key: "counter", label: "Counter", className: "mono clip", width_px: 320 },
    { key: "device", label: "Device", priority: 3 },
    { key: "mean", label: "Mean", cell: of_unit("mean") },
    { key: "min", label: "Least", cell: of_unit("min"), priority: 2 },
    { key: "max", label: "Most", cell: of_unit("max") },
    { key: "covered_share", label: "Share of steps", priority: 3 },
    { key: "spacing_ns", label: "Every", priority: 4 },
  ],
};

function Charts({ run, rank, rows }) {
  const { data } = use_rank_table(run, "counter_series", rank, { limit: "all" });
  const points = useMemo(() => (data ? rows_of(frame_of(data)) : []), [data]);
  return html`<ul class="counter-charts">${rows.slice(0, MOST_CHARTS).map((row) => {
    const series = series_of(points, row);
    const text = `${counter_label(row)}: ${counter_text(series.low, row.unit)} to ${
      counter_text(series.high, row.unit)}`;
    return series.points.length > 1 && html`<li key=${counter_label(row)}>
      <p class="readout">${text}</p>
      <${CounterLine} series=${series} label=${`${text} over the recording`} /></li>`;
  })}</ul>`;
}

/**
 * Nothing if no counter was recorded, as in most traces.
 * @param {{run: string, rank: string}} props
 */
export function Counters({ run, rank }) {
  const { data } = use_rank_table(run, "counters", rank);
  const frame = useMemo(() => (data ? frame_of(data) : null), [data]);
  if (!frame || frame.length === 0) return null;
  return html`<${Card} title="Counters" note="mean over the steady steps, weighted by time"
      actions=${html`<${ExportLinks} links=${rank_table_links(run, "counter_steps", rank)} />`}>
    <${Charts} run=${run} rank=${rank} rows=${rows_of(frame)} />
    <${RankTable} frame=${frame} view=${VIEW} /><//>`;
}
