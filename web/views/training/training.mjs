// SPDX-License-Identifier: Apache-2.0
// What the training logs of a run say: loss and speed over steps, slow steps, events, settings.
import { html, useMemo } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { capital, plural } from "../../base/format.mjs";
import { frame_of, value_at, with_columns } from "../../base/frame.mjs";
import { StepCurve } from "../../charts/step_curve.mjs";
import { Card, Empty, ExportLinks, Loaded, Loading } from "../../widgets/widgets.mjs";
import { Pick } from "../../widgets/pick.mjs";
import { COMPUTED, LogFigures } from "../run/log_figures.mjs";
import { main_log } from "../run/log_model.mjs";
import { RankTable, RunTableCard } from "../run/rank_table.mjs";
import { RunFrame } from "../run/run_frame.mjs";
import { awaited, use_table } from "../run/run_table.mjs";
import { Hang } from "./hang.mjs";
import { LiveSteps, use_live } from "./live_steps.mjs";
import { Monitors } from "./monitors.mjs";
import { phases_of, stopped_text } from "./phase_model.mjs";
import { RankMonitors } from "./rank_monitors.mjs";
import { AXES, METRICS, chosen_of, event_label, event_places, files_of, known_of, loss_text,
  marks_of, series_of } from "./training_model.mjs";

const ALL = { limit: "all" };
const UNKNOWN = { item: "model_flops_unknown", limit: "all" };

/** Why nothing follows: "MFU is not computed from tokens per second: ...". */
const Unknown = ({ rows }) => rows.map(({ detail }) =>
  html`<p key=${detail} class="footnote">${capital(detail)}.</p>`);

function Curves({ rows, events, log }) {
  const [query, change] = use_query({ metric: "loss", by: "step" });
  const metrics = useMemo(() => known_of(METRICS, rows), [rows]);
  const axes = useMemo(() => known_of(AXES, rows), [rows]);
  const metric = chosen_of(metrics, query.metric);
  const axis = chosen_of(axes, query.by);
  const series = useMemo(() => series_of(rows, metric, axis), [rows, metric, axis]);
  const marks = useMemo(() => marks_of(events, axis), [events, axis]);
  const pick = html`<${Pick} label="Show" choices=${metrics} chosen=${metric}
      onchange=${(key) => change({ metric: key })} />
    <${Pick} label="over" choices=${axes} chosen=${axis}
      onchange=${(key) => change({ by: key })} />`;
  if (series.length === 0) return html`${pick}<p class="empty-line">Not in this log.</p>`;
  const caption = metric.key === "loss" ? loss_text(log) : `${metric.label} over ${
    plural(log.steps, "step")}`;
  return html`<${StepCurve} series=${series} marks=${marks} caption=${caption} actions=${pick}
    x_label=${axis.label} y_label=${metric.label} x_text=${axis.text} y_text=${metric.text}
    y_tick=${metric.tick}
    from_zero=${metric.from_zero} />`;
}

const kind_cell = (row, frame) => event_label(value_at(frame, "kind", row));

const SLOW = {
  id: "slow",
  caption: "Slow steps",
  sort: "-lost_ns",
  limit: 10,
  columns: [
    { key: "step", label: "Step" },
    { key: "step_ns", label: "Step time" },
    { key: "lost_ns", label: "Over the median" },
    { key: "kind", label: "Nearby event", cell: kind_cell },
    { key: "text", label: "The log says", className: "mono clip", width_px: 420, priority: 2 },
    { key: "file", label: "Log", className: "clip", width_px: 180, priority: 4 },
  ],
};

