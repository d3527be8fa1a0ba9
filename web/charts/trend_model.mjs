// SPDX-License-Identifier: Apache-2.0
// The geometry of a series of runs: extents, levels between changes, bands, marks; pure.
import { PARTS } from "../base/parts.mjs";

/**
 * @typedef {{run: string, name: string, created: string, commit: string|null,
 *            value: number, low: number|null, high: number|null,
 *            outlier?: boolean}} Point a run with the figure that is drawn, the bounds of its
 *            interval, and the eight parts of its step
 * @typedef {{run: string, previous_run: string, before_ns: number, after_ns: number,
 *            change_share: number, p_value: number|null}} Change
 */

const LEAST_SPAN = 0.03; // of the values: a narrower axis would make noise look like news
const PADDING = 0.08;
const LABEL_PX = 6.1; // per character, so that labels can be kept apart before they are drawn

/** The mean of the middle two for an even count; null if empty. @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return null;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Intervals may widen the axis by no more than the span of the values. */
function with_intervals(points, low, high) {
  const reach = high - low;
  const lows = points.map((point) => point.low ?? point.value);
  const highs = points.map((point) => point.high ?? point.value);
  return [Math.max(low - reach, Math.min(low, ...lows)),
    Math.min(high + reach, Math.max(high, ...highs))];
}

/**
 * The range of the axis. @param {Point[]} points at least one
 * @returns {{low: number, high: number}}
 */
export function trend_extent(points) {
  const values = points.map((point) => point.value);
  const least = Math.min(...values);
  const most = Math.max(...values);
  const lack = Math.max(0, LEAST_SPAN * Math.abs(least + most) / 2 - (most - least)) / 2;
  const [low, high] = with_intervals(points, least - lack, most + lack);
  const pad = (high - low) * PADDING || 1;
  return { low: least < 0 ? low - pad : Math.max(0, low - pad), high: high + pad };
}

/**
 * The levels of a series: between two changes the median of the runs there.
 * @param {Point[]} points @param {Change[]} changes
 * @returns {{begin: number, end: number, value: number}[]} `end` is the first run after it
 */
export function levels_of(points, changes) {
  const begins = change_indices(points, changes).map(({ at }) => at).filter((at) => at > 0);
  const edges = [0, ...begins, points.length];
  return edges.slice(1).map((end, i) => ({ begin: edges[i], end }))
    .filter(({ begin, end }) => end > begin)
    .map(({ begin, end }) => ({ begin, end,
      value: median(points.slice(begin, end).map((point) => point.value)) }));
}

/** Changes with the index of their run among the points; those out of range are left out. */
export function change_indices(points, changes) {
  const index_of = ({ run }) => points.findIndex((point) => point.run === run);
  return changes.map((change) => ({ change, at: index_of(change) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at);
}

/**
 * A path around the intervals of the values; broken where a run has none.
 * @param {Point[]} points @param {(i: number) => number} x @param {(value: number) => number} y
 */
export function band_path(points, x, y) {
  const has = (point) => point && point.low !== null && point.high !== null;
  let path = "";
  for (let begin = 0; begin < points.length; begin++) {
    if (!has(points[begin])) continue;
    let end = begin;
    while (has(points[end + 1])) end++;
    path += one_band(points, begin, end, { x, y });
    begin = end;
  }
  return path;
}

function one_band(points, begin, end, { x, y }) {
  const half = begin === end ? 3 : 0; // a lone run has no neighbor to draw a band to
  const upper = [];
  const lower = [];
  for (let i = begin; i <= end; i++) {
    for (const side of half ? [-half, half] : [0]) {
      upper.push(`${(x(i) + side).toFixed(1)} ${y(points[i].high).toFixed(1)}`);
      lower.unshift(`${(x(i) + side).toFixed(1)} ${y(points[i].low).toFixed(1)}`);
    }
  }
  return `M${[...upper, ...lower].join("L")}z`;
}

/** The line through the values. */
export function line_path(points, x, y) {
  return points.map((point, i) =>
    `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(point.value).toFixed(1)}`).join("");
}

/** Marks of some points as a single path. */
export function marks_path(points, wanted, place, shape) {
  return points.map((point, i) => (wanted(point, i)
    ? moved(shape, place.x(i), place.y(point.value)) : "")).join("");
}

/** Moves a shape that starts with an absolute move and continues in relative steps. */
function moved(shape, x, y) {
  return shape.replace(/^M(\S+) (\S+?)(?=[a-z])/, (_, dx, dy) =>
    `M${(x + Number(dx)).toFixed(1)} ${(y + Number(dy)).toFixed(1)}`);
}

/** The columns of one part over all runs. @param {number} part index in PARTS */
export function part_columns(points, part, place) {
  const { x, y, wide } = place;
  return points.map((point, i) => {
    const own = Number(point[PARTS[part].column] ?? 0);
    if (own <= 0) return "";
    const below = PARTS.slice(0, part).reduce((sum, p) => sum + Number(point[p.column] ?? 0), 0);
    const tall = Math.max(0, y(below) - y(below + own));
    return `M${(x(i) - wide / 2).toFixed(2)} ${y(below).toFixed(2)}h${wide.toFixed(2)}v${
      (-tall).toFixed(2)}h${(-wide).toFixed(2)}z`;
  }).join("");
}

/** The longest step, by its parts. */
export function tallest_ns(points) {
  const total = (point) => PARTS.reduce((sum, p) => sum + Number(point[p.column] ?? 0), 0);
  return Math.max(0, ...points.map(total));
}

/**
 * Rows for labels beside vertical lines, so that none covers another.
 * @param {{x: number, text: string}[]} labels by x @param {number} right where the chart ends
 * @returns {{lane: number, side: "right"|"left"}[]}
 */
export function label_lanes(labels, right) {
  const ends = [];
  return labels.map(({ x, text }) => {
    const wide = text.length * LABEL_PX + 10;
    const side = x + wide > right ? "left" : "right";
    const begin = side === "left" ? x - wide : x;
    let lane = ends.findIndex((end) => begin >= end);
    if (lane < 0) lane = ends.length;
    ends[lane] = begin + wide;
    return { lane, side };
  });
}

/** The run nearest to a horizontal position, or -1 outside the plot. */
export function index_at(px, left, pitch, count) {
  const i = Math.floor((px - left) / pitch);
  return i >= 0 && i < count ? i : -1;
}

/** Shows every n-th label, so that they fit. */
export function label_every(count, width, label_px) {
  return Math.max(1, Math.ceil(count / Math.max(1, Math.floor(width / label_px))));
}
