// SPDX-License-Identifier: Apache-2.0
// What the page of training logs shows: which figures there are, over what, in which words; pure.
import { pieces_of } from "../../charts/step_curve_model.mjs";
import { count, number, plural, seconds, sentence, time_like, time_text } from
  "../../base/format.mjs";
import { loss_digits } from "../run/log_model.mjs";

const short = (value) => (Math.abs(value) >= 1000 ? count(Math.round(value)) : number(value));

/** Figures over steps, in the order of the choice. */
export const METRICS = [
  { key: "loss", label: "Loss", low: "loss_low", high: "loss_high", text: loss_digits },
  { key: "step_ns", label: "Step time", high: "step_high_ns", low: "step_ns", text: time_text,
    tick: time_like, from_zero: true },
  { key: "tokens_per_s", label: "Tokens/s per GPU", text: short, from_zero: true },
  { key: "samples_per_s", label: "Samples/s", text: short, from_zero: true },
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
  const of_file = new Map();
  for (const row of rows) {
    if (!of_file.has(row.file)) of_file.set(row.file, []);
    of_file.get(row.file).push(row);
  }
  return [...of_file].flatMap(([file, own], tone) =>
    pieces_of(own, { x: axis.key, y: metric.key, low: metric.low, high: metric.high })
      .map((points, i) => ({ key: `${file} ${i}`, label: file, tone, points })));
}

const EVENT_WORDS = { checkpoint: "Checkpoint", evaluation: "Evaluation", profiler: "Profiler",
  garbage_collection: "Garbage collection", fault: "Fault", restart: "Restart" };

/** @param {string|null} kind */
export const event_label = (kind) => EVENT_WORDS[kind] ?? "–";

/**
 * The place of each event in time. The API has the restarts of a log after all else that the log
 * says; a restart begins its segment. Logs follow each other where not all events have a time.
 * @param {{file: string, segment: number, kind: string, time_ns: number|null}[]} events
 * @returns {number[]}
 */
export function event_places(events) {
  const files = files_of(events);
  const all = events.map((event, at) => ({ ...event, at, log: files.indexOf(event.file) }));
  all.sort((a, b) => a.log - b.log || a.segment - b.segment
    || (b.kind === "restart") - (a.kind === "restart") || a.at - b.at);
  if (all.every(({ time_ns }) => time_ns !== null)) all.sort((a, b) => a.time_ns - b.time_ns);
  const places = [];
  all.forEach(({ at }, place) => { places[at] = place; });
  return places;
}

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
  return `Loss from ${loss_digits(log.first_loss)} to ${loss_digits(log.last_loss)} over ${
    plural(log.steps, "step")}${troubles.length > 0 ? `; ${troubles.join(", ")}` : ""}`;
}

/**
 * Rows of the log with the most steps, under a name.
 * @param {any[]} rows of log_curve @param {string} name
 */
export function longest_log(rows, name) {
  const steps = new Map();
  for (const row of rows) steps.set(row.file, (steps.get(row.file) ?? 0) + row.steps);
  const [longest] = [...steps].sort((a, b) => b[1] - a[1])[0] ?? [];
  return rows.filter((row) => row.file === longest).map((row) => ({ ...row, file: name }));
}

/** The mean of each loss and those before it: a single low one reaches nothing. */
function smoothed(rows) {
  const known = rows.filter((row) => row.loss !== null);
  const window = Math.max(1, Math.min(20, Math.floor(known.length / 20)));
  return known.map((row, i) => {
    const some = known.slice(Math.max(0, i + 1 - window), i + 1);
    return { row, loss: some.reduce((sum, one) => sum + one.loss, 0) / some.length };
  });
}

/**
 * Where each side first has a loss that both reach: the higher of their lowest.
 * @param {{rows: any[]}[]} sides
 * @returns {{loss: number, at: any[]}|null} rows; null if a side has no loss
 */
export function race(sides) {
  const curves = sides.map(({ rows }) => smoothed(rows));
  if (curves.some((curve) => curve.length === 0)) return null;
  const lowest = curves.map((curve) => curve.reduce((low, { loss }) => Math.min(low, loss),
    Infinity));
  const loss = Math.max(...lowest);
  return { loss, at: curves.map((curve) => curve.find((one) => one.loss <= loss).row) };
}

const place = ({ step, time_ns }) => `step ${count(step)}${
  time_ns === null ? "" : ` (${seconds(time_ns)})`}`;

/** @param {{name: string, rows: any[]}[]} sides */
export function race_text(sides) {
  const found = race(sides);
  if (!found) return "Needs losses on both sides";
  return `Loss ${loss_digits(found.loss)} is reached ${found.at.map((row, i) =>
    `by ${sides[i].name} at ${place(row)}`).join(", ")}`;
}
