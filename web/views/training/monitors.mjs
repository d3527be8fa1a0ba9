// SPDX-License-Identifier: Apache-2.0
// What monitors recorded of the GPUs: power, clock, temperature and the rest over time.
import { html, useMemo } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { seconds } from "../../base/format.mjs";
import { StepCurve } from "../../charts/step_curve.mjs";
import { Card, ExportLinks, Lead } from "../../widgets/widgets.mjs";
import { Pick } from "../../widgets/pick.mjs";
import { RankTable } from "../run/rank_table.mjs";
import { MONITOR_METRICS, gpu_series, monitor_text } from "./monitor_model.mjs";
import { chosen_of, known_of } from "./training_model.mjs";

const VIEW = {
  id: "monitors",
  caption: "Monitors",
  sort: "gpu",
  columns: [
    { key: "gpu", label: "GPU" },
    { key: "host", label: "Host", sparse: true, priority: 3 },
    { key: "part", label: "Part", sparse: true, priority: 3 },
    { key: "name", label: "Name", className: "clip", width_px: 200, sparse: true, priority: 3 },
    { key: "power_w", label: "Power", sparse: true },
    { key: "power_max_w", label: "Highest", sparse: true, priority: 3 },
    { key: "power_limit_w", label: "Limit", sparse: true, priority: 4 },
    { key: "energy_j", label: "Energy", sparse: true, priority: 4 },
    { key: "clock_mhz", label: "Clock", sparse: true, priority: 2 },
    { key: "clock_rated_mhz", label: "Rated", sparse: true, priority: 4 },
    { key: "temperature_c", label: "Hottest", unit: "°C", sparse: true, priority: 3 },
    { key: "utilization_share", label: "Utilization", sparse: true, priority: 2 },
    { key: "idle_share", label: "Idle", sparse: true, priority: 3 },
    { key: "memory_bytes", label: "Memory", sparse: true, priority: 3 },
    { key: "throttled_share", label: "Throttled", sparse: true },
    { key: "throttle_reason", label: "By", sparse: true, priority: 2 },
    { key: "file", label: "File", className: "clip", width_px: 160, priority: 4 },
  ],
};

function Curves({ caption, rows }) {
  const [query, change] = use_query({ monitor: "power_w" });
  const metrics = useMemo(() => known_of(MONITOR_METRICS, rows), [rows]);
  const metric = chosen_of(metrics, query.monitor);
  const series = useMemo(() => (metric ? gpu_series(rows, metric) : []), [rows, metric]);
  if (series.length === 0) {
    return html`<p class="empty-line">No samples over time to draw;
      what was recorded is below.</p>`;
  }
  return html`<${StepCurve} series=${series} caption=${caption} x_label="Time"
    y_label=${metric.label} x_text=${seconds} y_text=${metric.text}
    from_zero=${metric.from_zero} actions=${html`<${Pick} label="Show" choices=${metrics}
      chosen=${metric} onchange=${(key) => change({ monitor: key })} />`} />`;
}

/**
 * Nothing without a monitor.
 * @param {{monitors: any, series: any, leads: boolean}} props tables; whether the page begins with
 *   what they say
 */
export function Monitors({ monitors, series, leads }) {
  if (monitors.rows.length === 0) return null;
  const text = monitor_text(monitors.rows);
  return html`${leads && html`<${Lead} text=${`${text}.`} />`}
    <${Card} title="Hardware" note="recorded by GPU monitors"
      actions=${html`<${ExportLinks} links=${series.links} />`}>
      <${Curves} caption=${leads ? "Over time" : text} rows=${series.rows} /><//>
    <${Card} title="Monitors" flush=${true}
      actions=${html`<${ExportLinks} links=${monitors.links} />`}>
      <${RankTable} frame=${monitors.frame} view=${VIEW} /><//>`;
}
