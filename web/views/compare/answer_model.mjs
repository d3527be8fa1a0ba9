// SPDX-License-Identifier: Apache-2.0
// Short answers below the verdict: which rank moved, what limits the figures.
import { count, time_text } from "../../base/format.mjs";
import { MATTERS_FROM } from "../ranks/outlier_model.mjs";

const moved = (ns) => (ns === 0 ? "unchanged"
  : `${time_text(Math.abs(ns))} ${ns > 0 ? "slower" : "faster"}`);

/**
 * "Rank 5 changed most: 3.20 ms slower, the median rank 0.100 ms slower." "" for single ranks.
 * @param {any[]} rows of the table ranks
 */
export function rank_answer(rows) {
  const ranks = rows.filter(({ rank, delta_ns }) => rank !== null && delta_ns !== null)
    .sort((a, b) => a.delta_ns - b.delta_ns);
  if (ranks.length < 2) return "";
  const median = ranks[(ranks.length - 1) >> 1];
  const away = ({ delta_ns }) => Math.abs(delta_ns - median.delta_ns);
  const most = away(ranks[0]) > away(ranks.at(-1)) ? ranks[0] : ranks.at(-1);
  if (away(most) < MATTERS_FROM * median.base_step_ns) {
    const all = ranks.length === 2 ? "Both ranks" : `All ${count(ranks.length)} ranks`;
    return `${all} moved alike: ${moved(median.delta_ns)}.`;
  }
  if (ranks.length === 2) {
    return ranks.map(({ rank, delta_ns }) => `Rank ${rank}: ${moved(delta_ns)}`).join(", ") + ".";
  }
  return `Rank ${most.rank} changed most: ${moved(most.delta_ns)}, the median rank ${
    moved(median.delta_ns)}.`;
}

/** Runs whose trust report limits what the figures say, once each. @param {any[]} runs */
export const doubted = (runs) => runs.filter(({ id, trust_severity }, i) =>
  (trust_severity === "warning" || trust_severity === "error")
  && runs.findIndex((one) => one.id === id) === i);
