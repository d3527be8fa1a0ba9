// SPDX-License-Identifier: Apache-2.0
// What the training log of a run says, in a sentence; pure.
import { count, percent_signed, plural, significant, time_text } from "../../base/format.mjs";

/** A loss differs in its third and fourth digit. @param {number} value */
export const loss_digits = (value) => significant(value, 4);

/** "; the loss goes from 10.5 to 3.20 over 100 steps", "" without one. */
function way_of({ first_loss, last_loss }, over) {
  if (first_loss === null) return "";
  const [first, last] = [first_loss, last_loss].map(loss_digits);
  return first === last ? `; the loss stays at ${last}${over}`
    : `; the loss goes from ${first} to ${last}${over}`;
}

/** The speed and the loss of a job, in a sentence. @param {any} log a row of logs */
export function log_sentence(log) {
  const speed = log.tokens_per_s > 0 ? ` at ${count(Math.round(log.tokens_per_s))} tokens/s per GPU`
    : "";
  const steps = plural(log.steps, "step");
  const restarts = log.restarts > 0 ? `, with ${plural(log.restarts, "restart")}` : "";
  return log.step_median_ns > 0
    ? `A step takes ${time_text(log.step_median_ns)}${speed}${way_of(log, ` over ${steps}`)
    }${restarts}.`
    : `The log has ${steps}${restarts}${way_of(log, "")}.`;
}

/** The log with the most steps; undefined if none has any. @param {any[]} rows of logs */
export const main_log = (rows) =>
  rows.filter(({ steps }) => steps > 0).toSorted((a, b) => b.steps - a.steps)[0];

/**
 * How much longer steps take in the trace than in the log: what profiling costs, unless the trace
 * is of other steps. "" without both.
 * @param {number|null} logged_ns @param {number|null} traced_ns
 */
export function profiled_text(logged_ns, traced_ns) {
  if (!(logged_ns > 0) || !(traced_ns > 0)) return "";
  return `${time_text(traced_ns)} while profiled (${percent_signed(traced_ns / logged_ns - 1)})`;
}
