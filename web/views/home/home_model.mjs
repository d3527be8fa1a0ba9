// SPDX-License-Identifier: Apache-2.0
// What the home page says about what happened since the last visit; pure.
import { plural, plural_of } from "../../base/format.mjs";
import { is_of_step } from "../trends/alerts_model.mjs";

const MOVED_FROM = 0.01; // a share of the step; smaller moves are in Trends
const MOST_ROWS = 8;
/** New runs whose findings are fetched. */
export const MOST_RUNS = 20;
const VISIT_MS = 30 * 60 * 1000; // a page opened again within it belongs to the same visit
const WEEK_MS = 7 * 24 * 3600 * 1000;

/** A time in the past that was remembered; 0 for anything else. */
const past = (value, now) => (Number(value) > 0 && Number(value) <= now ? Number(value) : 0);

/**
 * When the visit before this one was, and what to remember for the next.
 * @param {any} kept what was remembered @param {number} now
 */
export function visit_of(kept, now) {
  const at = past(kept?.at, now);
  const kept_before = past(kept?.before, now);
  const before = kept_before || now - WEEK_MS;
  if (at === 0) return { since: now - WEEK_MS, first: true, keep: { at: now, before: 0 } };
  const same = now - at < VISIT_MS;
  const since = same ? before : at;
  return { since, first: same && !kept_before, keep: { at: now, before: same ? kept_before : at } };
}

/** A time as the API takes it: how long ago, in whole minutes. @param {number} since in ms */
export const age_param = (since, now) => `${Math.max(1, Math.ceil((now - since) / 60_000))}m`;

const is_new = (since) => ({ last }) => Date.parse(last ?? "") >= since;

/** A series whose level changed since then, although its newest run is like the ones before it. */
function with_alert(row, alerts) {
  const shares = alerts.filter((alert) => alert.project === row.project
    && alert.series === row.series && is_of_step(alert)).map(({ change_share }) => change_share);
  const size = (share) => Math.abs(share ?? 0);
  const most = [row.change_share, ...shares].sort((a, b) => size(b) - size(a))[0];
  return { ...row, change_share: most };
}

/**
 * Series with a run since then whose step moved, largest first.
 * @param {any[]} rows @param {any[]} alerts that are new @param {number} since
 */
export function moved_series(rows, alerts, since) {
  const later = alerts.filter(({ created }) => Date.parse(created) >= since);
  return rows.filter(is_new(since)).map((row) => with_alert(row, later))
    .filter(({ change_share }) => Math.abs(change_share ?? 0) >= MOVED_FROM)
    .sort((a, b) => Math.abs(b.change_share) - Math.abs(a.change_share)).slice(0, MOST_ROWS);
}

/**
 * The new runs that are furthest below and above the level of their series.
 * @param {any[]} rows of series
 * @returns {{best: any|null, worst: any|null, compared: boolean}} compared: whether any has earlier
 *   runs
 */
export function extremes(rows, since) {
  const known = rows.filter(is_new(since)).filter(({ change_share }) => change_share !== null)
    .sort((a, b) => a.change_share - b.change_share);
  const [first, last] = [known[0], known.at(-1)];
  return { best: first?.change_share <= -MOVED_FROM ? first : null,
    worst: last?.change_share >= MOVED_FROM ? last : null, compared: known.length > 0 };
}

/** Runs whose findings are worth a look: the newest of each series, newest first. */
export function newest_runs(runs) {
  const seen = new Set();
  return runs.filter(({ project, series, status, findings }) => {
    const key = `${project}\n${series}`;
    if (!(findings > 0) || status === "failed" || seen.has(key)) return false;
    seen.add(key);
    return true;
  }).slice(0, MOST_RUNS);
}

/** Findings of several runs that cost time, the costliest first. @param {any[][]} lists */
export function costliest(lists) {
  return lists.flat().filter(({ cost_ns }) => cost_ns > 0)
    .sort((a, b) => b.cost_ns - a.cost_ns).slice(0, MOST_ROWS);
}

/** The page's first sentence; `runs` and `failed` are lists with a total. */
export function news_sentence({ runs, moved, failed, alerts }) {
  if (runs.total + moved + failed.total + alerts === 0)
    return "Nothing has changed, and nothing is waiting for a decision.";
  const parts = [runs.total > 0 && plural_of(runs, "new run"),
    moved > 0 && `${plural(moved, "series", "series")} moved`,
    failed.total > 0 && `${plural_of(failed, "upload")} failed`,
  alerts > 0 && `${plural(alerts, "alert")} ${alerts === 1 ? "waits" : "wait"} for a decision`];
  const said = parts.filter(Boolean);
  const last = said.pop();
  return `${said.length > 0 ? `${said.join(", ")} and ${last}` : last}.`;
}
