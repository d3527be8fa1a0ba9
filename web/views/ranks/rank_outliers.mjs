// SPDX-License-Identifier: Apache-2.0
// The ranks farthest from the median as a table: the heatmap for readers.
import { html, useMemo } from "../../base/ui.mjs";
import { address, run_path } from "../../base/address.mjs";
import { use_query } from "../../base/router.mjs";
import { ms_signed, number, time_text } from "../../base/format.mjs";
import { frame_of, sort_rows, value_at } from "../../base/frame.mjs";
import { tone_of } from "../../charts/delta.mjs";
import { Card } from "../../widgets/widgets.mjs";
import { Table } from "../../widgets/table.mjs";
import { reason_label } from "./lateness_model.mjs";
import { is_figure, MATTERS_FROM, outliers } from "./outlier_model.mjs";

const TOP = 20;

const is_late = ({ lateness_ns }, late, step_ns) =>
  late?.late_calls > 0 && lateness_ns >= MATTERS_FROM * step_ns;

/** Rows of the table: each rank with its position on the metric and why it is late. */
function outlier_rows(rows, metric, step_ns, lateness) {
  const late_of = new Map(lateness.map((row) => [row.rank, row]));
  return outliers(rows, metric.column, step_ns).map((found) => {
    const row = rows[found.row];
    const late = late_of.get(row.rank);
    return { rank: row.rank, node: row.node ?? null, local_rank: row.local_rank ?? null,
      value: found.value, away: Math.abs(found.away_ns), away_ns: found.away_ns,
      distance: found.distance === null ? null : Math.abs(found.distance),
      stands_out: found.stands_out, step_median_ns: row.step_median_ns,
      compute_ns: row.compute_ns, exposed_wait_ns: row.exposed_wait_ns ?? null,
      idle_ns: row.idle_ns, reason: is_late(row, late, step_ns) ? late.reason : null };
  });
}

const SMALL_NS = 10_000; // has too many zeros in milliseconds

/** A signed difference in milliseconds, or a small one with its own unit. */
const away_text = (ns) => (ns === null || ns === 0 || Math.abs(ns) >= SMALL_NS ? ms_signed(ns)
  : `${ns > 0 ? "+" : ""}${time_text(ns)}`);

const FAR = 99.9; // larger distances are shown as this

function columns_of(frame, run, metric, whole) {
  const at = (key, row) => value_at(frame, key, row);
  const own = metric.column;
  return [
    { key: "rank", label: "Rank", kind: "text", width_px: 130, cell: (row) => html`<a
      href=${address(run_path(run, "timeline"), { rank: at("rank", row) })}
      title="Its timeline">${at("rank", row)}</a>${at("stands_out", row)
        && html`<span class="chip only-wide">stands out</span>`}` },
    { key: "node", label: "Node", priority: 3, className: "clip short" },
    { key: "local_rank", label: "GPU", kind: "plain", priority: 4 },
    { key: "value", label: metric.label, kind: "ms", help: metric.help },
    { key: "away", label: "Against median", kind: "number", unit: "ms", cell: (row) =>
      html`<span class=${at("stands_out", row) ? tone_of(at("away_ns", row)) : ""}>${
        away_text(at("away_ns", row))}</span>` },
    { key: "distance", label: "Distance", kind: "number", priority: 2, help: "How far from the "
      + "median, in robust standard deviations: 1.4826 times the median absolute deviation. A "
      + "rank stands out at 3.5 or more and half a percent of the step.",
      cell: (row) => (at("distance", row) === null ? "–"
        : `${at("distance", row) > FAR ? ">99" : number(at("distance", row), 2)} σ`) },
    { key: "step_median_ns", label: whole ? "Recording" : "Step p50", kind: "ms", priority: 3 },
    { key: "compute_ns", label: "Compute", kind: "ms", priority: 4 },
    { key: "exposed_wait_ns", label: "Exposed wait", kind: "ms", priority: 2 },
    { key: "idle_ns", label: "Idle", kind: "ms", priority: 4 },
    { key: "reason", label: "Late, because", priority: 2, width_px: 170, cell: (row) =>
      (is_figure(at("reason", row)) ? reason_label(at("reason", row)) : "–") },
  ].filter(({ key }) => key === "value" || key !== own);
}

/**
 * @param {{run: string, rows: any[], metric: import("./outlier_model.mjs").Metric, step_ns: number,
 *          lateness: any[], whole: boolean}} props
 */
export function RankOutliers({ run, rows, metric, step_ns, lateness, whole }) {
  const [query, change] = use_query({ far: "-away" });
  const found = useMemo(() => outlier_rows(rows, metric, step_ns, lateness),
    [rows, metric, step_ns, lateness]);
  const frame = useMemo(() => frame_of(found), [found]);
  const shown = useMemo(() => sort_rows(frame,
    Array.from({ length: frame.length }, (_, i) => i), query.far).slice(0, TOP),
  [frame, query.far]);
  const out = found.filter(({ stands_out }) => stands_out).length;
  const say = out === 0 ? "no rank stands out" : `${out} of ${found.length} stand${
    out === 1 ? "s" : ""} out`;
  return html`<${Card} title="Farthest from the median" flush=${true}
      note="${metric.label.toLowerCase()}: ${say}${
        found.length > TOP ? `; the first ${TOP} of this order` : ""}">
    <${Table} caption="Ranks farthest from the median" frame=${frame} rows=${shown}
      columns=${columns_of(frame, run, metric, whole)} sort=${query.far}
      onsort=${(far) => change({ far })} /><//>`;
}
