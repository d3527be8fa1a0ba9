// SPDX-License-Identifier: Apache-2.0
// The eight parts of every step, in the order in which all charts stack them.

/**
 * @typedef {{key: string, column: string, label: string, short: string, idle?: boolean,
 *            lacking?: boolean,
 *            help: string}} Part
 */

/** @type {Part[]} */
export const PARTS = [
  {
    key: "gemm",
    label: "GEMM / matmul",
    short: "GEMM",
    help: "Matrix multiplications. Where work overlaps, compute counts before communication and "
      + "copies.",
  },
  {
    key: "attention",
    label: "Attention",
    short: "Attention",
    help: "Fused attention kernels and the recognized parts of unfused attention.",
  },
  {
    key: "other_compute",
    label: "Other compute",
    short: "Other",
    help: "All other kernels: normalization, elementwise, reductions, optimizer, etc.",
  },
  {
    key: "exposed_comm",
    label: "Exposed communication",
    short: "Comm",
    help: "Communication while no compute kernel ran; hidden communication costs no step time.",
  },
  {
    key: "exposed_memory",
    label: "Exposed copies",
    short: "Copies",
    help: "Copies and memsets while neither compute nor communication ran.",
  },
  {
    key: "idle_host_wait",
    label: "Idle: host wait",
    short: "Host wait",
    idle: true,
    help: "Nothing ran on the device: the host synchronized, loaded data, allocated, computed or "
      + "launched.",
  },
  {
    key: "idle_other",
    label: "Idle: other",
    short: "Idle",
    idle: true,
    help: "Nothing ran on the device: between kernels, within a graph, after a wait, or for no "
      + "known reason.",
  },
  {
    key: "unrecorded",
    label: "Unrecorded work",
    short: "Unrecorded",
    idle: true,
    lacking: true,
    help: "The device ran work missing from the recording: launches were pending and nothing "
      + "recorded held them back. Counted neither as idle nor as busy.",
  },
].map((part) => ({ ...part, column: `${part.key}_ns` }));

const BY_KEY = new Map(PARTS.map((part) => [part.key, part]));

/** @param {string} key */
export function part_of(key) {
  return BY_KEY.get(key) ?? { key, column: `${key}_ns`, label: key, short: key, help: "" };
}

/**
 * The parts of a row of any table with the eight columns.
 * @param {Record<string, number>|null|undefined} row
 * @returns {{part: Part, ns: number}[]}
 */
export function parts_of(row) {
  return PARTS.map((part) => ({ part, ns: Number(row?.[part.column] ?? 0) }));
}

/** The typical rank's row of a breakdown, which has few. @param {any[]} [breakdown] */
export const headline_row = (breakdown) =>
  breakdown?.find(({ scope }) => scope === "run_median") ?? breakdown?.[0];

/** @param {{ns: number}[]} parts */
export function total_of(parts) {
  return parts.reduce((sum, { ns }) => sum + ns, 0);
}

// The bar for a kernel category in the tables; it determines the category's color.
const BAR_OF_CATEGORY = {
  gemm: "gemm",
  attention: "attention",
  communication: "exposed_comm",
  memory: "exposed_memory",
};

/** @param {string|null} category @param {string|null} [kernel_class] */
export function bar_of(category, kernel_class) {
  return (
    BAR_OF_CATEGORY[String(category).toLowerCase()] ??
    BAR_OF_CATEGORY[String(kernel_class).toLowerCase()] ??
    "other_compute"
  );
}
