// SPDX-License-Identifier: Apache-2.0
// Home: what happened since the last visit, and what waits for a decision.
import { html, useEffect, useMemo, useRef, useState } from "../../base/ui.mjs";
import { api_get, use_api } from "../../base/api.mjs";
import { address, run_path } from "../../base/address.mjs";
import { ago, plural_of, sentence, time_text, typeset, when } from "../../base/format.mjs";
import { use_now, use_title } from "../../base/hooks.mjs";
import { use_rows } from "../../base/rows.mjs";
import { Card, Loaded } from "../../widgets/widgets.mjs";
import { alerts_of } from "../trends/alerts_model.mjs";
import { AlertCard } from "../trends/alert_card.mjs";
import { change_words, step_figure } from "../trends/figure_model.mjs";
import { series_key, series_path } from "../trends/trends_model.mjs";
import { per_step } from "../run/lead_model.mjs";
import { FirstRun } from "./first_run.mjs";
import {
  age_param, costliest, extremes, moved_series, newest_runs, news_sentence, visit_of,
} from "./home_model.mjs";

const KEY = "home-visit";
const POLL_MS = 15000;
const MOST_ALERTS = 3;
const MOST_FAILED = 5;
const NONE = { total: 0 };

/** When the visit before this one was; without storage, a week ago. */
function this_visit() {
  try {
    const visit = visit_of(JSON.parse(localStorage.getItem(KEY) ?? "null"), Date.now());
    localStorage.setItem(KEY, JSON.stringify(visit.keep));
    return visit;
  } catch {
    return visit_of(null, Date.now());
  }
}

/**
 * Runs since a time. Their address changes with its age; until the new one has an answer, that of
 * the last one stays.
 */
function use_runs_since(since, params) {
  const last = useRef(null);
  const resource = use_api(address("/runs", { ...params, since }), () => POLL_MS);
  last.current = resource.data ?? last.current;
  return { ...resource, data: last.current };
}

function Waiting({ alerts, now }) {
  const shown = alerts.slice(0, MOST_ALERTS);
  if (shown.length === 0) return null;
  return html`<${Card} title="Awaiting a decision" href="/alerts" flush=${true}
      note=${alerts.length > shown.length ? `${shown.length} of ${alerts.length} alerts` : ""}>
    <ul class="alerts alerts-list" tabindex="-1">${shown.map((alert) =>
      html`<${AlertCard} key=${alert.id} alert=${alert} now=${now} />`)}</ul><//>`;
}

const tone_of = (share) => (share > 0 ? "worse" : "better");

function Moved({ rows }) {
  return html`<${Card} title="Series that moved" href="/trends"
      note="compared with earlier runs">
    ${rows.length === 0 ? html`<p class="empty-line">No series moved by 1 % or more.</p>`
      : html`<ul class="news">${rows.map((row) => html`<li key=${series_key(row)}>
        <a href=${series_path(row.project, row.series)}>${row.series}</a>
        <strong class=${tone_of(row.change_share)}>${
          change_words(row.change_share, step_figure(row))}</strong>
        <span class="faint">${time_text(row.step_median_ns)}${
          per_step(row.no_steps)}</span></li>`)}</ul>`}<//>`;
}

function Extreme({ label, row }) {
  if (!row) return null;
  return html`<li><span class="faint">${label}</span> <a href=${run_path(row.last_run)}>newest run
    of ${row.series}</a> <strong class=${tone_of(row.change_share)}>${
    change_words(row.change_share, step_figure(row))}</strong></li>`;
}

function Extremes({ best, worst, compared }) {
  return html`<${Card} title="Best and worst run" note="against earlier runs of the same series">
    ${best || worst ? html`<ul class="news"><${Extreme} label="Best" row=${best} />
      <${Extreme} label="Worst" row=${worst} /></ul>`
      : html`<p class="empty-line">${compared
        ? "No new run differs by 1 % or more from earlier runs."
        : `No new run belongs to a series with earlier runs. Runs whose names agree up to the @
          form a series.`}</p>`}<//>`;
}

const FAILED = "failed";

