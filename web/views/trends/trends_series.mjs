// SPDX-License-Identifier: Apache-2.0
// One series: its runs as a line with levels, what changed when, alerts, and the runs as a table.
import { html, useMemo } from "../../base/ui.mjs";
import { navigate, use_query } from "../../base/router.mjs";
import { address, run_path } from "../../base/address.mjs";
import { use_now, use_title } from "../../base/hooks.mjs";
import { p_text, plural, short_commit, when } from "../../base/format.mjs";
import { TrendLine } from "../../charts/trend_line.mjs";
import { Card, Empty, Loaded, Segments } from "../../widgets/widgets.mjs";
import { AlertCard } from "./alert_card.mjs";
import { ordered_alerts } from "./alerts_model.mjs";
import { shown_project } from "../run/run_frame.mjs";
import { FigureChoice } from "./figure_choice.mjs";
import { figure_named, figure_note, label_within, scale_of, STEP, step_figure }
  from "./figure_model.mjs";
import { use_alerts, use_changes, use_figures, use_points } from "./trends_data.mjs";
import { compare_runs, figure_points, is_open, last_points, level_tone, level_words, levels_text,
  new_alert_runs, pick_address, picked_runs, point_text, short_run, toggled_pick, trend_sentence }
  from "./trends_model.mjs";
import { PointsTable } from "./trends_points.mjs";

const DEFAULTS = { pick: "", show: "50", sort: "-created", metric: "" };
const SHOWN = [["50", "Last 50"], ["200", "Last 200"], ["all", "All"]];

/** Choices for the number of runs that make a difference. */
const choices = (n) => SHOWN.filter(([key], i) => i === 0 || key === "all"
  ? n > 50 : n > Number(key));

function PickBar({ picked, points, onclear }) {
  if (picked.length === 0) return null;
  const names = points.filter(({ run }) => picked.includes(run)).map(({ name }) => name);
  const href = pick_address(picked, points);
  return html`<div class="pick-bar" role="region" aria-label="Chosen runs">
    <span>${href ? html`<span class="faint">Base</span> ${names[0]} <span class="faint">→
      candidate</span> ${names[1]}` : html`${names[0]} <span class="faint">– choose one more to
      compare</span>`}</span>
    <span class="form-actions">${href && html`<a class="button primary" href=${href}>Compare</a>`}
      <button type="button" class="link" onClick=${onclear}>Clear</button></span></div>`;
}

function Changes({ changes, points, figure }) {
  if (changes.length === 0) return null;
  const point_of = (id) => points.find(({ run }) => run === id);
  return html`<${Card} title="Changes of level"
      note="where earlier and later runs differ by more than their noise">
    <ul class="changes">${[...changes].reverse().map((change) => html`<li key=${change.run}>
      <${ChangeLine} change=${change} point=${point_of(change.run)} figure=${figure} />
      ${change.previous_run && html`<a href=${compare_runs(change.previous_run, change.run)}>Compare
        with the previous run</a>`}</li>`)}</ul><//>`;
}

function ChangeLine({ change, point, figure }) {
  const has_p = change.p_value !== null && change.p_value !== undefined;
  return html`<span><strong class=${level_tone(change)}>${level_words(change, figure)}
    </strong> since
    ${" "}<a href=${run_path(change.run)}>${change.run_name ?? change.run}</a>${" "}
    ${point?.commit && html`<code title=${point.commit}>${short_commit(point.commit)}</code>`}${" "}
    <span class="faint">${[change.before_ns && levels_text(change, figure),
      point && when(point.created), has_p && `p ${p_text(change.p_value)}`]
      .filter(Boolean).join(" · ")}</span></span>`;
}

function SeriesAlerts({ alerts, href }) {
  const now = use_now();
  if (alerts.length === 0) return null;
  const cards = ordered_alerts(alerts).map((alert) => html`<${AlertCard} key=${alert.id}
    alert=${alert} now=${now} shows_series=${false} />`);
  return html`<${Card} title="Alerts" flush=${true} href=${href} note="open">
    <div class="alerts-list" tabindex="-1"><ul class="alerts">${cards}</ul></div><//>`;
}

function Identity({ project, points, series }) {
  const last = points.at(-1);
  return html`<ul class="identity">
    <li>${plural(points.length, "run")}</li>
    ${shown_project({ project }) && html`<li>${project}</li>`}
    ${last?.gpu && html`<li>${last.gpu}</li>`}
    ${last?.ranks > 1 && html`<li>${plural(last.ranks, "rank")}</li>`}
    ${last && html`<li>last <a href=${run_path(last.run)}>${short_run(last.name, series)}</a>${
      " "}on ${when(last.created)}</li>`}</ul>`;
}

