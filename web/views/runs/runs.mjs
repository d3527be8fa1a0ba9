// SPDX-License-Identifier: Apache-2.0
// The list of runs: search, what is slow at a glance, which ones to compare, drop to upload.
import { html, useEffect, useMemo, useState } from "../../base/ui.mjs";
import { may } from "../../base/session.mjs";
import { api_href, use_api } from "../../base/api.mjs";
import { use_query } from "../../base/router.mjs";
import { address, patch_query, run_path } from "../../base/address.mjs";
import { use_now, use_store, use_title, use_typed } from "../../base/hooks.mjs";
import { frame_of, row_at } from "../../base/frame.mjs";
import { parse_search } from "../../base/search_query.mjs";
import { age, count, count_of, ms, percent, plural, plural_of, sentence, short_commit, short_gpu,
  time_text, when } from "../../base/format.mjs";
import { MiniStack } from "../../charts/stack.mjs";
import { Legend } from "../../charts/figure.mjs";
import { PARTS, parts_of, total_of } from "../../base/parts.mjs";
import { Table } from "../../widgets/table.mjs";
import { uploads } from "../../uploads/uploads.mjs";
import { Empty, ExportLinks, Loaded, SearchBox, Segments, Status, Tags }
  from "../../widgets/widgets.mjs";
import { BaselineDelta, BaselineDialog, BaselineStar, BaselineStrip } from "./baselines.mjs";
import { DeedNotice } from "../bin/deed_notice.mjs";
import { series_path } from "../trends/trends_model.mjs";
import { ranks_here } from "../run/lead_model.mjs";
import { shown_project } from "../run/run_frame.mjs";
import { group_choices, grouped, hidden_columns, one_per_series, OPTIONAL, others_of,
  toggled_column }
  from "./list_model.mjs";
import { SavedViews } from "./saved_views.mjs";
import { SelectionBar, use_ticks } from "./runs_selection.mjs";
import { SeriesCell, use_baselines, use_series_lines } from "./runs_tracking.mjs";
import { FirstRun } from "../home/first_run.mjs";

const DEFAULTS = { q: "", sort: "-created", cursor: "", base: "", rows: "runs", hide: "",
  group: "" };
const SMALL_NS = 100_000; // below, milliseconds have too many zeros
const PAGE_ROWS = 100;
const BUSY_POLL_MS = 1500;
const IDLE_POLL_MS = 8000;

const whole = (value) => (value === undefined ? "–" : count(Math.round(value)));

const is_moving = ({ status }) => status === "running" || status === "pending";

/** Polls for a first run and for what is being analyzed, not for what a search did not find. */
const poll_ms = (q) => (reply) =>
  ((reply?.total === 0 && q === "") || reply?.items?.some(is_moving) ? BUSY_POLL_MS
    : IDLE_POLL_MS);

/** Without a trace, but with a log, dumps or the like. */
const has_files_only = ({ received, status, evidence }) =>
  received === 0 && status === "done" && evidence > 0;

/** The median step of the trace, else of the log. */
function StepCell({ run }) {
  const logged = run.step_median_ns === null || run.no_steps ? run.figures?.step_ns : undefined;
  const ns = logged ?? run.step_median_ns;
  if (ns === null) return "–";
  const text = ns < SMALL_NS ? time_text(ns) : ms(ns);
  if (logged === undefined && run.no_steps) {
    return html`<span class="faint" title="${count(ns)} ns: no step is marked, so the recording ${
      ""}counts as one">${text} recording</span>`;
  }
  return logged === undefined ? html`<span title="${count(ns)} ns">${text}</span>`
    : html`<span class="faint" title="${count(ns)} ns, of the training log">${text}</span>`;
}

/** Where a step goes, or why that is not known. */
function StepParts({ run, none }) {
  if (run.parts && total_of(parts_of(run.parts)) > 0) {
    return html`<${MiniStack} row=${run.parts} label="${run.name}: " />`;
  }
  if (has_files_only(run)) {
    const page = run.figures?.step_ns > 0 ? "training" : "";
    return html`<a class="quiet-link" href=${run_path(run.id, page)}>${
      page ? "its training log" : "what its files say"}</a>`;
  }
  if (run.status !== "done" || run.trust_severity !== "error") return none;
  return html`<span class="faint">no figures: <a href=${run_path(run.id, "data")}>trust report</a>
  </span>`;
}

