// SPDX-License-Identifier: Apache-2.0
// All ranks in one picture, by place or by step, colored by the chosen figure.
import { html, useMemo } from "../../base/ui.mjs";
import { address, run_path, timeline_path } from "../../base/address.mjs";
import { use_api } from "../../base/api.mjs";
import { heat_decimals, heat_scale } from "../../charts/heat_scale.mjs";
import { Heatmap } from "../../charts/heatmap.mjs";
import { capital, count, decimals, time_signed, plural, time_text } from "../../base/format.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { Card, Loaded, Segments } from "../../widgets/widgets.mjs";
import { Table } from "../../widgets/table.mjs";
import { reason_words } from "./lateness_model.mjs";
import { all_ranks, missing_ranks, places_grid, steps_grid } from "./rank_model.mjs";
import { chosen_metric, color_floor, is_figure, known_metrics, rank_sentence, ranks_text }
  from "./outlier_model.mjs";
import { per_step } from "../run/lead_model.mjs";
import { run_api } from "../run/run_frame.mjs";
import { use_table } from "../run/run_table.mjs";

const VIEWS = [["places", "Nodes × GPUs"], ["steps", "Ranks × steps"]];
const HINT = "Hover over a cell or use the arrow keys for its values; click or press Enter to "
  + "select its rank.";

/** "lateness 9.60 ms, +9.51 ms from the median". */
function value_text(metric, value, scale) {
  if (!is_figure(value)) return `no value for ${metric.label.toLowerCase()}`;
  return `${metric.label.toLowerCase()} ${time_text(value)}, ${
    time_signed(value - scale.median)} from the median`;
}

function place_text({ node, local_rank }) {
  if (!is_figure(node)) return "";
  return is_figure(local_rank) ? `node ${node}, GPU ${local_rank}` : `node ${node}`;
}

function rank_text(row) {
  const place = place_text(row);
  return place ? `Rank ${row.rank} (${place})` : `Rank ${row.rank}`;
}

const cell_name = (grid, { column, row }) =>
  `${grid.row_name === "node" ? "" : `${grid.row_name} `}${grid.rows[row]}, ${
    grid.column_name === "node" ? "" : `${grid.column_name} `}${grid.columns[column]}`;

const hole_text = (grid, cell) => `${capital(cell_name(grid, cell))}: not recorded.`;

function caption_of(metric, scale, most, what, whole) {
  if (!scale || most.item < 0) return `${metric.label}: no figures`;
  return `${metric.label}${per_step(whole)}: median ${time_text(scale.median)}, most ${
    time_text(most.value)} ${what(most)}`;
}

/** Milliseconds with as many decimals as the colors can show. */
function writer(scale) {
  const digits = scale ? heat_decimals(scale, 1e6) : 0;
  return (ns) => decimals(ns / 1e6, digits);
}

/** The largest value and where it is. */
function largest(values) {
  let item = -1;
  values.forEach((value, i) => {
    if (is_figure(value) && (item < 0 || value > values[item])) item = i;
  });
  return { item, value: values[item] };
}

const has_holes = (grid, values) =>
  grid.item.some((item) => item === -1 || (item >= 0 && !is_figure(values[item])));

/** The figures of the picture as a table. */
function FiguresTable({ frame, columns, sort }) {
  return html`<${Table} caption="Heatmap values" frame=${frame} columns=${columns}
    sort=${sort} />`;
}

