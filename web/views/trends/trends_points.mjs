// SPDX-License-Identifier: Apache-2.0
// The runs of a series as a table: the same figures as the chart, to read, sort and choose from.
import { html, useMemo } from "../../base/ui.mjs";
import { api_href } from "../../base/api.mjs";
import { run_path } from "../../base/address.mjs";
import { count, ms, short_commit, when } from "../../base/format.mjs";
import { frame_of, sort_rows } from "../../base/frame.mjs";
import { tallest_ns } from "../../charts/trend_model.mjs";
import { MiniStack } from "../../charts/stack.mjs";
import { Table } from "../../widgets/table.mjs";
import { Card, ExportLinks } from "../../widgets/widgets.mjs";
import { delta_mark } from "./baseline_model.mjs";
import { status_of } from "./alerts_model.mjs";
import { series_api } from "./trends_data.mjs";
import { change_words, direction_text, STEP, step_figure, value_text, words_of }
  from "./figure_model.mjs";
import { events_of, short_run, with_differences } from "./trends_model.mjs";

/** What happened at a run, in words. */
function Events({ events }) {
  if (events.length === 0) return html`<span class="faint">–</span>`;
  return html`<span class="events">${events.map(({ kind, words, tone, status }) => html`<span
    key=${kind} class="event ${tone ?? ""}">${
      kind === "change" ? `new level, ${words}`
        : kind === "outlier" ? "beyond the noise"
          : `alert: ${status_of(status).word.toLowerCase()}`}</span>`)}</span>`;
}

function Choose({ point, series, picked, onpick }) {
  return html`<span class="with-select"><label class="select"><input type="checkbox"
      checked=${picked.includes(point.run)} aria-label="Choose ${point.name} to compare"
      onChange=${() => onpick(point.run)} /></label>
    <a href=${run_path(point.run)} title=${point.name}>${short_run(point.name, series)}</a></span>`;
}

/** The chosen figure, which step time has its own columns for. */
const figure_column = (figure, rows) => figure.metric !== "" && ({ key: "figure",
  label: figure.label, kind: "count", width_px: 130,
  help: [figure.help, direction_text(figure)].filter(Boolean).join(" "),
  cell: (row) => value_text(figure, rows[row].figure) });

function columns_of({ rows, series, picked, onpick, longest, events, figure }) {
  const step = step_figure(rows.at(-1));
  // Runs of a series differ little: four digits.
  const time = (key) => (row) => html`<span title="${count(rows[row][key])} ns">${
    ms(rows[row][key], 4)}</span>`;
  return [
    { key: "name", label: "Run", className: "point-cell", width_px: 150, cell: (row) =>
      html`<${Choose} point=${rows[row]} series=${series} picked=${picked} onpick=${onpick} />` },
    { key: "created", label: "Uploaded", width_px: 140, priority: 2,
      cell: (row) => when(rows[row].created) },
    { key: "commit", label: "Commit", priority: 2, cell: (row) => rows[row].commit
      ? html`<code title=${rows[row].commit}>${short_commit(rows[row].commit)}</code>` : "–" },
    figure_column(figure, rows),
    { key: "step_median_ns", label: step === STEP ? "Step p50" : step.label, kind: "ms",
      cell: time("step_median_ns"), help: `${step.help} Lower is better.` },
    { key: "step_ci_low_ns", label: "95 % low", kind: "ms", priority: 4,
      cell: time("step_ci_low_ns") },
    { key: "step_ci_high_ns", label: "95 % high", kind: "ms", priority: 4,
      cell: time("step_ci_high_ns") },
    { key: "share", label: "vs before", kind: "count", width_px: 100,
      help: `${figure.label} against the previous run of the series; ▲ is ${words_of(figure)[0]}`,
      cell: (row) => rows[row].share === null ? "–" : html`<span
        title=${change_words(rows[row].share, figure)}>${delta_mark(rows[row].share)}</span>` },
    rows.some(({ run }) => events.has(run)) && { key: "what", label: "What happened",
      sort: false, width_px: 210, priority: 2,
      cell: (row) => html`<${Events} events=${events.get(rows[row].run) ?? []} />` },
    { key: "parts", label: "Breakdown", sort: false, className: "stack-cell", priority: 4,
      width_px: 260, help: "Where the time went; all runs on one scale",
      cell: (row) => html`<${MiniStack} row=${rows[row]} scale_ns=${longest}
        label="${rows[row].name}: " />` },
    { key: "gpu", label: "GPU", priority: 5 },
    { key: "ranks", label: "Ranks", kind: "count", priority: 5 },
  ].filter(Boolean);
}

/**
 * @param {{points: any[], changes: any[], alerts: any[], picked: string[], project: string,
 *          series: string, figure: import("./figure_model.mjs").Figure,
 *          onpick: (run: string) => void, sort: string, onsort: (sort: string) => void}} props
 */
export function PointsTable(props) {
  const { points, changes, alerts, picked, project, series, figure, onpick, sort, onsort } = props;
  const rows = useMemo(() => with_differences(points, figure), [points, figure]);
  const frame = useMemo(() => frame_of(rows), [rows]);
  const order = useMemo(() => sort_rows(frame, rows.map((_, i) => i), sort), [frame, sort]);
  const events = useMemo(() => events_of(points, changes, alerts, step_figure(points.at(-1))),
    [points, changes, alerts]);
  const longest = useMemo(() => tallest_ns(points), [points]);
  const href = (format) => api_href(series_api(project, series, "points",
    { format, metric: figure.metric }));
  const columns = columns_of({ rows, series, picked, onpick, longest, events, figure });
  return html`<${Card} title="Runs" flush=${true} note="choose two to compare them"
      actions=${html`<${ExportLinks} links=${[["CSV", href("csv")], ["JSON", href("json")]]} />`}>
    <${Table} caption="Runs of the series" frame=${frame} rows=${order} columns=${columns}
      sort=${sort} onsort=${onsort}
      row_class=${(row) => (picked.includes(rows[row].run) ? "picked" : "")} /><//>`;
}
