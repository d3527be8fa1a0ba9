// SPDX-License-Identifier: Apache-2.0
// The share of busy time that no rule matches; pure.

/** From this share on the unmatched names deserve a warning. */
export const OTHER_FROM = 0.05;

/** @param {any[]} rows of the table categories */
export function other_share(rows) {
  const busy = rows.reduce((sum, { owned_ns }) => sum + (owned_ns ?? 0), 0);
  const other = rows.filter(({ category }) => category === "other")
    .reduce((sum, { owned_ns }) => sum + (owned_ns ?? 0), 0);
  return busy > 0 ? other / busy : 0;
}
