// SPDX-License-Identifier: Apache-2.0
// A promise and its receipt in words; pure.
import { percent, range_text, time_text } from "../../base/format.mjs";

/** The host without what PyTorch's profiler takes of it. */
export const NO_PROFILER = "remove:profiler";

/** "a step of 30.9 ms (30.8 to 31.1 ms) instead of 33.1 ms". */
export function promised_text({ base_ns, step_ns, low_ns, high_ns }) {
  const range = low_ns === null ? "" : ` (${range_text(low_ns, high_ns)})`;
  return `a step of ${time_text(step_ns)}${range} instead of ${time_text(base_ns)}`;
}

/** How a receipt is judged: "kept", "better", "missed", or "" without an interval. */
export function outcome_of({ low_ns, receipt }) {
  if (!receipt || receipt.held === null) return "";
  if (receipt.held) return "kept";
  return receipt.step_ns < low_ns ? "better" : "missed";
}

/** What came, as "It took 31.0 ms, 0.3 % more than promised". */
export function came_text({ receipt }) {
  if (!receipt) return "No later run of the series has a step time yet.";
  const off = Math.abs(receipt.off_share);
  if (off < 0.0005) return `It took ${time_text(receipt.step_ns)}, as promised`;
  return `It took ${time_text(receipt.step_ns)}, ${percent(off)} ${
    receipt.off_share > 0 ? "more" : "less"} than promised`;
}

/** A change in words. @param {{change: string, title: string|null}} change */
export function change_label({ change, title }) {
  if (title) return title;
  const [, rank] = /^balanced=(\d+)$/.exec(change) ?? [];
  if (rank) return `No straggler on rank ${rank}`;
  if (change === NO_PROFILER) return "Without the profiler";
  const [, factor, what] = /^scale=([0-9.]+):(.+)$/s.exec(change) ?? [];
  if (!factor) return change;
  const left = `${Number((100 * Number(factor)).toFixed(1))} % of the time`;
  if (what === "host") return `Host in ${left}`;
  if (what === "class=communication") {
    return `Network ${Number((1 / Number(factor)).toFixed(2))} times as fast`;
  }
  return `${what.replace(/^(kernel|op|category)=/, "")} in ${left}`;
}
