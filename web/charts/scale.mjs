// SPDX-License-Identifier: Apache-2.0
// Axis arithmetic shared by the charts; pure.
import { decimals, significant } from "../base/format.mjs";

/**
 * About `wanted` round numbers that cover [low, high]: 1, 2 or 5 times a power of ten apart.
 * @param {number} low @param {number} high @returns {number[]}
 */
export function nice_ticks(low, high, wanted = 4) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const raw = span / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999) ?? 10 * power;
  const ticks = [];
  for (let i = Math.floor(low / step); i <= Math.ceil(high / step); i++) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks;
}

/**
 * Those within [low, high], at least two: a single one shows no scale.
 * @param {number} low @param {number} high @returns {number[]}
 */
export function inner_ticks(low, high, wanted = 4) {
  const inside = nice_ticks(low, high, wanted).filter((tick) => tick >= low && tick <= high);
  return inside.length > 1 || !(high > low) ? inside : inner_ticks(low, high, wanted + 1);
}

/**
 * Tick texts that differ from each other: with as many decimals as their distance needs.
 * @param {number[]} ticks
 */
export function tick_texts(ticks) {
  const step = Math.min(...ticks.slice(1).map((tick, i) => tick - ticks[i]));
  if (!Number.isFinite(step)) return ticks.map((tick) => significant(tick));
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return ticks.map((tick) => decimals(tick, digits));
}

/** A linear map from [from_low, from_high] to [to_low, to_high]. */
export function linear(from_low, from_high, to_low, to_high) {
  const factor = (to_high - to_low) / (from_high - from_low || 1);
  return (value) => to_low + (value - from_low) * factor;
}

/**
 * Offsets that keep dots of a row apart: each goes to the first lane where it touches none.
 * @param {number[]} xs pixel positions, ascending @param {number} size a dot's diameter
 * @returns {number[]} lanes, 0 in the middle, then 1, -1, 2, -2 ...
 */
export function dot_lanes(xs, size, lanes = 7) {
  const last = new Array(lanes).fill(-Infinity);
  return xs.map((x) => {
    let lane = last.findIndex((end) => x - end >= size);
    if (lane < 0) lane = last.indexOf(Math.min(...last));
    last[lane] = x;
    return lane % 2 ? (lane + 1) / 2 : -lane / 2;
  });
}

/** Powers of ten that enclose positive values, at least one decade. @param {number[]} values */
export function decades(values) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  return Array.from({ length: high - low + 1 }, (_, i) => low + i);
}