function PlacesMap({ rows, world, metric, step_ns, whole, actions, rank, onrank }) {
  const grid = useMemo(() => places_grid(rows, world), [rows, world]);
  const values = useMemo(() => rows.map((row) => row[metric.column] ?? null), [rows, metric]);
  const scale = useMemo(() => heat_scale(values, color_floor(step_ns)), [values, step_ns]);
  const say = (cell, item) => (item < 0 ? hole_text(grid, cell)
    : `${rank_text(rows[item])}: ${value_text(metric, values[item], scale)}.`);
  const chosen = rank === "" ? -1 : rows.findIndex((row) => row.rank === Number(rank));
  const caption = caption_of(metric, scale, largest(values), ({ item }) =>
    `on rank ${rows[item].rank}`, whole);
  const table = () => html`<${FiguresTable} frame=${frame_of(rows)} columns=${[
    { key: "rank", label: "Rank", kind: "plain" }, { key: "node", label: "Node" },
    { key: "local_rank", label: "GPU", kind: "plain" },
    { key: metric.column, label: metric.label, kind: "ms" }]} />`;
  return html`<${Heatmap} grid=${grid} values=${values} scale=${scale} caption=${caption}
    actions=${actions} write=${writer(scale)} unit="ms" say=${say} chosen=${chosen} table=${table}
    missing=${has_holes(grid, values) ? "not recorded" : ""} hint=${HINT}
    onchoose=${(item) => onrank(String(rows[item].rank), "")} />`;
}

function StepsMap({ frame, ranks, metric, step_ns, actions, query, onrank }) {
  const { rank, step, steady } = frame.columns;
  const values = frame.columns[metric.step_column] ?? [];
  const grid = useMemo(() => steps_grid(frame, ranks), [frame, ranks]);
  const scale = useMemo(() => heat_scale(values.filter((_, i) => steady[i]), color_floor(step_ns))
    ?? heat_scale(values, color_floor(step_ns)), [frame, metric, step_ns]);
  const say = (cell, item) => (item < 0 ? hole_text(grid, cell)
    : `Rank ${rank[item]}, step ${step[item]}${steady[item] ? "" : " (warm-up)"}: ${
      value_text(metric, values[item], scale)}.`);
  const chosen = useMemo(() => rank.findIndex((one, i) =>
    String(one) === query.rank && String(step[i]) === query.step), [frame, query.rank, query.step]);
  const most = useMemo(() => largest(values.map((value, i) => (steady[i] ? value : null))),
    [frame, metric]);
  const caption = caption_of(metric, scale, most, ({ item }) =>
    `on rank ${rank[item]} in step ${step[item]}`);
  const hint = steady.every(Boolean) ? HINT
    : `${HINT} Steps that are not steady are left out of the color scale and the maximum.`;
  const table = () => html`<${FiguresTable} frame=${frame} columns=${[
    { key: "rank", label: "Rank", kind: "plain" }, { key: "step", label: "Step", kind: "plain" },
    { key: "steady", label: "Steady", kind: "flag" },
    { key: metric.step_column, label: metric.label, kind: "ms" }]} />`;
  return html`<${Heatmap} grid=${grid} values=${values} scale=${scale} caption=${caption}
    actions=${actions} write=${writer(scale)} unit="ms" say=${say} chosen=${chosen} table=${table}
    missing=${has_holes(grid, values) ? "not recorded" : ""} hint=${hint}
    onchoose=${(item) => onrank(String(rank[item]), String(step[item]))} />`;
}

function StepsOfRanks({ run, ...props }) {
  const { resource, frame } = use_table(run, "rank_steps",
    { fields: `rank,step,steady,${props.metric.step_column}` });
  return html`<${Loaded} resource=${resource}>${() => (frame.length === 0
    ? html`<div class="view-bar">${props.actions}</div><p class="empty-line">There are no figures
      of each step over all ranks.</p>`
    : html`<${StepsMap} frame=${frame} ...${props} />`)}<//>`;
}

/** The link to a step in the timeline, whose position only the rank's own steps give. */
function StepLink({ run, rank, step }) {
  const path = address(run_api(run, "steps"), { rank, step, fields: "begin_ns,window_ns",
    format: "columns" });
  const { data } = use_api(path);
  const [found] = rows_of(frame_of(data));
  const href = found ? timeline_path(run, rank, found.begin_ns, found.window_ns)
    : address(run_path(run, "timeline"), { rank });
  return html`<a href=${href}>Step ${step} in its timeline</a>`;
}

const PAGES = [["timeline", "Timeline"], ["kernels", "Kernels"], ["idle", "Idle"],
  ["collectives", "Communication"], ["memory", "Memory"], ["data", "Data"]];

