// SPDX-License-Identifier: Apache-2.0
// Idle time by cause, for one device or all merged; pure.

/** Devices with separate rows; "" means all merged. @param {any[]} rows */
export function devices_of(rows) {
  return [...new Set(rows.map(({ device }) => device ?? ""))].sort();
}

/** Rows of one device, most time first. @param {any[]} rows @param {string} device */
export function causes_of(rows, device) {
  return rows.filter((row) => (row.device ?? "") === device && row.total_ns > 0)
    .sort((a, b) => b.total_ns - a.total_ns);
}

/** Causes of idle time: in the other gaps the device ran work that the recording lacks. */
export const recorded = (/** @type {any[]} */ causes) =>
  causes.filter(({ cause }) => cause !== "unrecorded");

/**
 * Sums over causes: all idle time, the part inside the steady steps, the host's part, and gaps.
 * @param {any[]} causes rows of one device
 */
export function idle_sums(causes) {
  const sum = (key, rows) => rows.reduce((all, row) => all + (row[key] ?? 0), 0);
  const host = causes.filter(({ bar }) => bar === "idle_host_wait");
  return { idle_ns: sum("total_ns", causes), share: sum("window_share", causes),
    steady_ns: sum("steady_ns", causes), gaps: sum("gaps", causes),
    host_ns: sum("total_ns", host) };
}
