// SPDX-License-Identifier: Apache-2.0
// What a recording has and lacks, from the table recording; pure.

const STATE_ORDER = { missing: 0, partial: 1, present: 2 };

const order = ({ state }) => STATE_ORDER[state] ?? 1;

/**
 * The named items that a recording does not have in full, worst first.
 * @param {any[]} rows of the table recording @param {string[]} items
 */
export function gaps_among(rows, items) {
  return rows.filter(({ item, state }) => items.includes(item) && state !== "present")
    .sort((a, b) => order(a) - order(b));
}

/** Everything, missing items first. @param {any[]} rows */
export function by_state(rows) {
  return [...rows].sort((a, b) => order(a) - order(b));
}

/** "8 of 11 things that a recording can hold are there". @param {any[]} rows */
export function recording_sentence(rows) {
  const whole = rows.filter(({ state }) => state === "present").length;
  return `${whole} of ${rows.length} kinds of data are recorded in full`;
}