const EVENTS = {
  id: "events",
  caption: "Events",
  sort: "place",
  search: ["kind", "text"],
  limit: 20,
  columns: [
    { key: "kind", label: "Event", cell: kind_cell },
    { key: "after_step", label: "After step" },
    { key: "time_ns", label: "At", sparse: true, priority: 3 },
    { key: "dur_ns", label: "Took", sparse: true },
    { key: "loss", label: "Loss", sparse: true, priority: 2 },
    { key: "text", label: "The log says", className: "mono clip", width_px: 520, sparse: true,
      priority: 2 },
    { key: "file", label: "Log", className: "clip", width_px: 180, priority: 4 },
  ],
};

const LOGS = {
  id: "logs",
  caption: "Logs",
  sort: "-steps",
  columns: [
    { key: "file", label: "Log", className: "mono clip", width_px: 260 },
    { key: "framework", label: "Written by", priority: 3 },
    { key: "steps", label: "Steps" },
    { key: "restarts", label: "Restarts", sparse: true, priority: 4 },
    { key: "step_median_ns", label: "Step p50" },
    { key: "step_p95_ns", label: "p95", priority: 4 },
    { key: "tokens_per_s", label: "Tokens/s per GPU", sparse: true, priority: 2 },
    { key: "samples_per_s", label: "Samples/s", sparse: true, priority: 3 },
    { key: "tflops", label: "TFLOP/s per GPU", sparse: true, priority: 2 },
    { key: "last_loss", label: "Last loss", priority: 2 },
    { key: "loss_spikes", label: "Spikes", sparse: true, priority: 4 },
    { key: "nan_steps", label: "NaN", sparse: true, priority: 4 },
    { key: "skipped_steps", label: "Skipped", sparse: true, priority: 4 },
    { key: "memory_bytes", label: "Memory", sparse: true, priority: 3 },
  ],
};

const SETTINGS = {
  id: "settings",
  caption: "Settings",
  sort: "name",
  search: ["name", "value", "standard"],
  limit: 15,
  columns: [
    { key: "name", label: "Setting", className: "mono" },
    { key: "value", label: "Value", className: "mono clip", width_px: 420 },
    { key: "standard", label: "Standard name", className: "mono", sparse: true, priority: 2 },
    { key: "unit", label: "Unit", sparse: true, priority: 4 },
    { key: "file", label: "File", className: "clip", width_px: 220, priority: 3 },
  ],
};

const RESULTS = {
  id: "results",
  caption: "Results",
  sort: "name",
  search: ["name"],
  limit: 15,
  columns: [
    { key: "name", label: "Figure", className: "mono" },
    { key: "value", label: "Value" },
    { key: "unit", label: "Unit" },
    { key: "file", label: "File", className: "clip", width_px: 220, priority: 3 },
  ],
};

const PHASES = {
  id: "phases",
  caption: "Host phases",
  sort: "-total_ns",
  search: ["phase"],
  limit: 15,
  columns: [
    { key: "phase", label: "Phase", className: "mono" },
    { key: "ranks", label: "Ranks", kind: "count", priority: 3 },
    { key: "median_ns", label: "Median", kind: "ms" },
    { key: "slowest", label: "Slowest rank" },
    { key: "slowest_ns", label: "Its median", kind: "ms", priority: 2 },
    { key: "behind_share", label: "Over the median", kind: "share", priority: 2 },
    { key: "max_ns", label: "Longest", kind: "ms", priority: 3 },
    { key: "max_at", label: "Rank, step", className: "mono", priority: 4 },
    { key: "unfinished", label: "Never ended on", className: "clip", width_px: 220,
      priority: 2 },
  ],
};

function Phases({ table }) {
  const frame = useMemo(() => frame_of(phases_of(table.rows)), [table.rows]);
  if (table.rows.length === 0) return null;
  const stopped = stopped_text(table.rows);
  return html`<${Card} title="Host phases" flush=${true}
      note="what the host of each rank spent its time on, by structured logs; phases nest"
      actions=${html`<${ExportLinks} links=${table.links} />`}>
    ${stopped && html`<p class="empty-line">${stopped}</p>`}
    <${RankTable} frame=${frame} view=${PHASES} /><//>`;
}

