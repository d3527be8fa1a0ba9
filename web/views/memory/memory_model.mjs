// SPDX-License-Identifier: Apache-2.0
// Which device of a rank to show first, from rows of the table memory; pure.

/**
 * The device with the most memory held, other than the host. Undefined: none was recorded.
 * @param {Record<string, any>[]} rows
 */
export function fullest_device(rows) {
  return rows.filter(({ device, events }) => device !== "cpu" && events > 0)
    .sort((a, b) => (b.peak_allocated_bytes ?? 0) - (a.peak_allocated_bytes ?? 0))[0];
}
