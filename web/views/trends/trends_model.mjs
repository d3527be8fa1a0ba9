// SPDX-License-Identifier: Apache-2.0
// Texts and choices of the trend pages: which series are drawn, what changed, which two runs are
// picked; pure.
import { address } from "../../base/address.mjs";
import { ms, ms_unit, percent, plural, short_commit } from "../../base/format.mjs";

export const MOST_DRAWN = 12;
/** Runs that a small multiple shows; the page of the series has them all. */
export const SMALL_RUNS = 40;

/** The address of a series. @param {string} project @param {string} series */
export function series_path(project, series) {
  return address("/trends", { project, series });
}

/** "▲ 5.0 % slower"; without an arrow below a tenth of a percent. @param {number|null} share */
export function change_words(share) {
  if (share === null || share === undefined) return "not known";
  if (Math.abs(share) < 0.0005) return "as before";
  const size = percent(Math.abs(share));
  return share > 0 ? `▲ ${size} slower` : `▼ ${size} faster`;
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
 * The most important open alert of each series: slower before faster, by size.
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

/** Runs with an alert that nobody has looked at. @param {any[]} alerts */
export function new_alert_runs(alerts) {
  return new Set(alerts.filter(({ status }) => status === "new").map(({ run }) => run));
}

/** The order of alerts as a number: any slower run comes before every faster one. */
const urgency = ({ change_share: share }) => (share > 0 ? 1e6 + share : -share);

/**
 * The order of series: those with open alerts first, worst at the top, then the latest.
 * @param {any[]} rows of the series table @param {Map<string, any>} alarms from open_alerts
 */
export function ordered_series(rows, alarms) {
  const weight = (row) => (alarms.has(series_key(row)) ? urgency(alarms.get(series_key(row))) : -1);
  return [...rows].sort((a, b) => weight(b) - weight(a)
    || String(b.last).localeCompare(String(a.last)) || a.series.localeCompare(b.series));
}

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
  if (!alarm) return { text: change_words(row.change_share), tone: "same" };
  const where = alarm.kind === "outlier" ? "at" : "since";
  return { text: `${change_words(alarm.change_share)} ${where} ${
    short_run(alarm.run_name, row.series)}`, tone: alarm.change_share > 0 ? "worse" : "better" };
}

/** Rows of /series/{series}/points that have a step time, oldest first. */
export function timed_points(rows) {
  return rows.filter((row) => row.step_median_ns > 0);
}

/** The newest of the points. @param {any[]} points @param {string} show "50" or "all" */
export function last_points(points, show) {
  return show === "all" ? points : points.slice(-Number(show));
}

/** What the chart of a series shows, in one sentence. */
export function trend_sentence(series, points, changes) {
  if (points.length === 0) return `No run of ${series} has a step time yet.`;
  const last = points.at(-1);
  const begin = `Median step of ${plural(points.length, "run")} of ${series}, lower is better: `;
  if (points.length === 1) return `${begin}${ms_unit(last.step_median_ns, 4)}.`;
  const moves = changes.length === 0 ? "no change of level found"
    : plural(changes.length, "change") + " of level";
  return `${begin}${ms_unit(points[0].step_median_ns, 4)} at first, ${
    ms_unit(last.step_median_ns, 4)} now; ${moves}.`;
}

const HARDWARE = { gpu: "other GPU", ranks: "other number of ranks" };

/** The name of a change: a hardware change is no verdict on the step. @param {any} change */
export function level_words({ reason, change_share }) {
  return HARDWARE[reason] ?? change_words(change_share);
}

/** @param {any} change */
export function level_tone({ reason, change_share }) {
  return reason in HARDWARE ? "same" : change_share > 0 ? "worse" : "better";
}

/** "100.1 → 105.2 ms per step". @param {{before_ns: number, after_ns: number}} levels */
export function levels_text({ before_ns, after_ns }) {
  return `${ms(before_ns, 4)} → ${ms_unit(after_ns, 4)} per step`;
}

/** The text about one run for screen readers and the line below the chart. */
export function point_text(point, before) {
  const parts = [ms_unit(point.step_median_ns, 4)];
  if (point.step_ci_low_ns !== null && point.step_ci_high_ns !== null) {
    parts[0] += ` (95 % ${ms(point.step_ci_low_ns, 4)} to ${ms(point.step_ci_high_ns, 4)})`;
  }
  if (before) {
    const share = point.step_median_ns / before.step_median_ns - 1;
    parts.push(`${change_words(share)}${Math.abs(share) < 0.0005 ? "" : " than the previous "
      + "run"}`);
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

/** Points with their difference from the previous run. @param {any[]} points oldest first */
export function with_steps_between(points) {
  return points.map((point, i) => ({ ...point,
    step_share: i > 0 ? point.step_median_ns / points[i - 1].step_median_ns - 1 : null }));
}

/**
 * What happened at each run.
 * @returns {Map<string, {kind: "change"|"outlier"|"alert", words?: string, tone?: string,
 *                        status?: string}[]>} by run
 */
export function events_of(points, changes, alerts) {
  const events = new Map();
  const add = (run, event) => events.set(run, [...(events.get(run) ?? []), event]);
  for (const change of changes) {
    add(change.run, { kind: "change", words: level_words(change), tone: level_tone(change) });
  }
  for (const { run, outlier } of points) if (outlier) add(run, { kind: "outlier" });
  for (const { run, status } of alerts) add(run, { kind: "alert", status });
  return events;
}
