// SPDX-License-Identifier: Apache-2.0
// Texts and choices of the trend pages: which series are drawn, what changed, which two runs are
// picked; pure.
import { address } from "../../base/address.mjs";
import { change_text, plural, range_text, short_commit } from "../../base/format.mjs";
import { median } from "../../charts/trend_model.mjs";
import { per_step } from "../run/lead_model.mjs";
import { alert_figure, alert_words, change_tone, change_words, direction_text, label_within,
  RECORDING, STEP, step_figure, value_text, worse_share } from "./figure_model.mjs";

const MOST_DRAWN = 12;
/** Runs that a small multiple shows; the page of the series has them all. */
export const SMALL_RUNS = 40;

const REFERENCE_RUNS = 8; // as the store compares step times

/** The address of a series. @param {string} project @param {string} series */
export function series_path(project, series, metric = "") {
  return address("/trends", { project, series, metric });
}

/** A run's name without the common series: "@12". */
export function short_run(name, series) {
  const rest = name.startsWith(`${series}@`) ? name.slice(series.length) : name;
  return rest || name;
}

/** Identifies a series: two projects may have one of the same name. */
export const series_key = ({ project, series }) => `${project}\n${series}`;

/** Whether an alert is still open. @param {{status: string}} alert */
export const is_open = ({ status }) => status === "new" || status === "acknowledged";

/**
 * The most important open alert of each series: worse before better, by size.
 * @param {any[]} alerts @returns {Map<string, any>} by series_key
 */
export function open_alerts(alerts) {
  const found = new Map();
  for (const alert of alerts.filter(is_open)) {
    const before = found.get(series_key(alert));
    if (!before || urgency(alert) > urgency(before)) found.set(series_key(alert), alert);
  }
  return found;
}

/** Runs with an alert about the figure that nobody has looked at. @param {any[]} alerts */
export function new_alert_runs(alerts, figure = STEP) {
  return new Set(alerts.filter((alert) => alert.status === "new"
    && alert_figure(alert).metric === figure.metric).map(({ run }) => run));
}

/** The order of alerts as a number: any worse run comes before every better one. */
function urgency(alert) {
  const share = worse_share(alert);
  return share > 0 ? 1e6 + share : -share;
}

/**
 * The order of series: those with open alerts first, worst at the top, then the latest.
 * @param {any[]} rows of the series table @param {Map<string, any>} alarms from open_alerts
 */
function ordered_series(rows, alarms) {
  const weight = (row) => (alarms.has(series_key(row)) ? urgency(alarms.get(series_key(row))) : -1);
  return [...rows].sort((a, b) => weight(b) - weight(a)
    || String(b.last).localeCompare(String(a.last)) || a.series.localeCompare(b.series));
}

const TOLD = 0.0005; // of the step; below, nothing has moved

/** Series that are drawn, and those only listed: a line needs two runs. */
export function drawn_and_listed(rows, alarms) {
  const ordered = ordered_series(rows, alarms);
  const drawn = ordered.filter((row) => row.points > 1).slice(0, MOST_DRAWN);
  const chosen = new Set(drawn);
  return { drawn, listed: ordered.filter((row) => !chosen.has(row)) };
}

/**
 * The text of a series' card on its last run or, in color, on its worst open alert.
 * @returns {{text: string, tone: string}}
 */
export function news_of(row, alarm) {
  if (!alarm) return { text: change_words(row.change_share, step_figure(row)), tone: "same" };
  const where = alarm.kind === "outlier" ? "at" : "since";
  return { text: `${alert_words(alarm)} ${where} ${short_run(alarm.run_name, row.series)}`,
    tone: worse_share(alarm) > 0 ? "worse" : "better" };
}

/**
 * The list of series in a sentence: "1 of 27 series has an open alert, mixtral: ▲ 10.6 % slower
 * since @13."
 * @param {any[]} rows @param {Map<string, any>} alarms from open_alerts
 */
export function series_lead(rows, alarms) {
  const alarmed = ordered_series(rows, alarms).filter((row) => alarms.has(series_key(row)));
  if (alarmed.length > 0) {
    const [row] = alarmed;
    return `${alarmed.length} of ${rows.length} series ${
      alarmed.length === 1 ? "has an open alert," : "have open alerts, the worst in"} ${
      row.series}: ${news_of(row, alarms.get(series_key(row))).text}.`;
  }
  const size = ({ change_share: share }) => Math.abs(share ?? 0);
  const [most] = rows.filter(({ points }) => points > 1).sort((a, b) => size(b) - size(a));
  return !most || size(most) < TOLD ? ""
    : `No series has an open alert; ${most.series} moved most: ${news_of(most).text}.`;
}

/** Rows of /series/{series}/points that have a step time, oldest first, to draw it. */
export function timed_points(rows) {
  return rows.filter((row) => row.step_median_ns > 0).map((row) => ({ ...row,
    figure: row.value ?? null, value: row.step_median_ns, low: row.step_ci_low_ns,
    high: row.step_ci_high_ns }));
}

/**
 * Those that have the figure, to draw it; one that is not a step time compares with or without
 * steps. @param {any[]} points of the API, with that metric
 */
export function figure_points(points, figure) {
  if (figure.metric === "") return points;
  return points.filter((point) => point.figure !== null)
    .map((point) => ({ ...point, value: point.figure, low: null, high: null, outlier: false,
      no_steps: false }));
}

/** Those on the hardware of the newest, measured as it is. @param {any[]} points */
function like_last(points) {
  const last = points.at(-1);
  return points.filter((point) => ["gpu", "ranks", "source", "no_steps"].every((key) =>
    point[key] === last[key]));
}

