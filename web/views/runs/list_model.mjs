// SPDX-License-Identifier: Apache-2.0
// What the list of runs shows: one row for each run or series, and the chosen columns; pure.
import { series_key } from "../trends/trends_model.mjs";

/** Columns that can be left out, with their names in the address. */
export const OPTIONAL = [["received", "Ranks"], ["gpu", "GPU"], ["step_median_ns", "Step p50"],
  ["delta", "vs base"], ["series", "Series"], ["parts", "Step breakdown"], ["busy_share",
    "GPU busy"], ["exposed_comm_share", "Exposed comm"], ["tokens_per_s_per_gpu", "Tokens/s/GPU"],
  ["mfu", "MFU"], ["findings", "Findings"], ["created", "Age"]];

/** @param {string} hide comma-separated keys @returns {Set<string>} */
export const hidden_columns = (hide) => new Set(hide.split(",").filter(Boolean));

/** The address after a column was shown or left out. @param {string} hide @param {string} key */
export function toggled_column(hide, key) {
  const now = hidden_columns(hide);
  if (!now.delete(key)) now.add(key);
  return OPTIONAL.map(([name]) => name).filter((name) => now.has(name)).join(",");
}

/**
 * The first run of each series in the given order, and how many of these runs it stands for.
 * @param {any[]} runs @returns {{runs: any[], counts: Map<string, number>}} counts by run
 */
export function one_per_series(runs) {
  const first = new Map();
  const counts = new Map();
  for (const run of runs) {
    const key = series_key(run);
    if (!first.has(key)) first.set(key, run);
    counts.set(first.get(key).id, (counts.get(first.get(key).id) ?? 0) + 1);
  }
  return { runs: [...first.values()], counts };
}
