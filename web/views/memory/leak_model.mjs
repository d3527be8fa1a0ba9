// SPDX-License-Identifier: Apache-2.0
// The verdict on a leak in words, from one device's row of the table memory; pure.
import { bytes, capital } from "../../base/format.mjs";

const missing = (value) => value === null || value === undefined;

function signed(value) {
  const size = Math.round(Math.abs(value));
  return `${size === 0 ? "" : value < 0 ? "−" : "+"}${bytes(size)}`;
}

/**
 * @param {Record<string, any>} row
 * @returns {{word: string, tone: "bad"|undefined, text: string}}
 */
export function leak_verdict(row) {
  const { leak, leak_bytes_per_step, leak_low, leak_high } = row;
  if (missing(leak) || missing(leak_bytes_per_step)) {
    const text = capital(row.note ?? "") || "Too few steady steps to tell";
    return { word: "not known", tone: undefined, text };
  }
  const is_known = !missing(leak_low) && !missing(leak_high);
  const [low, high] = is_known ? [signed(leak_low), signed(leak_high)] : ["", ""];
  const interval = low === high ? "" : ` (${low} to ${high})`;
  const text = `${signed(leak_bytes_per_step)} per step${interval}`;
  return leak ? { word: "yes", tone: "bad", text } : { word: "none", tone: undefined, text };
}
