// SPDX-License-Identifier: Apache-2.0
// Where keys lead among the marks of a chart; pure.

export const ALONG = { ArrowLeft: -1, ArrowRight: 1 };
export const EITHER_WAY = { ...ALONG, ArrowUp: -1, ArrowDown: 1 };

/**
 * The index of the mark that arrow keys, Home and End lead to; null for any other key.
 * @param {string} key @param {number} at -1: none is chosen yet
 * @param {number} count @param {Record<string, number>} [steps]
 */
export function moved(key, at, count, steps = ALONG) {
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return key in steps ? Math.min(count - 1, Math.max(0, at + steps[key])) : null;
}
