// SPDX-License-Identifier: Apache-2.0
// A slice of a timeline in words.
import { count, percent, time_text } from "../../base/format.mjs";

/** A length or instant to the nanosecond, in milliseconds. @param {number} ns */
export const exact_ms = (ns) => `${(Math.round(ns) / 1e6).toLocaleString("en",
  { maximumFractionDigits: 6 })} ms`;

/**
 * A length, in as few characters as its size allows. @param {number} ns
 * @param {number} [like_ns] a length beside it, whose unit it takes
 */
export function length_text(ns, like_ns = ns) {
  if (like_ns < 1000) return `${count(Math.round(ns))} ns`;
  return like_ns < 1e6 ? `${(ns / 1000).toFixed(ns < 1e5 ? 2 : 1)} µs` : time_text(ns, 4);
}

/** @param {{count: number, busy_ns: number, dur_ns: number}} slice a merged one */
export function merged_text({ count: n, busy_ns, dur_ns }) {
  return `${count(n)} events merged, ${percent(busy_ns / (dur_ns || 1))} of the time busy`;
}

/** @param {ReturnType<typeof import("./timeline_model.mjs").slice_of>} slice */
export function slice_text(slice) {
  const what = slice.count > 1 ? `${slice.name} and ${count(slice.count - 1)} more` : slice.name;
  return `${what}: ${length_text(slice.dur_ns)} at ${exact_ms(slice.begin_ns)}, ${
    slice.class_name}, ${slice.lane_name}`;
}
