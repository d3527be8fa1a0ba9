// SPDX-License-Identifier: Apache-2.0
// Where a value lies among others: a robust scale that one outlier cannot flatten; pure.

const FULL_AT = 6; // robust deviations from the median at which a color is strongest
const NORMAL = 1.4826; // scales the median absolute deviation to the standard deviation of a normal
                       // distribution

/** The lower median. @param {number[]} sorted */
const middle = (sorted) => (sorted.length > 0 ? sorted[(sorted.length - 1) >> 1] : null);

const ascending = (values) => values.slice().sort((a, b) => a - b);

/**
 * @typedef {{median: number, spread: number, reach: number, lowest: number}} HeatScale `spread` is
 * the robust standard deviation; colors run from median - reach to median + reach
 */

/**
 * The scale of some values. The floor is the smallest difference that means anything, so that a
 * quiet run stays pale; if more than half are equal, the farthest value sets the reach.
 * @param {(number|null)[]} given @param {number} [floor] @returns {HeatScale|null} null: no values
 */
export function heat_scale(given, floor = 0) {
  const values = ascending(given.filter((v) => v !== null && Number.isFinite(v)));
  if (values.length === 0) return null;
  const median = middle(values);
  const away = ascending(values.map((v) => Math.abs(v - median)));
  const spread = NORMAL * middle(away);
  const reach = Math.max(spread > 0 ? FULL_AT * spread : away.at(-1), floor);
  return { median, spread, reach: reach || 1, lowest: values[0] };
}

/** A value's position on the scale, -1 to 1. @param {HeatScale} scale */
export function heat_shade({ median, reach }, value) {
  return Math.max(-1, Math.min(1, (value - median) / reach));
}

/** Decimals needed to show a hundredth of the scale, for values divided by `unit`. */
export function heat_decimals({ reach }, unit) {
  return Math.max(0, Math.min(5, Math.ceil(-Math.log10(reach / unit / 50))));
}

/** Robust deviations from the median; null if the values are all alike. */
export function heat_distance({ median, spread }, value) {
  return spread > 0 ? (value - median) / spread : null;
}
