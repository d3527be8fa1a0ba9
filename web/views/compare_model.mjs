// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the compare page; pure.

const RELEVANT_SHARE = 0.002;
const RELEVANT_NS = 100_000;

/**
 * The least change per step that is worth a look: 0.2 % of the step, at least 0.1 ms, but never
 * more than 1 % of it, so that short steps have relevant changes too.
 * @param {number} step_ns
 */
export function relevant_from_ns(step_ns) {
  return Math.min(Math.max(RELEVANT_SHARE * step_ns, RELEVANT_NS), 0.01 * step_ns);
}
