// SPDX-License-Identifier: Apache-2.0
// What a chart over steps draws: lines with their range, one per run or log; pure.
import { inner_ticks, linear } from "./scale.mjs";

/**
 * @typedef {{x: number, y: number, low?: number|null, high?: number|null}} Point
 * @typedef {{key: string, label: string, tone: number, points: Point[]}} Series
 */

const known = (value) => value !== null && value !== undefined && Number.isFinite(value);

/**
 * Points of rows, one piece for each segment, so that no line is drawn back over a restart.
 * @param {any[]} rows @param {{x: string, y: string, low?: string, high?: string}} keys
 * @returns {Point[][]}
 */
export function pieces_of(rows, { x, y, low, high }) {
  const pieces = [];
  let segment = null;
  for (const row of rows) {
    if (!known(row[x]) || !known(row[y])) continue;
    if (pieces.length === 0 || row.segment !== segment) pieces.push([]);
    segment = row.segment;
    pieces.at(-1).push({ x: row[x], y: row[y], low: row[low], high: row[high] });
  }
  return pieces;
}

/**
 * The extent of all series; the upper few outliers do not flatten the rest.
 * @param {Series[]} series @param {{from_zero?: boolean}} options
 */
export function curve_extent(series, { from_zero = false } = {}) {
  const points = series.flatMap((one) => one.points);
  const xs = points.map((p) => p.x);
  const ys = points.map((p) => p.y).sort((a, b) => a - b);
  if (ys.length === 0) return null;
  const at = (share) => ys[Math.min(ys.length - 1, Math.floor(share * ys.length))];
  const spread = at(0.98) - at(0.02);
  const top = Math.min(ys.at(-1), at(0.98) + 2 * spread);
  const bottom = from_zero ? 0 : Math.max(ys[0], at(0.02) - 2 * spread);
  const margin = (top - bottom || Math.abs(top) || 1) * 0.06;
  return {
    x_low: xs.reduce((a, b) => Math.min(a, b)),
    x_high: xs.reduce((a, b) => Math.max(a, b)),
    y_low: from_zero ? 0 : bottom - margin,
    y_high: top + margin,
    cut: ys.filter((y) => y > top || y < bottom).length,
  };
}

/** Where the axis is marked: at whole numbers, if it goes from one to another, as steps are. */
export function x_ticks({ x_low, x_high }, wanted) {
  const ticks = inner_ticks(x_low, x_high, wanted);
  const has_whole = Number.isInteger(x_low) && Number.isInteger(x_high) && x_high > x_low;
  return has_whole ? ticks.filter(Number.isInteger) : ticks;
}

const fixed = (value) => value.toFixed(1);

/** @param {Point[]} points @param {(x: number) => number} x @param {(y: number) => number} y */
export function line_path(points, x, y) {
  return points.map((p, i) => `${i ? "L" : "M"}${fixed(x(p.x))} ${fixed(y(p.y))}`).join("");
}

/** The area between the lowest and the highest value; "" if no point has a range. */
export function range_path(points, x, y) {
  const ranged = points.filter((p) => known(p.low) && known(p.high));
  if (!ranged.some((p) => p.low < p.high)) return "";
  const upper = ranged.map((p, i) => `${i ? "L" : "M"}${fixed(x(p.x))} ${fixed(y(p.high))}`);
  const lower = [...ranged].reverse().map((p) => `L${fixed(x(p.x))} ${fixed(y(p.low))}`);
  return `${upper.join("")}${lower.join("")}Z`;
}

/** Scales of a plot; x and y stay on the plot. */
export function scales_of(extent, { left, right, top, bottom }) {
  const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  const raw_y = linear(extent.y_low, extent.y_high, bottom, top);
  return {
    x: linear(extent.x_low, extent.x_high, left, Math.max(left + 1, right)),
    y: (value) => clamp(raw_y(value), top, bottom),
  };
}

/**
 * How busy each pixel of a lane is, however many pieces share it, as runs of equal ones.
 * @param {{from: number, to: number, share: number}[]} lane @param {(x: number) => number} x
 * @param {{left: number, right: number}} plot pixels
 * @returns {{left: number, width: number, share: number}[]} without idle ones
 */
export function lane_pixels(lane, x, { left, right }) {
  const busy = new Float64Array(Math.max(0, Math.ceil(right - left)));
  for (const { from, to, share } of lane) {
    const [begin, end] = [Math.max(0, x(from) - left), Math.min(right - left, x(to) - left)];
    for (let i = Math.floor(begin); i < end; i++)
      busy[i] += share * (Math.min(end, i + 1) - Math.max(begin, i));
  }
  const runs = [];
  busy.forEach((sum, i) => {
    const share = Math.round(100 * Math.min(1, sum)) / 100;
    const last = runs.at(-1);
    if (last?.share === share) last.width++;
    else runs.push({ left: left + i, width: 1, share });
  });
  return runs.filter(({ share }) => share > 0);
}

/** The point of a series nearest to x. @param {Point[]} points in the order of x */
export function nearest(points, x) {
  return points.reduce((best, p) =>
    (best === null || Math.abs(p.x - x) < Math.abs(best.x - x) ? p : best), null);
}
