// SPDX-License-Identifier: Apache-2.0
// All series: those that need a look first drawn small, the rest listed.
import { html, useMemo } from "../../base/ui.mjs";
import { api_href } from "../../base/api.mjs";
import { use_query } from "../../base/router.mjs";
import { address } from "../../base/address.mjs";
import { use_now, use_title, use_typed } from "../../base/hooks.mjs";
import { age, ago, capital, count, ms_cell, plural, when } from "../../base/format.mjs";
import { frame_of } from "../../base/frame.mjs";
import { use_rows } from "../../base/rows.mjs";
import { parse_search } from "../../base/search_query.mjs";
import { SmallTrend } from "../../charts/trend_small.mjs";
import { Table } from "../../widgets/table.mjs";
import { Card, Command, Empty, ExportLinks, Lead, Loaded, SearchBox }
  from "../../widgets/widgets.mjs";
import { FigureChoice } from "./figure_choice.mjs";
import { change_words, direction_text, figure_named, label_within, step_figure, value_text }
  from "./figure_model.mjs";
import { POLL_MS, use_alerts, use_changes, use_figures, use_points } from "./trends_data.mjs";
import { drawn_and_listed, figure_points, last_points, last_share, new_alert_runs, news_of,
  open_alerts, series_key, series_path, series_lead, SMALL_RUNS,
  trend_sentence } from "./trends_model.mjs";
import { shown_project } from "../run/run_frame.mjs";

const DEFAULTS = { q: "", project: "", metric: "" };
const NO_RUNS = new Set();
const KEYS = ["tag", "project"];

function News({ row, alarm }) {
  const { text, tone } = news_of(row, alarm);
  return html`<span class="trend-change-words ${tone}">${text}</span>`;
}

function AlertsLink({ row }) {
  if (!row.open_alerts) return null;
  const href = address("/alerts", { project: row.project, series: row.series, status: "all" });
  return html`<a class="trend-alerts" href=${href}><span aria-hidden="true">⚑ </span>${
    plural(row.open_alerts, "open alert")}</a>`;
}

/** The newest value of the chosen figure and what there is to say about it. */
function Newest({ row, alarm, shown, figure }) {
  if (shown.length === 0) return html`<span class="faint">no ${label_within(figure)}</span>`;
  const [value, unit] = split_unit(value_text(figure, shown.at(-1).value));
  return html`<span class="small-value">${value}${unit && html`<span class="unit">${unit}</span>`}
    </span> ${figure.metric === "" ? html`<${News} row=${row} alarm=${alarm} />`
      : html`<span class="trend-change-words same">${change_words(last_share(shown), figure)}
        </span>`}`;
}

