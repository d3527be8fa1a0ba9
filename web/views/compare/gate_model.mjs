// SPDX-License-Identifier: Apache-2.0
// The request by which a CI job asks whether a change may pass; pure.
import { address } from "../../base/address.mjs";

export const LIMITS = [["0.01", "1 %"], ["0.02", "2 %"], ["0.03", "3 %"], ["0.05", "5 %"],
  ["0.1", "10 %"]];

/** For a shell: single quotes protect everything but themselves. @param {string} text */
export const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * @param {{base: string, cand: string, per?: string|null, rank?: string|null, limit: string,
 *          undecided?: string}} gate
 * @param {string} origin of this service
 */
export function gate_command({ base, cand, per, rank, limit, undecided }, origin) {
  const path = address("/api/v1/compare/gate", { base, cand, per, rank, max_regression: limit,
    undecided: undecided === "fail" ? "fail" : null, format: "text" });
  return `curl --fail-with-body ${quoted(origin + readable(path))}`;
}

/** Characters that may stay readable in a query. */
const readable = (path) => path.replaceAll("%40", "@").replaceAll("%2C", ",").replaceAll("%3A", ":")
  .replaceAll("%2F", "/").replaceAll("%7E", "~");