function RunName({ run, delta, also, where }) {
  return html`<span class="run-name"><a href=${run_path(run.id)}>${run.name}</a>
    <span class="run-sub">${run.status !== "done" && html`<${Status}
      status=${run.status} progress=${run.progress} />`}
      ${delta && html`<span class="only-narrow">${delta}</span>`}
      ${also > 0 && html`<a href=${series_path(run.project, run.series)}>and ${
        plural(also, "more run")} of ${run.series}${where}</a>`}
      ${shown_project(run) && html`<span>${run.project}</span>`}
      ${(run.baselines ?? []).map((name) => html`<span class="chip chip-baseline" key=${name}><span
        aria-hidden="true">★ </span>${name}</span>`)}
      <${Tags} tags=${run.tags} />${run.meta?.commit && html`<code class="run-commit"
        title="commit ${run.meta.commit}">${short_commit(run.meta.commit)}</code>`}</span>
    <span class="run-parts only-narrow"><${StepParts} run=${run} none=${null} /></span>
    ${run.error && html`<span class="run-error" title=${sentence(run.error)}>${
      sentence(run.error)}</span>`}</span>`;
}

/** How many ranks have arrived of how many, as a bar and in figures. */
function RanksCell({ run }) {
  const { world_size } = run;
  const here = ranks_here(run);
  const share = world_size ? Math.min(1, here / world_size) : 1;
  if (has_files_only(run)) return html`<span class="faint">no trace</span>`;
  return html`<span class="ranks-cell">
    <span>${count(here)}${world_size ? `/${count(world_size)}` : ""}</span>
    ${here > 0 && html`<span class="rank-bar" aria-hidden="true"><span
      style=${{ width: `${share * 100}%` }}></span></span>`}
  </span>`;
}

function FindingsCell({ run }) {
  const bad = run.trust_severity === "warning" || run.trust_severity === "error";
  return html`${run.findings === null ? "–" : count(run.findings)}${bad && html`<a
    class="trust-mark" href=${run_path(run.id, "data")} title="Something limits these figures"
    aria-label="Trust report">!</a>`}`;
}

function SelectBox({ run, ticks }) {
  return html`<label class="select"><input type="checkbox" checked=${ticks.has(run.id)}
    aria-label="Select ${run.name}" onChange=${() => ticks.toggle(run)} /></label>`;
}

const FIGURES = [
  { key: "tokens_per_s_per_gpu", label: "Tokens/s/GPU", text: whole,
    help: "Tokens per second of one GPU: of the training log, else from step time, global "
      + "batch and sequence length" },
  { key: "mfu", label: "MFU", text: percent,
    help: "Model FLOPs utilization: of the training log, else of the trace" },
];

/** Columns of the figures that a run of the list has. */
const figure_columns = (frame) => FIGURES.filter(({ key }) =>
  (frame.columns.figures ?? []).some((figures) => key in (figures ?? {})));