/** The newest run against the median of up to eight on the same hardware before it. */
export function last_share(points) {
  const last = points.at(-1);
  const before = like_last(points).slice(0, -1).slice(-REFERENCE_RUNS);
  const usual = median(before.map(({ value }) => value));
  return usual ? last.value / usual - 1 : null;
}

/** The newest of the points. @param {any[]} points @param {string} show "50" or "all" */
export function last_points(points, show) {
  return show === "all" ? points : points.slice(-Number(show));
}

const STEP_FROM = 0.02;
const TIMES_OTHERS = 5;
const ENOUGH_RUNS = 8; // on either side: a change of level would have been found

/**
 * "39.6 % faster since @6, too few runs to call it a change of level": one step between neighbors
 * on one hardware that dwarfs all others, before there are enough runs to be sure. "" without one.
 */
function unconfirmed(all, series, figure = STEP) {
  const points = like_last(all);
  const steps = points.slice(1)
    .map((point, i) => ({ point, at: i + 1, times: point.value / points[i].value }))
    .map((step) => ({ ...step, size: Math.abs(Math.log(step.times)) }))
    .sort((a, b) => b.size - a.size);
  const [first, second] = steps;
  if (!second || first.size < STEP_FROM || first.size < TIMES_OTHERS * second.size) return "";
  if (Math.min(first.at, points.length - first.at) >= ENOUGH_RUNS) return "";
  return `${change_words(first.times - 1, figure).slice(2)} since ${
    short_run(first.point.name, series)}, too few runs to call it a change of level`;
}

/** What the chart of a series shows, in one sentence. Other hardware is no change of level. */
export function trend_sentence(series, points, changes, figure = STEP) {
  const is_step = figure.metric === "";
  if (points.length === 0) return `No run of ${series} has ${is_step ? "a step time"
    : label_within(figure)} yet.`;
  const last = points.at(-1);
  const direction = direction_text(figure);
  const what = figure === STEP ? "Median step" : figure.label;
  const begin = `${what} of ${plural(points.length, "run")} of ${series}${
    direction && `, ${direction}`}: `;
  if (points.length === 1) return `${begin}${value_text(figure, last.value)}.`;
  const levels = changes.filter(({ reason }) => !(reason in HARDWARE));
  const moves = levels.length === 0
    ? unconfirmed(points, series, figure) || "no change of level found"
    : plural(levels.length, "change") + " of level";
  return `${begin}${value_text(figure, points[0].value)} at first, ${
    value_text(figure, last.value)} now${is_step ? `; ${moves}` : ""}.`;
}

const HARDWARE = { gpu: "other GPU", ranks: "other number of ranks" };

/** The name of a change: a hardware change is no verdict on the step. @param {any} change */
export function level_words({ reason, change_share }, figure = STEP) {
  return HARDWARE[reason] ?? change_words(change_share, figure);
}

/** @param {any} change */
export function level_tone({ reason, change_share }) {
  return reason in HARDWARE ? "same" : change_tone(change_share);
}

/** "100.1 → 105.2 ms per step". @param {{before_ns: number, after_ns: number}} levels */
export function levels_text({ before_ns, after_ns }, figure = STEP) {
  return `${change_text(before_ns, after_ns, 4)}${per_step(figure === RECORDING)}`;
}

/** The text about one run for screen readers and the line below the chart. */
export function point_text(point, before, figure = STEP) {
  const parts = [value_text(figure, point.value)];
  if (point.low !== null && point.high !== null) {
    parts[0] += ` (95 % ${range_text(point.low, point.high)})`;
  }
  if (before && before.value > 0) {
    const share = point.value / before.value - 1;
    parts.push(`${change_words(share, figure)}${Math.abs(share) < 0.0005 ? ""
      : " than the previous run"}`);
  }
  if (point.outlier) parts.push("beyond the noise of its series");
  return `${point.name}${point.commit ? `, commit ${short_commit(point.commit)}` : ""}: ${
    parts.join(", ")}.`;
}

/** Picked runs in the query that exist; at most two. */
export function picked_runs(text, points) {
  const known = new Set(points.map(({ run }) => run));
  return text.split(",").filter((run) => known.has(run)).slice(-2);
}

/** Picks or unpicks a run; drops the older pick. @returns {string} for the query */
export function toggled_pick(picked, run) {
  const others = picked.filter((one) => one !== run);
  return (others.length < picked.length ? others : [...picked, run].slice(-2)).join(",");
}

/** The comparison of two picked runs: the older one is the base. */
export function pick_address(picked, points) {
  if (picked.length !== 2) return null;
  const [base, cand] = points.filter(({ run }) => picked.includes(run));
  return compare_runs(base.run, cand.run);
}

/** @param {string} base @param {string} cand */
export function compare_runs(base, cand) {
  return address("/compare", { base, cand });
}

/** Points with the difference of a figure from the previous run that has it, oldest first. */
export function with_differences(points, figure) {
  const known = figure_points(points, figure);
  const shares = new Map(known.map(({ run, value }, i) => [run,
    i > 0 && known[i - 1].value > 0 ? value / known[i - 1].value - 1 : null]));
  return points.map((point) => ({ ...point, share: shares.get(point.run) ?? null }));
}

/**
 * What happened at each run.
 * @returns {Map<string, {kind: "change"|"outlier"|"alert", words?: string, tone?: string,
 *                        status?: string}[]>} by run
 */
export function events_of(points, changes, alerts, figure = STEP) {
  const events = new Map();
  const add = (run, event) => events.set(run, [...(events.get(run) ?? []), event]);
  for (const change of changes) {
    add(change.run, { kind: "change", words: level_words(change, figure),
      tone: level_tone(change) });
  }
  for (const { run, outlier } of points) if (outlier) add(run, { kind: "outlier" });
  for (const { run, status } of alerts) add(run, { kind: "alert", status });
  return events;
}
