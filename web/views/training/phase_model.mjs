// SPDX-License-Identifier: Apache-2.0
// What the hosts of all ranks spent their time on: a row per phase, with the rank that is slowest
// in it; pure.
import { plural } from "../../base/format.mjs";

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

const most = (rows, key) => rows.reduce((best, row) => (row[key] > best[key] ? row : best));

const rank_text = (rank) => (rank === null ? "?" : String(rank));

/** "rank 1 in step 12" */
const place = ({ rank, unfinished_step: step }) => `rank ${rank_text(rank)}${
  step === null ? "" : ` in step ${step}`}`;

function phase_of(phase, rows) {
  const ended = rows.filter((row) => row.median_ns !== null);
  const stuck = rows.filter((row) => row.unfinished > 0);
  const row = { phase, ranks: rows.length, median_ns: null, slowest: null, slowest_ns: null,
    behind_share: null, max_ns: null, max_at: null, total_ns: 0,
    unfinished: stuck.length > 0 ? stuck.map(place).join(", ") : null };
  if (ended.length === 0) return row;
  const slowest = most(ended, "median_ns");
  const longest = most(ended, "max_ns");
  const median_ns = median(ended.map((one) => one.median_ns));
  return { ...row, median_ns, slowest: slowest.rank, slowest_ns: slowest.median_ns,
    behind_share: median_ns > 0 ? slowest.median_ns / median_ns - 1 : null,
    max_ns: longest.max_ns, max_at: `${rank_text(longest.rank)}, ${longest.max_step ?? "–"}`,
    total_ns: ended.reduce((sum, one) => sum + one.total_ns, 0) };
}

/** Rows of host_phases, a row per phase. @param {any[]} rows */
export function phases_of(rows) {
  const of_phase = new Map();
  for (const row of rows) {
    if (!of_phase.has(row.phase)) of_phase.set(row.phase, []);
    of_phase.get(row.phase).push(row);
  }
  return [...of_phase].map(([phase, own]) => phase_of(phase, own));
}

/** Where ranks died or hang; "" if all phases ended. The phases of a rank nest. */
export function stopped_text(rows) {
  const stuck = rows.filter(({ unfinished }) => unfinished > 0);
  const ranks = [...new Set(stuck.map(({ rank }) => rank_text(rank)))];
  if (ranks.length === 0) return "";
  const phases = [...new Set(stuck.map(({ phase }) => phase))];
  return `${plural(ranks.length, "rank")} stopped in a phase that had not ended when the log was `
    + `written: ${ranks.length > 1 ? "ranks" : "rank"} ${ranks.slice(0, 8).join(", ")}${
      ranks.length > 8 ? ", ..." : ""} in ${phases.join(", ")}.`;
}
