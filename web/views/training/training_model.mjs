// SPDX-License-Identifier: Apache-2.0
// What the page of training logs shows: which figures there are, over what, in which words; pure.
import { pieces_of } from "../../charts/step_curve_model.mjs";
import { count, ms_unit, number, plural } from "../../base/format.mjs";

const short = (value) => (Math.abs(value) >= 1000 ? count(Math.round(value)) : number(value));

const seconds = (ns) => `${number(ns / 1e9)} s`;

/** Figures over steps, in the order of the choice. */
export const METRICS = [
  { key: "loss", label: "Loss", low: "loss_low", high: "loss_high", text: number },
  { key: "step_ns", label: "Step time", high: "step_high_ns", low: "step_ns", text: ms_unit,
    from_zero: true, bad_up: true },
  { key: "tokens_per_s", label: "Tokens/s per GPU", text: short, from_zero: true },
  { key: "tflops", label: "TFLOP/s per GPU", text: short, from_zero: true },
  { key: "grad_norm", label: "Gradient norm", text: number, from_zero: true },
  { key: "memory_bytes", label: "Memory", text: (v) => `${number(v / 1e9)} GB`, from_zero: true },
];

/** What a curve can be over. */
export const AXES = [
  { key: "step", label: "Step", text: (v) => count(Math.round(v)) },
  { key: "time_ns", label: "Time", text: seconds },
  { key: "consumed_tokens", label: "Tokens", text: (v) => `${number(v / 1e9)} B` },
];

const has = (rows, key) => rows.some((row) => row[key] !== null && row[key] !== undefined);

export const known_of = (choices, rows) => choices.filter(({ key }) => has(rows, key));

/** @param {any[]} choices @param {string} key @returns the choice of that key, else the first */
export const chosen_of = (choices, key) =>
  choices.find((choice) => choice.key === key) ?? choices[0];

/** Logs in the order of the rows. */
export const files_of = (rows) => [...new Set(rows.map(({ file }) => file))];

/**
 * A line per log and segment.
 * @returns {import("../../charts/step_curve_model.mjs").Series[]}
 */
export function series_of(rows, metric, axis) {
  return files_of(rows).flatMap((file, tone) =>
    pieces_of(rows.filter((row) => row.file === file),
      { x: axis.key, y: metric.key, low: metric.low, high: metric.high })
      .map((points, i) => ({ key: `${file} ${i}`, label: file, tone: tone % 6, points })));
}

const EVENT_WORDS = { checkpoint: "Checkpoint", evaluation: "Evaluation", profiler: "Profiler",
  garbage_collection: "Garbage collection", fault: "Fault", restart: "Restart" };

/** @param {string|null} kind */
export const event_label = (kind) => EVENT_WORDS[kind] ?? "–";

const MARKED = new Set(["fault", "restart"]);
const MOST_MARKS = 40;

/** Faults and restarts, which change a curve. */
export function marks_of(events, axis) {
  const key = axis.key === "step" ? "after_step" : axis.key;
  return events.filter((event) => MARKED.has(event.kind) && event[key] !== null
      && event[key] !== undefined).slice(0, MOST_MARKS)
    .map((event) => ({ x: event[key], tone: event.kind,
      label: event.text ? `${event_label(event.kind)}: ${event.text}` : event_label(event.kind) }));
}

/** What a chart shows, in a sentence. @param {any} log a row of logs */
export function loss_text(log) {
  if (log.first_loss === null) return `${plural(log.steps, "step")} without a loss`;
  const troubles = [[log.loss_spikes, "spike"], [log.restarts, "restart"],
    [log.nan_steps, "step without a number"]].filter(([n]) => n > 0)
    .map(([n, word]) => (word === "step without a number" ? `${count(n)} NaN` : plural(n, word)));
  return `Loss from ${number(log.first_loss)} to ${number(log.last_loss)} over ${
    plural(log.steps, "step")}${troubles.length > 0 ? `; ${troubles.join(", ")}` : ""}`;
}
