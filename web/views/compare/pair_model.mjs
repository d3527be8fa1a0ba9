// SPDX-License-Identifier: Apache-2.0
// Small print of the tables of pairs; pure.
import { times_text } from "./reason_model.mjs";

const missing = (value) => value === null || value === undefined;

/** "2 → 3", a single figure if both are equal, "–" for a side without one. */
export function pair_text(base, cand, write) {
  const [a, b] = [base, cand].map((value) => (missing(value) ? "–" : write(value)));
  return a === b ? a : `${a} → ${b}`;
}

/** Which ranks take part. */
export function group_text({ role, group_size }) {
  const size = missing(group_size) ? "" : `${group_size} ranks`;
  return [role, size].filter(Boolean).join(", ") || "–";
}

/** A rank, or the statistic shown instead if the two sides have different ranks. */
export const rank_text = ({ rank, statistic }) => (missing(rank) ? (statistic ?? "–")
  : String(rank));

/** Single ranks if both sides have the same ones, else the statistics. */
export function shown_ranks(rows) {
  const single = rows.filter(({ rank }) => !missing(rank));
  return single.length > 0 ? single : rows;
}

/** "min 29.00 → 29.50 ms, max 30.00 → 31.00 ms" if single ranks are shown, too, or "". */
export function rank_statistics(rows) {
  const of = rows.filter(({ rank }) => missing(rank));
  if (of.length === 0 || rows.length - of.length < 2) return "";
  return of.map(({ statistic, base_step_ns, cand_step_ns }) =>
    `${statistic} ${times_text(base_step_ns, cand_step_ns, 4)}`).join(", ");
}

/** A row that can be sorted by the size of its change. */
export const with_size = (row, delta) => ({ ...row, size_ns: Math.abs(delta ?? 0) });

const STATES = ["new", "changed", "fixed", "unchanged"];

/** New ones first, then changed, fixed and unchanged, each by cost. */
export function ranked_findings(rows) {
  const place = ({ state }) => STATES.indexOf(state);
  const size = ({ delta_cost_ns, cand_cost_ns }) =>
    Math.abs(delta_cost_ns ?? 0) || (cand_cost_ns ?? 0);
  return [...rows].sort((a, b) => place(a) - place(b) || size(b) - size(a))
    .map((row, order) => with_size({ ...row, order }, row.delta_cost_ns));
}

/** How many findings are in each state, in the order of reading. */
export function counted_states(rows) {
  return STATES.map((state) => [state, rows.filter((row) => row.state === state).length])
    .filter(([, n]) => n > 0);
}