/** @returns {import("../../widgets/table.mjs").Column[]} */
function columns_of({ frame, ticks, now, tracking, counts, onstar, is_search, paged }) {
  const at = (row) => row_at(frame, row);
  const { baselines, lines, chosen } = tracking;
  const delta = (row, none) => baselines.length > 0 && html`<${BaselineDelta} run=${at(row)}
    baselines=${baselines} chosen=${chosen} none=${none} />`;
  const others = (row) => others_of(at(row), counts, lines.rows, is_search);
  return [
    { key: "name", label: "Run", className: "name-cell", width_px: 300,
      cell: (row) => html`
      <span class="with-select"><span class="row-marks"><${SelectBox} run=${at(row)}
        ticks=${ticks} /><${BaselineStar} run=${at(row)} onopen=${onstar} /></span>
      <${RunName} run=${at(row)} delta=${delta(row, "")} also=${
  others(row).others} where=${paged && others(row).of_page ? " on this page" : ""} /></span>` },
    { key: "received", label: "Ranks", sort: false, priority: 2, width_px: 110,
      help: "Ranks uploaded, out of those in the job",
      cell: (row) => html`<${RanksCell} run=${at(row)} />` },
    { key: "gpu", label: "GPU", sort: false, priority: 3,
      cell: (row) => html`<span title=${at(row).gpu}>${short_gpu(at(row).gpu)}</span>` },
    { key: "step_median_ns", label: "Step p50", kind: "ms",
      cell: (row) => html`<${StepCell} run=${at(row)} />`,
      help: "Median time of a steady step of the typical rank; lower is better" },
    baselines.length > 0 && { key: "delta", label: "vs base", sort: false, className: "num",
      width_px: 120, priority: 2, help: "Median step against the baseline's. Two single runs "
        + "say nothing about noise; the comparison does",
      cell: (row) => delta(row) },
    lines.rows.size > 0 && { key: "series", label: "Series", sort: false,
      priority: counts.size > 0 ? 2 : 4,
      width_px: 110, help: "Step times of the run's series, oldest first; the dot is this run",
      cell: (row) => html`<${SeriesCell} run=${at(row)} lines=${lines} />` },
    { key: "parts", label: "Step breakdown", sort: false, className: "stack-cell", priority: 2,
      width_px: 320,
      help: "Shares of the eight parts in a step of the typical rank",
      cell: (row) => html`<${StepParts} run=${at(row)} none="–" />` },
    { key: "busy_share", label: "GPU busy", kind: "share", priority: 3,
      help: "Share of the steady steps in which anything ran on the device" },
    { key: "exposed_comm_share", label: "Exposed comm", kind: "share", priority: 4,
      help: "Share of the steady steps in which communication ran and no compute kernel did" },
    ...figure_columns(frame).map(({ key, ...column }) => ({ ...column, key, className: "num",
      priority: 3, cell: (row) => column.text(at(row).figures[key]) })),
    { key: "findings", label: "Findings", kind: "count", sort: false, priority: 3,
      help: "Findings that cost time; ! links to what limits the figures",
      cell: (row) => html`<${FindingsCell} run=${at(row)} />` },
    { key: "created", label: "Age", kind: "count", reversed: true,
      cell: (row) => html`<time datetime=${at(row).created} title=${when(at(row).created)}>${
        age(at(row).created, now)}</time>` },
  ].filter(Boolean);
}

function NoMatch({ q }) {
  return html`<${Empty} title="No run matches “${q}”">
    <p class="faint">Words match names. Filters: <code>gpu:MI300X</code>${" "}
      <code>tag:branch=main</code> <code>project:llm</code> <code>status:failed</code>${" "}
      <code>since:14d</code></p>
    <p><a href="/">Show all runs</a></p><//>`;
}

function Pager({ reply, cursor }) {
  if (!reply.next_cursor && !cursor) return null;
  const to = (value) => `/${patch_query(location.search, { cursor: value })}`;
  return html`<nav class="pager" aria-label="Pages of runs">
    ${cursor && html`<a href=${to("")}>First page</a>`}
    <span class="faint">${reply.items.length} of ${count_of(reply)}</span>
    ${reply.next_cursor && html`<a href=${to(reply.next_cursor)}>Next ${PAGE_ROWS}</a>`}</nav>`;
}

/** The newest run of each series stands for all of them. */
function use_shown(reply, rows) {
  return useMemo(() => {
    if (rows !== "series") return { items: reply.items, counts: new Map() };
    const { runs: items, counts } = one_per_series(reply.items);
    return { items, counts };
  }, [reply, rows]);
}

function RunsTable({ reply, query, change, ticks, baselines }) {
  const now = use_now();
  const { items, counts } = use_shown(reply, query.rows);
  const groups = useMemo(() => grouped(items, query.group)
    .map((group) => ({ ...group, id: JSON.stringify(group.key),
      frame: frame_of({ ...reply, items: group.runs }) })),
  [reply, items, query.group]);
  const paged = Boolean(query.cursor || reply.next_cursor);
  const hidden = hidden_columns(query.hide);
  const [starred, set_starred] = useState(null);
  const tracking = { baselines, lines: use_series_lines(reply.items), chosen: query.base };
  const table = ({ id, name, frame }) => html`<${Table} key=${id}
    caption=${name ? `Runs: ${name}` : "Runs"} frame=${frame} sort=${query.sort}
    columns=${columns_of({ frame, ticks, now, tracking, counts, onstar: set_starred,
      is_search: query.q !== "", paged })
      .filter(({ key }) => !hidden.has(key))}
    onsort=${(sort) => change({ sort, cursor: "" })} view=${query.q}
    row_class=${(row) => (ticks.has(frame.columns.id[row]) ? "picked" : "")} />`;
  return html`${groups.map((group) => (group.name ? html`<section key=${group.id}
      class="run-group"><h2 class="group-head">${group.name} <span class="faint">${
        plural(group.frame.length, query.rows === "series" ? "series" : "run",
          query.rows === "series" ? "series" : "runs")}${paged ? " on this page" : ""
      }</span></h2>${table(group)}</section>`
      : table(group)))}
    ${starred && html`<${BaselineDialog} run=${starred} baselines=${baselines}
      onclose=${() => set_starred(null)} />`}
    <${Pager} reply=${reply} cursor=${query.cursor} />
    <${Legend} parts=${PARTS} />`;
}

