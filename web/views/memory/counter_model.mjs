// SPDX-License-Identifier: Apache-2.0
// Counters for people; pure.
import { bytes, number, percent } from "../../base/format.mjs";

/** A value with its unit. @param {number|null} value @param {string} unit of the counter */
export function counter_text(value, unit) {
  if (value === null || value === undefined) return "–";
  if (unit === "share") return percent(value);
  if (unit === "percent") return percent(value / 100);
  if (unit === "bytes") return bytes(value);
  if (unit === "bytes/s") return `${bytes(value)}/s`;
  return unit ? `${number(value)} ${unit}` : number(value);
}

/** "sm__cycles_active of GPU 3". @param {{counter: string, device: string|null}} row */
export const counter_label = ({ counter, device }) =>
  (device ? `${counter}, device ${device}` : counter);

/** The points of one counter, and the range of its chart. @param {any[]} points of all */
export function series_of(points, { counter, device }) {
  const own = points.filter((point) => point.counter === counter && point.device === device);
  const values = own.map(({ value }) => value);
  const low = values.reduce((a, b) => Math.min(a, b), 0); // there may be too many for arguments
  const high = values.reduce((a, b) => Math.max(a, b), 0);
  return { points: own, low, high: high > low ? high : low + 1,
    begin_ns: own[0]?.time_ns ?? 0, end_ns: own.at(-1)?.time_ns ?? 0 };
}
