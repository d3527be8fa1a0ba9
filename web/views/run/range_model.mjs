// SPDX-License-Identifier: Apache-2.0
// Which tables and pages a named range filters, and how a table says whether it does; pure.

// Tables that the API gives by range.
const TABLES = new Set(["breakdown", "categories", "classes", "collectives", "comm_calls",
  "comm_ops", "comm_sizes", "copies", "idle_causes", "idle_gaps", "kernel_shapes", "kernels",
  "launch_delays", "launches", "memory", "modules", "op_shapes", "op_tree", "operators",
  "process_groups", "queues", "roofline", "short_kernels", "stream_idle", "uncategorized",
  "utilization"]);

/** Pages of a run with such tables. */
export const RANGE_PAGES = new Set(["kernels", "operators", "modules", "ranges", "roofline", "idle",
  "memory", "collectives"]);

/** Whether a range filters a table. @param {string} name of the table @param {string} range */
export const is_ranged = (name, range) => range !== "" && TABLES.has(name);

/** What to ask of the API for a table. @param {string} name @param {string} range */
export const range_params = (name, range) => (is_ranged(name, range) ? { range } : {});

/** "within forward, rank 3". @param {string} range @param {string} rank "" for the typical rank */
export const within = (range, rank) =>
  `within ${range}, ${rank === "" ? "typical rank" : `rank ${rank}`}`;

/**
 * A table's note: its own, and once a range is chosen whether the range filters it.
 * @param {string} name of the table @param {string} range @param {string} note
 */
export function range_note(name, range, note = "") {
  if (range === "") return note;
  const scope = TABLES.has(name) ? `within ${range}` : "not filtered by the range";
  return [scope, note].filter(Boolean).join("; ");
}

/**
 * An address within the run, with the range.
 * @param {string|null|undefined} path @param {string} range
 */
export function with_range(path, range) {
  if (!path || range === "") return path;
  return `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams({ range })}`;
}

/** A view whose columns that sums over a range cannot give are left out. */
export const ranged_view = (view) =>
  ({ ...view, columns: view.columns.map((column, i) => ({ sparse: i > 0, ...column })) });
