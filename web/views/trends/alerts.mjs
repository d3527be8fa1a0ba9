// SPDX-License-Identifier: Apache-2.0
// The inbox of alerts: runs that left the level of their series, worse ones first.
import { html, useMemo } from "../../base/ui.mjs";
import { api_href } from "../../base/api.mjs";
import { use_query } from "../../base/router.mjs";
import { address } from "../../base/address.mjs";
import { use_now, use_title } from "../../base/hooks.mjs";
import { count, plural } from "../../base/format.mjs";
import { ExportLinks, Lead, Loaded, Segments } from "../../widgets/widgets.mjs";
import { AlertCard } from "./alert_card.mjs";
import { alerts_lead, alerts_of, counts_by_status, none_text, STATUSES } from "./alerts_model.mjs";
import { series_path } from "./trends_model.mjs";
import { use_alerts } from "./trends_data.mjs";

const DEFAULTS = { status: "new", project: "", series: "" };
const MOST_SHOWN = 100;
const MOST_EXPLAINED = 8;

function StatusChoice({ value, alerts, onchange }) {
  const counts = counts_by_status(alerts);
  const options = STATUSES.map(({ key, word }) => [key, html`${word}${counts[key] > 0 && html`
    <span class="segment-count">${count(counts[key])}</span>`}`]);
  return html`<${Segments} label="Status" value=${value} options=${[...options, ["all", "All"]]}
    onchange=${onchange} />`;
}

function Scope({ query, change }) {
  if (!query.series && !query.project) return null;
  return html`<span class="scope">${query.series
      ? html`of <a href=${series_path(query.project, query.series)}>${query.series}</a>`
      : `of project ${query.project}`}${" "}
    <button type="button" class="link" onClick=${() => change({ project: "", series: "" })}>show
      all</button></span>`;
}

function Inbox({ alerts, status }) {
  const now = use_now();
  const chosen = useMemo(() => alerts_of(alerts, status), [alerts, status]);
  const cards = chosen.slice(0, MOST_SHOWN).map((alert, i) => html`<${AlertCard}
    key=${alert.id} alert=${alert} now=${now} explains=${i < MOST_EXPLAINED} />`);
  // The list takes the focus of an alert that leaves it, even the last one.
  return html`<div class="card alerts-list" tabindex="-1">${chosen.length > 0
      ? html`<ul class="alerts">${cards}</ul>`
      : html`<p class="empty-line alerts-none">${none_text(status)}</p>`}</div>
    ${chosen.length > MOST_SHOWN && html`<p class="footnote">The ${MOST_SHOWN} largest of ${
      plural(chosen.length, "alert")} are shown.</p>`}`;
}

function Meanings() {
  return html`<details class="fold"><summary>How alerts are raised and marked
    </summary>
    <div class="alert-meanings"><p>An analyzed run is compared with its series. After eight
      earlier runs, a step time beyond the noise of the series raises an alert; if later runs stay
      there, the alert becomes a change of level. Faster runs count too: an unexpected gain is
      often skipped work.</p>
    <p>Throughput, MFU, the rates of kernels, shares of the step, memory, power and loss are watched
      the same way. What changes along with step time raises no separate alert.</p>
    <dl class="definitions">${STATUSES.map(({ key, word, help }) => html`<div key=${key}><dt>${
      word}</dt><dd>${help}</dd></div>`)}</dl></div></details>`;
}

export default function Alerts() {
  use_title("Alerts");
  const [query, change] = use_query(DEFAULTS);
  const { project, series, status } = query;
  const { resource, rows } = use_alerts({ project, series, limit: "all" });
  const href = (format) => api_href(address("/alerts", { project, series, format,
    status: status === "all" ? "" : status }));
  return html`<header class="page-head"><h1 tabindex="-1">Alerts</h1>
      <p class="page-note">runs that left their series' level; worst first</p></header>
    <${Lead} text=${alerts_lead(rows)} />
    <div class="filter-bar alerts-filter"><${StatusChoice} value=${status} alerts=${rows}
        onchange=${(to) => change({ status: to })} />
      <${Scope} query=${query} change=${change} />
      <${ExportLinks} links=${[["CSV", href("csv")], ["JSON", href("json")]]} /></div>
    <${Loaded} resource=${resource}>${() => html`<${Inbox} alerts=${rows} status=${status} />`}<//>
    <${Meanings} />`;
}