/** Which baseline the runs are compared with, if there is a choice. */
function BaselineChoice({ value, baselines, onchange }) {
  if (baselines.length < 2) return null;
  return html`<label class="pick">Against <select value=${value}
      onChange=${(event) => onchange(event.target.value)}>
    <option value="">the baseline of each series</option>
    ${baselines.map(({ name }) => html`<option key=${name} value=${name}>${name}</option>`)}
  </select></label>`;
}

const ROWS = [["runs", "Runs"], ["series", "Series"]];

/** What the table shows: a row for each run or series, in which groups, and which columns. */
function Shape({ query, change, runs }) {
  const choices = group_choices(runs, query.group);
  const hidden = hidden_columns(query.hide);
  return html`<${Segments} label="A row for each" value=${query.rows} options=${ROWS}
      onchange=${(rows) => change({ rows })} />
    ${choices.length > 0 && html`<label class="pick">Group by <select value=${query.group}
      onChange=${(event) => change({ group: event.target.value })}><option value="">nothing</option>
      ${choices.map(([key, label]) => html`<option key=${key} value=${key}>${label}</option>`)}
    </select></label>`}
    <details class="column-choice"><summary>Columns</summary><div class="column-list">${
      OPTIONAL.map(([key, label]) => html`<label key=${key}><input type="checkbox"
        checked=${!hidden.has(key)} onChange=${() =>
          change({ hide: toggled_column(query.hide, key) })} /> ${label}</label>`)}</div>
    </details>`;
}

/** Reloads when one of this page's uploads has arrived. */
function use_reload_on_upload(reload) {
  const arrived = use_store(uploads).filter(({ state }) => state === "done").length;
  useEffect(() => {
    if (arrived > 0) reload();
  }, [arrived]);
}

export default function Runs() {
  use_title("Runs");
  const [query, change] = use_query(DEFAULTS);
  const [text, set_text] = use_typed(query.q, (q) => change({ q, cursor: "" }, { replace: true }));
  const filters = parse_search(query.q);
  const { sort, cursor } = query;
  const path = address("/runs", { ...filters, sort, cursor, limit: PAGE_ROWS });
  const resource = use_api(path, poll_ms(query.q));
  use_reload_on_upload(resource.reload);
  const ticks = use_ticks();
  const baselines = use_baselines();
  const moving = resource.data?.items.filter(is_moving).length ?? 0;
  const csv = api_href(address("/runs", { ...filters, sort, format: "csv" }));
  return html`<header class="page-head"><h1 tabindex="-1">Runs</h1>
      <p class="page-note">${resource.data &&
        plural_of(resource.data, "run")}${
        moving > 0 && ` · ${moving} analyzing`}${
        resource.data?.total > 0 && " · lower step time is better"}</p></header>
    <div class="filter-bar">
      <${SearchBox} label="Search runs" value=${text} oninput=${set_text}
        oncommit=${(q) => change({ q, cursor: "" })}
        placeholder="Search names, or gpu:MI300X tag:branch=main since:14d" />
      <${BaselineChoice} value=${query.base} baselines=${baselines}
        onchange=${(base) => change({ base })} />
      <${Shape} query=${query} change=${change}
        runs=${resource.data?.items ?? []} /><${SavedViews} />
      <${ExportLinks} links=${[["CSV", csv], ["JSON", csv.replace("format=csv", "format=json")]]} />
      <a class="quiet-link" href="/settings/bin">Bin</a>
      ${may("upload") && html`<a class="button" href="/upload">Upload</a>`}</div>
    <${BaselineStrip} baselines=${baselines} />
    <${Loaded} resource=${resource}>${(reply) =>
      reply.items.length === 0
        ? query.q ? html`<${NoMatch} q=${query.q} />` : html`<${FirstRun} />`
        : html`<${RunsTable} reply=${reply} query=${query} change=${change} ticks=${ticks}
          baselines=${baselines} />`}
    <//>
    <div class="dock"><${DeedNotice} />
      <${SelectionBar} ticks=${ticks} shown=${resource.data?.items ?? []} /></div>`;
}
