// SPDX-License-Identifier: Apache-2.0
// The figures of the efficiency model in the order of its product; pure.

// Parallel efficiency = load balance x communication efficiency; the latter = serialization x
// transfer.
const ROLES = {
  parallel_efficiency: "load balance × communication",
  load_balance: "mean / longest compute",
  communication_efficiency: "serialization × transfer",
  serialization_efficiency: "left after waiting",
  transfer_efficiency: "left after transfer",
  offload_efficiency: "of one device",
};

const ORDER = Object.keys(ROLES);

/** @param {any[]} rows of the table efficiency; unknown figures come last */
export function by_product(rows) {
  const place = ({ metric }) => (ORDER.includes(metric) ? ORDER.indexOf(metric) : ORDER.length);
  return rows.filter(({ value }) => value !== null && value !== undefined)
    .map((row) => ({ ...row, role: ROLES[row.metric] ?? "" }))
    .sort((a, b) => place(a) - place(b));
}
