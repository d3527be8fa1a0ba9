// SPDX-License-Identifier: Apache-2.0
// Texts and order of alerts, and what can be done about one; pure.
import { plural } from "../../base/format.mjs";
import { alert_figure, alert_words, value_text, worse_share } from "./figure_model.mjs";
import { levels_text } from "./trends_model.mjs";

/**
 * @typedef {{id: string|number, project: string, series: string, run: string, run_name: string,
 *            previous_run: string|null, before_ns: number|null, after_ns: number|null,
 *            metric?: string, label?: string, unit?: string, better?: string,
 *            before_value?: number, after_value?: number, worse_share?: number,
 *            change_share: number, kind: "outlier"|"change", status: string,
 *            comment: string|null, created: string, updated: string, no_steps?: boolean}} Alert
 */

/** The statuses of an alert; `done` is shown after setting one. */
export const STATUSES = [
  { key: "new", word: "New", action: "Reopen", tone: "warn", done: "Alert reopened",
    help: "No one has looked at it yet." },
  { key: "acknowledged", word: "Acknowledged", action: "Acknowledge", tone: "running",
    done: "Alert acknowledged", help: "It is real and being looked at." },
  { key: "expected", word: "Expected", action: "Expected", tone: "neutral",
    done: "Expected: the new level counts from now on",
    help: "It was intended. The series has a new level from this run on, and later runs are "
      + "compared with it." },
  { key: "noise", word: "Noise", action: "Noise", tone: "neutral",
    done: "Noise: the series now has a higher alert threshold",
    help: "Nothing changed. The series has a higher alert threshold from now on." },
  { key: "fixed", word: "Fixed", action: "Fixed", tone: "good", done: "Alert fixed",
    help: "It is over. Set automatically when the series is back at its level." },
];

const BY_KEY = new Map(STATUSES.map((status) => [status.key, status]));

/** @param {string} key */
export function status_of(key) {
  return BY_KEY.get(key) ?? { key, word: key, action: key, tone: "neutral", done: key, help: "" };
}

/** Possible actions on an alert: every other status. @param {string} status */
export function actions_of(status) {
  return STATUSES.filter(({ key }) => key !== status);
}

/**
 * Worse ones first, largest at the top, then better ones; equal ones newest first.
 * @param {Alert[]} alerts
 */
export function ordered_alerts(alerts) {
  const worse = (alert) => (worse_share(alert) > 0 ? 1 : 0);
  return [...alerts].sort((a, b) => worse(b) - worse(a)
    || Math.abs(worse_share(b)) - Math.abs(worse_share(a))
    || String(b.created).localeCompare(String(a.created)));
}

/** "▲ 5.0 % slower" and its tone. @param {Alert} alert */
export function alert_head(alert) {
  return { words: alert_words(alert), tone: worse_share(alert) > 0 ? "worse" : "better" };
}

/** Whether it is about step time, which can be explained by what a step consists of. */
export const is_of_step = (alert) => alert_figure(alert).metric === "";

const KINDS = {
  outlier: "this run alone is beyond the noise of its series",
  change: "the level of the series changed here",
};

/** "100.1 → 105.2 ms per step; the level of the series changed here". @param {Alert} alert */
export function alert_text(alert) {
  const figure = alert_figure(alert);
  const levels = is_of_step(alert) ? levels_text(alert, figure)
    : `${value_text(figure, alert.before_value)} → ${value_text(figure, alert.after_value)}`;
  return `${levels}; ${KINDS[alert.kind] ?? alert.kind}`;
}

/** How many alerts have each status. @param {Alert[]} alerts */
export function counts_by_status(alerts) {
  const counts = Object.fromEntries(STATUSES.map(({ key }) => [key, 0]));
  for (const { status } of alerts) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** The alerts of a choice: one status, or "all". */
export function alerts_of(alerts, status) {
  return ordered_alerts(status === "all" ? alerts : alerts.filter((one) => one.status === status));
}

/** "2 alerts await a decision, the largest in llama: ▲ 5.0 % slower." @param {Alert[]} alerts */
export function alerts_lead(alerts) {
  const fresh = alerts_of(alerts, "new");
  if (fresh.length === 0) return "";
  const [{ series }] = fresh;
  const [verb, which] = fresh.length === 1 ? ["awaits", ""] : ["await", "the largest "];
  return `${plural(fresh.length, "alert")} ${verb} a decision, ${which}in ${series}: ${
    alert_words(fresh[0])}.`;
}

/** The text of a page without any. @param {string} status */
export function none_text(status) {
  if (status === "new") return "No new alerts. Runs are compared with their series as they "
    + "arrive.";
  if (status === "all") return "No alerts yet.";
  return `No alert is marked as ${status_of(status).word.toLowerCase()}.`;
}

const MOST_REPEATS = 4; // of each side of a comparison: enough to tell a change from noise

/**
 * The usual runs before an alert's run, and those from it on, on the same hardware, oldest first.
 * @param {any[]} points of its series @param {Alert} alert
 * @returns {{base: string[], cand: string[]}}
 */
export function alert_sides(points, { run, kind }) {
  const at = points.findIndex((point) => point.run === run);
  if (at < 0) return { base: [], cand: [] };
  const alike = ({ gpu, ranks, outlier }) =>
    gpu === points[at].gpu && ranks === points[at].ranks && !outlier;
  const ids = (list) => list.map((point) => point.run);
  const later = kind === "outlier" ? [] : points.slice(at + 1).filter(alike);
  return { base: ids(points.slice(0, at).filter(alike).slice(-MOST_REPEATS)),
    cand: [run, ...ids(later.slice(0, MOST_REPEATS - 1))] };
}

/**
 * The run that an alert's is compared with, the last one before it on the same hardware, and its
 * own, if both say their commit.
 * @param {any[]} points of its series @param {Alert} alert @returns {any[]|null}
 */
export function alert_commits(points, { run, previous_run }) {
  const pair = [previous_run, run].map((id) => points.find((point) => point.run === id));
  return pair.every((point) => point?.commit) ? pair : null;
}

/** What changed most in the direction of the alert. @param {any[]} reasons @param {Alert} alert */
export function main_reason(reasons, { change_share }) {
  const sign = Math.sign(change_share);
  const along = reasons.filter(({ delta_ns }) => Math.sign(delta_ns) === sign);
  return along.sort((a, b) => Math.abs(b.delta_ns) - Math.abs(a.delta_ns))[0] ?? null;
}
