// SPDX-License-Identifier: Apache-2.0
// What monitors recorded of each rank's GPU, on the time of the rank's trace.
import { html, useMemo } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { number, seconds } from "../../base/format.mjs";
import { StepCurve } from "../../charts/step_curve.mjs";
import { Card, ExportLinks } from "../../widgets/widgets.mjs";
import { Pick } from "../../widgets/pick.mjs";
import { use_table } from "../run/run_table.mjs";
import { RankTable } from "../run/rank_table.mjs";
import { MONITOR_METRICS, busy_lane, joined_text, rank_series } from "./monitor_model.mjs";
import { chosen_of, known_of } from "./training_model.mjs";

const milliseconds = (ns) => `${number(ns / 1e6)} ms`;

const VIEW = {
  id: "rank_monitors",
  caption: "Ranks and their GPUs",
  sort: "rank",
  columns: [
    { key: "rank", label: "Rank" },
    { key: "gpu", label: "GPU" },
    { key: "host", label: "Host", sparse: true, priority: 4 },
    { key: "covers", label: "Over", priority: 3 },
    { key: "power_w", label: "Power", sparse: true },
    { key: "energy_j_per_step", label: "Energy per step", sparse: true, priority: 2 },
    { key: "tokens_per_j", label: "Tokens per joule", sparse: true, priority: 4 },
    { key: "clock_mhz", label: "Clock", sparse: true, priority: 2 },
    { key: "clock_state", label: "Clock is", sparse: true, priority: 4 },
    { key: "temperature_c", label: "Hottest", unit: "°C", sparse: true, priority: 4 },
    { key: "utilization_share", label: "Utilization", sparse: true, priority: 4 },
    { key: "throttled_share", label: "Throttled", sparse: true, priority: 2 },
    { key: "throttle_cost_ns", label: "Costs per step", sparse: true, priority: 3 },
    { key: "joined_by", label: "GPU by", priority: 3 },
    { key: "aligned_by", label: "Time by", sparse: true, priority: 3 },
    { key: "doubt", label: "Doubt", sparse: true, className: "wrap faint", priority: 4 },
  ],
};

function Curve({ run, rows, aligned }) {
  const [query, change] = use_query({ rank_monitor: "power_w", monitored: "" });
  const ranks = useMemo(() => [...new Set(aligned.map(({ rank }) => rank))]
    .map((rank) => ({ key: String(rank), label: `Rank ${rank}` })), [aligned]);
  const rank = chosen_of(ranks, query.monitored);
  const own = useMemo(() => rows.filter((row) => String(row.rank) === rank.key), [rows, rank.key]);
  const metrics = useMemo(() => known_of(MONITOR_METRICS, own), [own]);
  const metric = chosen_of(metrics, query.rank_monitor);
  const busy = use_table(run, "busy_series", { rank: rank.key, limit: "all" });
  const lane = useMemo(() => busy_lane(busy.rows), [busy.rows]);
  const series = useMemo(() => (metric ? rank_series(own, metric) : []), [own, metric]);
  const picks = html`<${Pick} label="Of" choices=${ranks} chosen=${rank}
      onchange=${(key) => change({ monitored: key })} />
    <${Pick} label="Show" choices=${metrics} chosen=${metric}
      onchange=${(key) => change({ rank_monitor: key })} />`;
  if (series.length === 0) {
    return html`<div class="filter-bar">${picks}</div>
      <p class="empty-line">${rank.label} has no values during its trace.</p>`;
  }
  const joined = joined_text(aligned.find((row) => String(row.rank) === rank.key));
  const short = own.at(-1).time_ns < 2e9;
  return html`<${StepCurve} series=${series} lane=${lane} x_label="Time"
    x_text=${short ? milliseconds : seconds}
    caption=${lane.length > 0 ? `${joined}. The bar on top is busy time in the trace` : joined}
    y_label=${metric.label} y_text=${metric.text} from_zero=${metric.from_zero}
    actions=${picks} />`;
}

/** Nothing without a rank. @param {{run: string, ranks: any, series: any}} props tables */
export function RankMonitors({ run, ranks, series }) {
  const aligned = useMemo(() => ranks.rows.filter(({ aligned_by }) => aligned_by !== null),
    [ranks.rows]);
  if (ranks.rows.length === 0) return null;
  return html`${aligned.length > 0 && html`<${Card} title="Ranks' hardware"
        note="by GPU monitors, while the traces were recorded"
        actions=${html`<${ExportLinks} links=${series.links} />`}>
        <${Curve} run=${run} rows=${series.rows} aligned=${aligned} /><//>`}
    <${Card} title="Ranks and their GPUs" flush=${true}
      actions=${html`<${ExportLinks} links=${ranks.links} />`}>
      <${RankTable} frame=${ranks.frame} view=${VIEW} /><//>`;
}
