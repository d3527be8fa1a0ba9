// SPDX-License-Identifier: Apache-2.0
// Who is late to the collectives, and why, in words; pure.
import { capital, count, percent, plural, time_text } from "../../base/format.mjs";
import { with_columns } from "../../base/frame.mjs";
import { per_step } from "../run/lead_model.mjs";

/** Reasons in the table lateness: for a cell, and as the end of a sentence. */
const REASONS = {
  compute_slower: ["Compute slower", "the same kernels take longer on it"],
  more_work: ["More work", "it has more to compute than the others"],
  data_loading: ["Data loading", "it waits for its data loader"],
  host: ["Host late", "its host holds the device up"],
  copies: ["Copies", "copies and fills hold it up"],
  communication: ["Kept waiting elsewhere", "another group keeps it waiting"],
  unknown: ["Not known", "the recording does not show the cause"],
};

const reason_of = (reason) => (Object.hasOwn(REASONS, reason ?? "") ? REASONS[reason]
  : [reason ?? "–", "the reason is not known"]);

/** @param {string|null} reason */
export const reason_label = (reason) => reason_of(reason)[0];

/** @param {string|null} reason */
export const reason_words = (reason) => reason_of(reason)[1];

const NAMED_FROM = 0.005; // of the step, both for its lateness and for the wait of each of the
                          // others
/** Of the waits caused by ranks: well above an even share among few, a fifth among many. */
const named_share = (ranks) => Math.max(0.2, Math.min(0.75, 1.5 / ranks));

const caused = (rows) => rows.reduce((sum, { caused_wait_ns }) => sum + (caused_wait_ns ?? 0), 0);

/** A rank that is late only because another group made it wait passes the blame on. */
const is_to_blame = ({ reason }) => reason !== "communication";

/**
 * The ranks that make the others wait long enough to be named, longest first.
 * One that is hardly later than most is not late: then others are early.
 * @param {any[]} rows of the table lateness @param {{steps: number, step_ns: number}} of
 */
export function late_ranks(rows, { steps, step_ns }) {
  const blamed = rows.filter(is_to_blame);
  const least_ns = named_share(rows.length) * caused(blamed);
  const all_ns = caused(rows);
  return blamed
    .map((row) => ({ ...row, each_ns: wait_of_each(row, rows.length, steps),
      late_ns: (row.lateness_ns ?? 0) / Math.max(1, steps),
      blame: (row.caused_wait_ns ?? 0) / (all_ns || 1) }))
    .filter(({ each_ns, late_ns, caused_wait_ns }) => caused_wait_ns >= least_ns
      && Math.min(each_ns, late_ns) >= NAMED_FROM * step_ns)
    .sort((a, b) => b.blame - a.blame);
}

/** How long each of the other ranks waits for a rank per step, on average. */
const wait_of_each = (row, ranks, steps) =>
  (row.caused_wait_ns ?? 0) / Math.max(1, ranks - 1) / Math.max(1, steps);

/**
 * Rows of the table ranks with the wait that each causes per step to each other rank; none for
 * those that are themselves made to wait.
 * @param {any[]} ranks @param {any[]} lateness @param {number} steps
 */
export function with_blame(ranks, lateness, steps) {
  if (lateness.length === 0) return ranks;
  const of = new Map(lateness.map((row) => [row.rank, row]));
  const blame = (row) => (row && is_to_blame(row)
    ? Math.round(wait_of_each(row, lateness.length, steps)) : 0);
  return ranks.map((row) => ({ ...row, caused_ns: blame(of.get(row.rank)) }));
}

/** "Rank 5 starts last in 86.0 % of its collectives, ...". @param {any} row of late_ranks */
export function late_sentence(row, ranks, whole = false) {
  const why = row.reason_share > 0 && row.reason !== "unknown"
    ? `${reason_words(row.reason)} (${percent(row.reason_share)} of its lateness)`
    : reason_words(row.reason);
  const others = ranks > 2 ? `each of the ${count(ranks - 1)} others` : "the other";
  return `Rank ${row.rank} starts last in ${percent(row.late_calls / (row.calls || 1))} of its ${
    plural(row.calls ?? 0, "collective")} and causes ${percent(row.blame)} of all waiting: ${
    time_text(row.each_ns)}${per_step(whole)} for ${others}, hidden or not. ${capital(why)}.`;
}

const EXCESS = ["compute", "data_loading", "host", "memory", "comm", "idle"];

/**
 * The table lateness per step, with the share of calls that each rank starts last.
 * @param {import("../../base/frame.mjs").Frame} frame @param {number} steps steady ones
 * @returns {import("../../base/frame.mjs").Frame}
 */
export function lateness_per_step(frame, steps) {
  const n = Math.max(1, steps || 1);
  const others = Math.max(1, frame.length - 1);
  const { late_calls = [], calls = [] } = frame.columns;
  const each = (name, by) => (frame.columns[name] ?? []).map((value) =>
    (value === null ? null : Math.round(value / by)));
  return with_columns(frame, {
    late_share: late_calls.map((late, i) => (calls[i] > 0 ? late / calls[i] : null)),
    caused_per_rank_ns: each("caused_wait_ns", n * others),
    lateness_per_step_ns: each("lateness_ns", n),
    ...Object.fromEntries(EXCESS.map((what) =>
      [`excess_${what}_per_step_ns`, each(`excess_${what}_ns`, n)])),
  });
}
