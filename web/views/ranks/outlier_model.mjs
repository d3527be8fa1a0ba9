// SPDX-License-Identifier: Apache-2.0
// Figures of ranks, and which rank stands out by one; pure.
import { time_text } from "../../base/format.mjs";
import { heat_distance, heat_scale } from "../../charts/heat_scale.mjs";
import { per_step } from "../run/lead_model.mjs";
import { late_ranks, late_sentence } from "./lateness_model.mjs";

/**
 * @typedef {{key: string, label: string, column: string, step_column: string, help: string}} Metric
 * `column` is in the table ranks, or derived from lateness; `step_column` is in rank_steps, "" if
 * there is none.
 */

/** @type {Metric[]} */
export const METRICS = [
  { key: "lateness", label: "Lateness", column: "lateness_ns", step_column: "lateness_ns",
    help: "How much later than the others the rank started the collectives that it started "
      + "last." },
  { key: "caused", label: "Wait it causes", column: "caused_ns", step_column: "",
    help: "How long each of the other ranks waits for it per step. A rank that is late only "
      + "because another group kept it waiting causes none." },
  { key: "step", label: "Step time", column: "step_median_ns", step_column: "step_ns",
    help: "Ranks that wait for each other have the same step time, late or not." },
  { key: "compute", label: "Compute", column: "compute_ns", step_column: "compute_ns",
    help: "Time in which a compute kernel ran." },
  { key: "comm", label: "Exposed communication", column: "exposed_comm_ns",
    step_column: "exposed_comm_ns",
    help: "Communication that no compute hid. The late rank has the least of it." },
  { key: "wait", label: "Exposed wait", column: "exposed_wait_ns", step_column: "exposed_wait_ns",
    help: "The part spent waiting for later ranks. The late rank waits least." },
  { key: "idle", label: "Idle", column: "idle_ns", step_column: "idle_ns",
    help: "Time in which nothing ran on the device. Step by step it includes unrecorded "
      + "work." },
];

/** A row of the table ranks whose idle time is without work that was not recorded. */
export const without_unrecorded = (row) =>
  ({ ...row, idle_ns: row.idle_ns - (row.unrecorded_ns ?? 0) });

const STEP_TIME = METRICS.find(({ key }) => key === "step");

const RECORDING = { ...STEP_TIME, label: "Recorded time", help: "How long the recording is." };

/**
 * The metrics that have a figure in any row.
 * @param {any[]} rows of the table ranks @param {boolean} [whole] no step is marked
 */
export function known_metrics(rows, whole = false) {
  return METRICS.filter(({ column }) => rows.some((row) => is_figure(row[column])))
    .map((metric) => (whole && metric === STEP_TIME ? RECORDING : metric));
}

export const is_figure = (value) => value !== null && value !== undefined;

/**
 * The wanted metric if known; else the first by which a rank stands out, else the first known one.
 * @param {Metric[]} known @param {string} key @param {any[]} rows of the table ranks
 * @param {number} step_ns
 */
export function chosen_metric(known, key, rows, step_ns) {
  return known.find((metric) => metric.key === key)
    ?? known.find(({ column }) => outliers(rows, column, step_ns).some(is_outstanding))
    ?? known[0] ?? STEP_TIME;
}

const STANDS_OUT_AT = 3.5; // robust deviations, as recommended by Iglewicz and Hoaglin
export const MATTERS_FROM = 0.005; // of the step

/** The difference between ranks below which no color shows: a hundredth of the step. */
export const color_floor = (step_ns) => 0.01 * (step_ns ?? 0);

/**
 * Where each rank's figure is among all of them, the farthest from the median first.
 * @param {any[]} rows of the table ranks @param {string} column @param {number} step_ns
 * @returns {{row: number, value: number, away_ns: number, distance: number|null,
 *            stands_out: boolean}[]}
 */
export function outliers(rows, column, step_ns) {
  const scale = heat_scale(rows.map((row) => row[column] ?? null));
  if (!scale) return [];
  return rows.map((row, i) => ({ row: i, value: row[column] }))
    .filter(({ value }) => is_figure(value))
    .map(({ row, value }) => {
      const away_ns = value - scale.median;
      const distance = heat_distance(scale, value);
      const far = distance === null ? away_ns !== 0 : Math.abs(distance) >= STANDS_OUT_AT;
      return { row, value, away_ns, distance,
        stands_out: far && Math.abs(away_ns) >= MATTERS_FROM * step_ns };
    })
    .sort((a, b) => Math.abs(b.away_ns) - Math.abs(a.away_ns));
}

const is_outstanding = ({ stands_out }) => stands_out;
const MOST_NAMED = 3;

/**
 * "Rank 5 stands out by its compute: 3.23 ms per step, 23.7 ms less than the median." Nothing if
 * no rank or a crowd of them does.
 * @param {any[]} rows of the table ranks @param {Metric} metric @param {number} step_ns
 * @param {boolean} [whole] no step is marked
 */
export function outlier_sentence(rows, metric, step_ns, whole = false) {
  const found = outliers(rows, metric.column, step_ns).filter(is_outstanding);
  if (found.length === 0 || found.length > MOST_NAMED) return "";
  const [first] = found;
  const names = ranks_text(found.map(({ row }) => rows[row].rank).sort((a, b) => a - b));
  const who = found.length === 1 ? `Rank ${names} stands` : `Ranks ${names} stand`;
  const which = found.length === 1 ? "" : ` on rank ${rows[first.row].rank}`;
  return `${who} out by ${metric.label.toLowerCase()}: ${
    time_text(first.value)}${per_step(whole)}${which}, ${time_text(Math.abs(first.away_ns))} ${
    first.away_ns > 0 ? "more" : "less"} than the median.`;
}

/**
 * Of lateness, who is to blame for most waiting: ranks that were kept waiting themselves stand out,
 * too. Of all else, who stands out.
 * @param {any[]} rows of the table ranks @param {Metric} metric @param {any[]} lateness
 * @param {{steps: number, step_ns: number, whole?: boolean}} of
 */
export function rank_sentence(rows, metric, lateness, of) {
  const [late] = ["lateness", "caused"].includes(metric.key) ? late_ranks(lateness, of) : [];
  return late ? late_sentence(late, rows.length, of.whole)
    : outlier_sentence(rows, metric, of.step_ns, of.whole);
}

/** "0–7, 12": ranks as people write them. @param {number[]} ranks ascending */
export function ranks_text(ranks, most = 8) {
  const runs = [];
  for (const rank of ranks) {
    const last = runs.at(-1);
    if (last && last[1] === rank - 1) last[1] = rank;
    else runs.push([rank, rank]);
  }
  const shown = runs.slice(0, most).map(([a, b]) => (b > a + 1 ? `${a}–${b}`
    : b > a ? `${a}, ${b}` : `${a}`));
  return runs.length > most ? `${shown.join(", ")} and more` : shown.join(", ");
}
