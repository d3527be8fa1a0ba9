// SPDX-License-Identifier: Apache-2.0
// Why two steps differ, for the card above everything else; pure.
import { capital, change_text, number, percent, short_kernel, time_text }
  from "../../base/format.mjs";
import { part_of } from "../../base/parts.mjs";
import { shapes_text } from "../../base/shapes_text.mjs";
import { cause_label } from "../../base/values.mjs";

const MOST = 3; // of gains, and of losses
const LEAST_PEAK = 0.01; // work that comes no nearer to the peak has other limits
const MOST_PEAK = 1.1; // more is a fault of times or shapes, not of the clock

const has = (value) => value !== null && value !== undefined;

/**
 * Gains and losses to show, the direction of the whole difference first.
 * @param {any[]} reasons rows of compare_reasons @param {any} summary of the comparison
 * @returns {{key: string, gross_ns: number, rows: any[]}[]}
 */
export function reason_sides(reasons, { relevant_from_ns, shift_ns, delta_ns }) {
  const relevant = reasons.filter((row) => Math.abs(row.delta_ns) >= (relevant_from_ns ?? 0));
  const side = (key, rows) =>
    ({ key, gross_ns: rows[0]?.gross_ns ?? 0, rows: rows.slice(0, MOST) });
  const gains = side("gains", relevant.filter((row) => row.delta_ns < 0));
  const losses = side("losses", relevant.filter((row) => row.delta_ns > 0));
  const sides = (shift_ns ?? delta_ns) > 0 ? [losses, gains] : [gains, losses];
  return sides.filter(({ rows }) => rows.length > 0);
}

/**
 * "Attention", "Idle: Data loading", "all_reduce, exposed", "aten::mm"; a kernel by its label.
 * @param {any} row of compare_reasons @param {string} [label] of its title, "" if it has none
 */
export function reason_title({ kind, title, bar }, label = "") {
  if (kind === "attention") return "Attention";
  if (kind === "cause" && title === "unrecorded") return part_of("unrecorded").label;
  if (kind === "cause") return `Idle: ${cause_label(title).toLowerCase()}`;
  if (kind === "collective") return `${title}, exposed`;
  if (kind === "work") return capital(title);
  if (label) return label;
  return bar === "exposed_memory" ? `${short_kernel(title)}, copies` : short_kernel(title);
}

/** The shapes that matter, or "". */
export const reason_shapes = ({ dims }) => (dims ? shapes_text(dims) : "");

const pair = (base, cand, write) => (base === cand || !has(base) || !has(cand)
  ? write(has(base) ? base : cand) : `${write(base)} → ${write(cand)}`);

/** "493 → 251 ms". @param {number} base_ns @param {number} cand_ns */
export const times_text = (base_ns, cand_ns, digits = 3) =>
  (base_ns === cand_ns || !has(base_ns) || !has(cand_ns) ? time_text(base_ns ?? cand_ns, digits)
    : change_text(base_ns, cand_ns, digits));

/**
 * Both sides' figures, in the order of reading: time, rate, share of the peak.
 * @param {any} row of compare_reasons @returns {string[]}
 */
export function reason_figures(row) {
  const figures = [times_text(row.base_ns, row.cand_ns)];
  const flops = has(row.base_tflops) || has(row.cand_tflops);
  const bytes = has(row.base_gbps) || has(row.cand_gbps);
  const write = (value) => number(value, 3);
  if (flops && row.bound !== "memory") {
    figures.push(`${pair(row.base_tflops, row.cand_tflops, write)} TFLOP/s`);
  } else if (bytes) {
    figures.push(`${pair(row.base_gbps, row.cand_gbps, write)} GB/s`);
  }
  const most = Math.max(row.base_peak_share ?? 0, row.cand_peak_share ?? 0);
  if (most >= LEAST_PEAK) {
    const note = most > MOST_PEAK ? ", impossible" : "";
    figures.push(`${pair(row.base_peak_share, row.cand_peak_share, percent)} of peak${note}`);
  }
  return figures;
}

/** Where the waterfall shows a reason. */
export function reason_place({ kind, bar, category, waterfall }) {
  if (kind === "work") return {};
  if (kind === "collective") return { bar };
  if (kind === "attention" || kind === "cause") return { bar, cat: category ?? "" };
  return { bar, cat: category ?? "", node: String(waterfall) };
}