function axis_of(figure, points) {
  const { unit, per } = scale_of(figure, Math.max(...points.map(({ value }) => value)));
  const name = figure === STEP ? "median step" : label_within(figure);
  return { name: unit ? `${name}, ${unit}` : name, per };
}

function Line({ series, figure, shown, changes, alarmed, picked, pick, actions }) {
  const axis = useMemo(() => axis_of(figure, shown), [figure, shown]);
  return html`<${TrendLine} points=${shown} changes=${changes} alarmed=${alarmed}
    picked=${picked} caption=${trend_sentence(series, shown, changes, figure)} onpick=${pick}
    axis=${axis} judged=${figure.metric === ""} actions=${actions}
    label_of=${(change) => level_words(change, figure)} tone_of=${level_tone}
    name_of=${(point) => short_run(point.name, series)}
    text_of=${(i) => point_text(shown[i], shown[i - 1], figure)}
    onopen=${(point) => navigate(run_path(point.run))} />`;
}

function Trend({ project, series, points, changes, alerts, known_figures }) {
  const [query, change] = use_query(DEFAULTS);
  const step = step_figure(points.at(-1));
  const figures = [step, ...known_figures.slice(1)];
  const figure = figure_named(figures, query.metric);
  const is_step = figure.metric === "";
  const known = useMemo(() => figure_points(points, figure), [points, figure]);
  const shown = useMemo(() => last_points(known, query.show), [known, query.show]);
  const seen = useMemo(() => changes.filter(({ run }) => shown.some((p) => p.run === run)),
    [changes, shown]);
  const alarmed = useMemo(() => new_alert_runs(alerts, figure), [alerts, figure]);
  const picked = picked_runs(query.pick, points);
  const pick = (runs) => change({ pick: runs.length === 2 ? runs.join(",")
    : toggled_pick(picked, runs[0]) });
  const options = choices(known.length);
  const actions = options.length > 1 && html`<${Segments} label="Runs shown"
    value=${query.show} options=${options} onchange=${(show) => change({ show })} />`;
  return html`<${Card} title="${figure.label}, run by run"
      note=${figure_note(figure, points, known)} actions=${html`<${FigureChoice}
        figures=${figures} value=${figure.metric} onchange=${(metric) => change({ metric })} />`}>
      ${shown.length === 0 ? html`<p class="empty-line">${trend_sentence(series, [], [], figure)}
        </p>` : html`<${Line} series=${series} figure=${figure} shown=${shown}
        changes=${is_step ? seen : []} alarmed=${alarmed} picked=${picked} pick=${pick}
        actions=${actions} />`}
      <${PickBar} picked=${picked} points=${points} onclear=${() => change({ pick: "" })} /><//>
    <${SeriesAlerts} alerts=${alerts.filter(is_open)}
      href=${address("/alerts", { project, series, status: "all" })} />
    <${Changes} changes=${changes} points=${points} figure=${step} />
    <${PointsTable} points=${points} changes=${changes} alerts=${alerts} picked=${picked}
      onpick=${(run) => pick([run])} sort=${query.sort} onsort=${(sort) => change({ sort })}
      project=${project} series=${series} figure=${figure} />`;
}

export function SeriesPage({ project, series }) {
  use_title(`Trend of ${series}`);
  const [{ metric }] = use_query(DEFAULTS);
  const figures = use_figures(project, series, metric);
  const { resource, points } = use_points(project, series, metric);
  const changes = use_changes(project, series).rows;
  const alerts = use_alerts({ project, series, limit: "all" }).rows;
  return html`<nav class="breadcrumb" aria-label="Breadcrumb"><ol>
      <li><a href="/trends">Trends</a></li><li aria-current="page">${series}</li></ol></nav>
    <header class="page-head run-head"><h1 tabindex="-1">${series}</h1></header>
    <${Loaded} resource=${resource}>${() => html`
      <${Identity} project=${project} points=${points} series=${series} />
      ${points.length === 0
        ? html`<${Empty} title="No run of this series has a step time yet">
            <p><a href="/trends">All series</a></p><//>`
        : html`<${Trend} project=${project} series=${series} points=${points} changes=${changes}
            alerts=${alerts} known_figures=${figures} />`}`}<//>`;
}