/** "12.5 %" as its number and its unit. */
function split_unit(text) {
  const at = text.indexOf(" ");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function SmallCard({ row, alarm, alarmed, now, ...more }) {
  const { project, series } = row;
  const figure = more.figure.metric === "" ? step_figure(row) : more.figure;
  const { points } = use_points(project, series, figure.metric);
  const judged = use_changes(project, series).rows;
  const changes = figure.metric === "" ? judged : [];
  const shown = last_points(figure_points(points, figure), String(SMALL_RUNS));
  const label = trend_sentence(series, shown, changes, figure);
  return html`<li class="small-card">
    <h2><a href=${series_path(project, series, figure.metric)}>${series}</a></h2>
    <p class="small-figures"><${Newest} row=${row} alarm=${alarm} shown=${shown}
      figure=${figure} /></p>
    ${shown.length > 1 ? html`<${SmallTrend} points=${shown} changes=${changes} alarmed=${
      figure.metric === "" ? alarmed : NO_RUNS} label=${label} />`
      : html`<div class="small-trend small-trend-none"></div>`}
    <p class="small-foot"><span>${plural(row.runs, "run")}${
      shown_project(row) ? ` · ${row.project}` : ""} · <time datetime=${row.last}
      title=${when(row.last)}>${ago(row.last, now)}</time></span>
      <${AlertsLink} row=${row} /></p>
  </li>`;
}

function Listed({ rows, alarms, now, below }) {
  const frame = useMemo(() => frame_of(rows), [rows]);
  const at = (row) => rows[row];
  const title = below ? "Further series" : "Series";
  return html`<${Card} title=${title} flush=${true} note=${below
      ? "those with fewer than two step times, and those that do not fit above"
      : "none has two step times yet"}>
    <${Table} caption=${title} frame=${frame} columns=${[
      { key: "series", label: "Series", className: "wrap", cell: (row) =>
        html`<a href=${series_path(at(row).project, at(row).series)}>${at(row).series}</a>` },
      { key: "project", label: "Project", priority: 3, cell: (row) =>
        shown_project(at(row)) || "–" },
      { key: "runs", label: "Runs", kind: "count" },
      { key: "step_median_ns", label: "Last step", kind: "ms", cell: (row) =>
        html`${ms_cell(at(row).step_median_ns)}${at(row).no_steps && html` <span
          class="faint">recording</span>`}` },
      rows.some(({ points }) => points > 1) && { key: "change_share",
        label: "Against earlier runs",
        priority: 2, cell: (row) => at(row).points > 1 ? html`<${News} row=${at(row)}
          alarm=${alarms.get(series_key(at(row)))} />` : "–" },
      rows.some(({ open_alerts: open }) => open > 0) && { key: "open_alerts",
        label: "Open alerts", kind: "count", priority: 2 },
      { key: "last", label: "Age", kind: "count", priority: 2, cell: (row) => html`<time
        datetime=${at(row).last} title=${when(at(row).last)}>${age(at(row).last, now)}</time>` },
    ].filter(Boolean)} /><//>`;
}

function NoSeries({ filtered }) {
  if (filtered) {
    return html`<${Empty} title="No series matches">
      <p class="faint">Words match series names. Filters: <code>tag:branch=main</code>${" "}
        <code>project:llm</code></p>
      <p><a href="/trends">Show all series</a></p><//>`;
  }
  return html`<${Empty} title="No series yet"><${Naming} /><//>`;
}

/** How runs come to share a series. */
function Naming() {
  return html`<p>Runs whose names agree up to the @ form a series.</p>
    <${Command} text=${`curl -F run=llama@$(date +%s) -F meta=commit=$(git rev-parse HEAD) \\
  -F trace=@rank0.json.gz ${location.origin}/upload`} />`;
}

function Multiples({ rows, figure }) {
  const now = use_now();
  const alerts = use_alerts({ limit: "all" }).rows;
  const alarms = useMemo(() => open_alerts(alerts), [alerts]);
  const alarmed = useMemo(() => new_alert_runs(alerts), [alerts]);
  const { drawn, listed } = useMemo(() => drawn_and_listed(rows, alarms), [rows, alarms]);
  if (drawn.length === 0) {
    return html`<${Listed} rows=${listed} alarms=${alarms} now=${now} />
      <div class="empty"><${Naming} /></div>`;
  }
  return html`${figure.metric === "" && html`<${Lead} text=${series_lead(rows, alarms)} />`}
    <ul class="small-multiples">${drawn.map((row) => html`
      <${SmallCard} key=${series_key(row)} row=${row} alarm=${alarms.get(series_key(row))}
        alarmed=${alarmed} now=${now} figure=${figure} />`)}</ul>
    ${listed.length > 0 && html`<${Listed} rows=${listed} alarms=${alarms} now=${now}
      below=${true} />`}
    <p class="footnote">A card shows the last ${SMALL_RUNS} runs, oldest on the left; each has its
      own scale. ${figure.metric === "" ? "In color: the worst open alert; in grey:"
        : "In grey:"} the last run against the median of up to eight before it.</p>`;
}

function ProjectPicker({ value, onchange }) {
  const { rows } = use_rows("/series?limit=all&format=columns", POLL_MS);
  const projects = [...new Set([...rows.map(({ project }) => project), value])].filter(Boolean);
  if (projects.length < 2) return null;
  return html`<label class="pick">Project <select value=${value}
      onChange=${(event) => onchange(event.target.value)}>
    <option value="">all</option>
    ${projects.sort().map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
  </select></label>`;
}

function note_of(rows, figure) {
  const alerts = rows.reduce((sum, row) => sum + (row.open_alerts ?? 0), 0);
  const news = alerts > 0 ? plural(alerts, "open alert") : "no open alerts";
  const direction = direction_text(figure);
  return `${capital(`${count(rows.length)} series`)} · ${news}${
    direction && ` · ${label_within(figure)}: ${direction}`}`;
}

export function SeriesList() {
  use_title("Trends");
  const [query, change] = use_query(DEFAULTS);
  const [text, set_text] = use_typed(query.q, (q) => change({ q }, { replace: true }));
  const { project, ...filters } = parse_search(query.q, KEYS);
  const params = { ...filters, project: query.project || project, limit: "all" };
  const { resource, rows } = use_rows(address("/series", { ...params, format: "columns" }),
    POLL_MS);
  const figures = use_figures(params.project ?? "", "", query.metric);
  const figure = figure_named(figures, query.metric);
  const href = (format) => api_href(address("/series", { ...params, format }));
  return html`<header class="page-head"><h1 tabindex="-1">Trends</h1>
      <p class="page-note">${rows.length > 0 && note_of(rows, figure)}</p></header>
    <div class="filter-bar">
      <${SearchBox} label="Search series" value=${text} oninput=${set_text}
        oncommit=${(q) => change({ q })} placeholder="Search series, or tag:branch=main" />
      <${ProjectPicker} value=${query.project} onchange=${(to) => change({ project: to })} />
      <${FigureChoice} figures=${figures} value=${figure.metric}
        onchange=${(metric) => change({ metric })} />
      <${ExportLinks} links=${[["CSV", href("csv")], ["JSON", href("json")]]} /></div>
    <${Loaded} resource=${resource}>${() => rows.length === 0
      ? html`<${NoSeries} filtered=${Boolean(query.q || query.project)} />`
      : html`<${Multiples} rows=${rows} figure=${figure} />`}<//>`;
}