const FACTS = [["step_median_ns", "Step time"], ["compute_ns", "Compute"],
  ["exposed_wait_ns", "Exposed wait"], ["exposed_transfer_ns", "Exposed, not waiting"],
  ["idle_ns", "Idle"], ["lateness_ns", "Lateness"], ["clock_offset_ns", "Clock offset"]];

/** What is known about the chosen rank, and where to find more. */
function ChosenRank({ run, row, step, late, onclose }) {
  const facts = FACTS.filter(([key]) => is_figure(row[key]));
  return html`<section class="chosen-rank" aria-label="Rank ${row.rank}">
    <h3>${rank_text(row)}<button type="button" class="small" onClick=${onclose}>Close</button></h3>
    <dl class="facts">${facts.map(([key, label]) => html`<div key=${key}><dt>${label}</dt>
      <dd>${time_text(row[key])}</dd></div>`)}</dl>
    ${late?.late_calls > 0 && html`<p>It starts last in ${
      plural(late.late_calls, "collective")}: ${
      reason_words(late.reason)}.</p>`}
    <p class="row-links">${step !== "" && html`<${StepLink} run=${run} rank=${row.rank}
        step=${step} />`}
      ${PAGES.map(([page, label]) => html`<a key=${page}
        href=${address(run_path(run, page), { rank: row.rank })}>${label}</a>`)}</p></section>`;
}

function Pickers({ query, change, metrics, metric, whole }) {
  return html`${!whole && html`<${Segments} label="Layout" value=${query.by} options=${VIEWS}
      onchange=${(by) => change({ by })} />`}
    <label class="pick heat-metric"><span class="visually-hidden">Figure</span><select
      value=${metric.key} onChange=${(event) => change({ metric: event.target.value })}>
      ${metrics.map(({ key, label }) => html`<option key=${key} value=${key}>${label}</option>`)}
    </select></label>`;
}

/**
 * @param {{run: string, rows: any[], world: number|null, step_ns: number, steps: number,
 *          whole: boolean, lateness: any[], query: any, change: (patch: any) => void}} props
 * whole: no step is marked; rows of the tables ranks and lateness; the query has by, metric, rank
 * and step
 */
export function RankMap(
  { run, rows, world, step_ns, steps, whole, lateness, query, change }) {
  const metrics = useMemo(() => known_metrics(rows, whole)
    .filter(({ step_column }) => query.by !== "steps" || step_column !== ""),
  [rows, query.by, whole]);
  const metric = useMemo(() => chosen_metric(metrics, query.metric, rows, step_ns),
    [metrics, query.metric, rows, step_ns]);
  const who = useMemo(() => rank_sentence(rows, metric, lateness, { steps, step_ns, whole }),
    [rows, metric, lateness, steps, step_ns, whole]);
  const missing = useMemo(() => missing_ranks(rows, world), [rows, world]);
  // If most ranks are missing, their holes would only hide the others.
  const shown_world = missing.length <= rows.length ? world : null;
  const ranks = useMemo(() => all_ranks(rows, shown_world), [rows, shown_world]);
  const chosen = rows.find((row) => String(row.rank) === query.rank);
  const onrank = (rank, step) =>
    change(rank === query.rank && step === query.step ? { rank: "", step: "" } : { rank, step });
  const actions = html`<${Pickers} query=${query} change=${change} metrics=${metrics}
    metric=${metric} whole=${whole} />`;
  const of = { metric, step_ns, whole, actions, onrank };
  return html`<${Card} title="Which rank is different" note=${metric.help}>
    ${who && html`<p class="lead">${who}</p>`}
    ${query.by === "steps" ? html`<${StepsOfRanks} run=${run} ranks=${ranks} query=${query}
        ...${of} />`
      : html`<${PlacesMap} rows=${rows} world=${shown_world} rank=${query.rank} ...${of} />`}
    ${missing.length > 0 && html`<p class="readout">${plural(missing.length, "rank")} of ${
      count(rows.length + missing.length)} not recorded: ${ranks_text(missing)}.</p>`}
    ${chosen && html`<${ChosenRank} run=${run} row=${chosen} step=${query.step}
      late=${lateness.find((row) => row.rank === chosen.rank)}
      onclose=${() => change({ rank: "", step: "" })} />`}<//>`;
}