const NoLog = () => html`<${Empty} title="No training log yet">
  <p>Upload the log of the job to this run to see its loss and speed over steps, and what slowed it
    down: <code>curl -F run=NAME -F trace=@train.log HOST/upload</code>.
    ${" "}<a href="/docs/recording">Which logs are read</a></p><//>`;

function Content({ run, summary }) {
  const live = use_live(run);
  const logs = use_table(run, "logs", ALL);
  const curve = use_table(run, "log_curve", ALL);
  const events = use_table(run, "log_events", ALL);
  const slow = use_table(run, "log_slow_steps", ALL);
  const ordered = useMemo(() => ({ ...events,
    frame: with_columns(events.frame, { place: event_places(events.rows) }) }), [events.frame]);
  const phases = use_table(run, "host_phases", ALL);
  const settings = use_table(run, "job_settings", ALL);
  const results = use_table(run, "job_results", ALL);
  const computed = use_table(run, "figures", COMPUTED);
  const unknown = use_table(run, "trust", UNKNOWN);
  const monitors = use_table(run, "monitors", ALL);
  const series = use_table(run, "monitor_series", ALL);
  const monitored = use_table(run, "rank_monitors", ALL);
  const monitored_series = use_table(run, "rank_monitor_series", ALL);
  const verdict = use_table(run, "hang_verdict", ALL);
  const groups = use_table(run, "hang_groups", ALL);
  const ranks = use_table(run, "hang_ranks", ALL);
  const progress = use_table(run, "hang_progress", ALL);
  const all = [logs, curve, events, slow, phases, settings, results, monitors, series, verdict,
    groups, ranks, progress, monitored, monitored_series, computed, unknown];
  return html`<${Loaded} resource=${awaited(all)}>${() => {
    const log = main_log(logs.rows);
    const has_steps = live.data?.points.length > 0;
    const is_empty = !has_steps && [logs, phases, settings, results, monitors, monitored, verdict]
      .every(({ rows }) => rows.length === 0);
    if (is_empty) return live.loading ? html`<${Loading} />` : html`<${NoLog} />`;
    const several = files_of(curve.rows).length > 1;
    return html`<${Hang} verdict=${verdict} groups=${groups} ranks=${ranks}
        progress=${progress} />
      ${has_steps && html`<${LiveSteps} live=${live.data} />`}
      ${log && html`<${LogFigures} logs=${logs} computed=${computed.rows}
        traced_ns=${summary?.step_median_ns ?? null} />
      <${Unknown} rows=${unknown.rows} />
      <${Card} title="Over the job" note=${several ? "" : log.file}
        actions=${html`<${ExportLinks} links=${curve.links} />`}>
        <${Curves} rows=${curve.rows} events=${events.rows} log=${log} /><//>`}
      <${RankMonitors} run=${run} ranks=${monitored} series=${monitored_series} />
      <${Monitors} monitors=${monitors} series=${series}
        leads=${!log && !has_steps && verdict.rows.length === 0} />
      <${Phases} table=${phases} />
      <${RunTableCard} title="Slow steps" table=${slow} view=${SLOW}
        note="more than 1.2 times the median, with what the log says at the time" />
      <${RunTableCard} title="Events" table=${ordered} view=${EVENTS}
        note="what the log says between steps" />
      <${RunTableCard} title="Logs" table=${logs} view=${LOGS}
        note="medians over the steady steps" />
      <${RunTableCard} title="Results" table=${results} view=${RESULTS}
        note="achieved by the job, from the run's files" />
      <${RunTableCard} title="Settings" table=${settings} view=${SETTINGS}
        note="of the job, from the run's files" />`;
  }}<//>`;
}

export default function Training({ route }) {
  return html`<${RunFrame} route=${route} title="Training">${(data, run) =>
    html`<${Content} run=${run} summary=${data.summary} />`}<//>`;
}
