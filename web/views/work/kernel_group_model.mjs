// SPDX-License-Identifier: Apache-2.0
// Sums of the table of kernels by one of its properties.
import { value_at } from "../../base/frame.mjs";

/**
 * One row per value of a column, and one for the kernels without.
 * @param {import("../../base/frame.mjs").Frame} frame @param {string} by
 */
export function kernel_groups(frame, by) {
  const groups = new Map();
  let all_ns = 0;
  for (let row = 0; row < frame.length; row++) {
    const value = value_at(frame, by, row) ?? null;
    const group = groups.get(value) ?? { value, kernels: 0, calls: 0, total_ns: 0 };
    groups.set(value, group);
    group.kernels++;
    group.calls += value_at(frame, "calls", row);
    group.total_ns += value_at(frame, "total_ns", row);
    all_ns += value_at(frame, "total_ns", row);
  }
  return [...groups.values()].map((group) =>
    ({ ...group, share: all_ns > 0 ? group.total_ns / all_ns : null }));
}