/** The costliest findings of the newest runs, each with its run; null: not yet, or FAILED. */
function use_findings(runs) {
  const chosen = newest_runs(runs);
  const key = chosen.map(({ id }) => id).join(" ");
  const [found, set_found] = useState(null);
  useEffect(() => {
    const stop = new AbortController();
    const of_run = async (run) => {
      const path = address(`${run_path(run.id)}/findings`, { sort: "-cost_ns", limit: 3,
        fields: "id,title,cost_ns,cost_share,severity" });
      const { data } = await api_get(path, stop.signal);
      return data.items.map((finding) => ({ ...finding, run }));
    };
    Promise.all(chosen.map(of_run)).then((lists) => set_found(costliest(lists)),
      () => !stop.signal.aborted && set_found(FAILED));
    return () => stop.abort();
  }, [key]);
  return found;
}

function no_findings(found) {
  if (found === null) return "Looking…";
  return found === FAILED ? "The findings could not be loaded."
    : "No new run has a finding that costs time.";
}

function Findings({ runs }) {
  const found = use_findings(runs);
  const rows = Array.isArray(found) ? found : [];
  return html`<${Card} title="Costliest findings of new runs"
      note="upper bounds, per step where steps are marked">
    ${rows.length > 0 ? html`<ul class="news">${rows.map((finding) => html`<li
        key=${`${finding.run.id} ${finding.id}`}><span class="cost">${
        time_text(finding.cost_ns)}</span> <a href=${run_path(finding.run.id, "findings")}>${
        sentence(typeset(finding.title))}</a> <span class="faint">${
        finding.run.name}</span></li>`)}</ul>`
      : html`<p class="empty-line">${no_findings(found)}</p>`}<//>`;
}

function Failed({ runs, now }) {
  if (runs.length === 0) return null;
  return html`<${Card} title="Failed uploads" href="/?q=status%3Afailed">
    <ul class="news">${runs.slice(0, MOST_FAILED).map((run) => html`<li key=${run.id}>
      <a href=${run_path(run.id, "data")}>${run.name}</a> <span class="faint">${
      ago(run.created, now)}</span> <span class="run-error">${sentence(run.error)}</span></li>`)}
    </ul><//>`;
}

function News({ runs, visit, since, now }) {
  const { rows: series } = use_rows("/series?limit=all&format=columns", POLL_MS);
  const { rows: alerts } = use_rows("/alerts?format=columns&limit=all&status=new", POLL_MS);
  const failed = use_runs_since(since, { status: "failed", limit: 20 });
  const bad = failed.data?.items ?? [];
  const moved = moved_series(series, alerts, visit.since);
  const sorted = useMemo(() => alerts_of(alerts, "new"), [alerts]);
  const begin = visit.first ? "In the last 7 days: "
    : `Since you were here on ${when(new Date(visit.since).toISOString())}: `;
  return html`<p class="lead">${begin}${news_sentence({ runs, moved: moved.length,
      failed: failed.data ?? NONE, alerts: sorted.length })}</p>
    <${Waiting} alerts=${sorted} now=${now} />
    <div class="columns-2"><${Moved} rows=${moved} />
      <${Extremes} ...${extremes(series, visit.since)} /></div>
    <${Findings} runs=${runs.items} />
    <${Failed} runs=${bad} now=${now} />
    <p><a href="/">All runs</a></p>`;
}

export default function Home() {
  use_title("Home");
  const now = use_now();
  const [visit] = useState(this_visit);
  const since = age_param(visit.since, now);
  const any = use_api("/runs?sort=-created&limit=1", () => POLL_MS);
  const fresh = use_runs_since(since, { sort: "-created", limit: 100 });
  return html`<header class="page-head"><h1 tabindex="-1">Home</h1>
      <p class="page-note">${any.data?.total > 0 && `${plural_of(any.data, "run")} in all`}</p>
    </header>
    <${Loaded} resource=${any}>${(reply) => (reply.total === 0 ? html`<${FirstRun} />`
      : html`<${Loaded} resource=${fresh}>${(runs) => html`<${News} runs=${runs} visit=${visit}
        since=${since} now=${now} />`}<//>`)}<//>`;
}
