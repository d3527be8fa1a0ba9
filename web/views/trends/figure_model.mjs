// SPDX-License-Identifier: Apache-2.0
// The figures that a trend can show: their names, units, directions and sources; pure.
import { axis_of_time, bytes, number, percent, plural, time_text } from "../../base/format.mjs";

/**
 * @typedef {{metric: string, label: string, unit: string, better: "more"|"less"|"",
 *            help: string, words?: [string, string]}} Figure `words`: of more and of less of it
 */

/** What a trend shows unless another figure is chosen. @type {Figure} */
export const STEP = { metric: "", label: "Step time", unit: "ns", better: "less",
  help: "Median time of a steady step of the typical rank.", words: ["slower", "faster"] };

/** The same of a run in which no step is marked. @type {Figure} */
export const RECORDING = { ...STEP, label: "Recording", help: "All that was recorded.",
  words: ["longer", "shorter"] };

/** What the time of a run or a series is of. @param {{no_steps?: boolean}} [row] of the API */
export const step_figure = (row) => (row?.no_steps ? RECORDING : STEP);

const SAME_AS_STEP = "step_ns";

/**
 * The figures to choose from, in the order of the API; step time is always the first.
 * @param {any[]} rows of /figures @param {string} chosen is there even if no run has it
 * @returns {Figure[]}
 */
export function figures_of(rows, chosen = "") {
  const found = new Map([["", STEP]]);
  for (const { metric, label, unit, better, help } of rows) {
    if (metric !== SAME_AS_STEP) found.set(metric, { metric, label, unit, better, help });
  }
  if (!found.has(chosen)) {
    found.set(chosen, { metric: chosen, label: chosen, unit: "", better: "", help: "" });
  }
  return [...found.values()];
}

/** @param {Figure[]} figures @param {string} metric @returns {Figure} */
export function figure_named(figures, metric) {
  return figures.find((figure) => figure.metric === metric) ?? figures[0];
}

/** "MFU", "Tokens/s per GPU", but "step time" within a sentence. @param {Figure} figure */
export function label_within(figure) {
  return /^[A-Z][a-z]/.test(figure.label)
    ? figure.label[0].toLowerCase() + figure.label.slice(1) : figure.label;
}

const UNITS = { tokens_per_s_per_gpu: "tokens/s", job_tokens_per_s: "tokens/s",
  samples_per_s: "samples/s", tokens_per_j: "tokens/J" };

const unit_of = ({ metric, unit }) => UNITS[metric] ?? unit;

/** The unit of an axis up to a value, and how much of the figure one such unit is. */
export function scale_of(figure, most) {
  if (figure.unit === "ns") return axis_of_time(most);
  if (figure.unit === "share") return { unit: "%", per: 0.01 };
  if (figure.unit !== "bytes") return { unit: unit_of(figure), per: 1 };
  const power = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, most)) / 3)));
  return { unit: ["B", "kB", "MB", "GB", "TB"][power], per: 1000 ** power };
}

/** A value with its unit. @param {Figure} figure @param {number|null} value */
export function value_text(figure, value) {
  if (figure.unit === "ns") return time_text(value, 4);
  if (figure.unit === "share") return percent(value);
  if (figure.unit === "bytes") return bytes(value);
  const unit = unit_of(figure);
  return unit && value !== null ? `${number(value, 4)} ${unit}` : number(value, 4);
}

/** "lower is better"; "" if nobody said. @param {Figure} figure */
export function direction_text({ better }) {
  if (better === "") return "";
  return better === "more" ? "higher is better" : "lower is better";
}

/**
 * The figure that an alert is about.
 * @param {{metric?: string, label?: string, unit?: string, better?: string, no_steps?: boolean}}
 *        alert
 * @returns {Figure}
 */
export function alert_figure({ metric, label, unit, better, no_steps }) {
  if (!metric || metric === SAME_AS_STEP) return step_figure({ no_steps });
  return { metric, label: label ?? metric, unit: unit ?? "",
    better: better === "more" || better === "less" ? better : "", help: "" };
}

/** What changed: "▲ 5.0 % slower" of step time, "MFU ▼ 5.0 % lower" of others. */
export function alert_words(alert) {
  const figure = alert_figure(alert);
  const words = change_words(alert.change_share, figure);
  return figure === STEP ? words : `${figure.label} ${words}`;
}

/** How much worse an alert is, below 0 better. @returns {number} */
export const worse_share = (alert) => alert.worse_share ?? alert.change_share;

/** What more and less of a figure is called. @param {Figure} figure */
export const words_of = ({ words }) => words ?? ["higher", "lower"];

/**
 * "▲ 5.0 % slower"; without an arrow below a tenth of a percent. @param {number|null} share null:
 * there is no earlier run like it
 */
export function change_words(share, figure = STEP) {
  if (share === null || share === undefined) return "nothing to compare with";
  if (Math.abs(share) < 0.0005) return "as before";
  const size = percent(Math.abs(share));
  const [more, less] = words_of(figure);
  return share > 0 ? `▲ ${size} ${more}` : `▼ ${size} ${less}`;
}

/** Whether a change is for the better. @returns {"better"|"worse"|"same"} */
export function change_tone(share, figure = STEP) {
  if (figure.better === "" || !share) return "same";
  return (share > 0) === (figure.better === "more") ? "better" : "worse";
}

const SOURCES = { log: "the training log", trace: "the trace", monitor: "a monitor",
  computed: "other figures", typed: "the metadata", "": "an unknown source" };

/**
 * Where the values of the shown runs come from. Each source measures in its own way.
 * @param {any[]} points that have the figure
 */
export function source_text(points) {
  const counts = new Map();
  for (const { source } of points) {
    counts.set(source ?? "", (counts.get(source ?? "") ?? 0) + 1);
  }
  const words = (source) => SOURCES[source] ?? source;
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  if (sorted.length === 0) return "";
  if (sorted.length === 1) return `from ${words(sorted[0][0])}`;
  return `from ${sorted.map(([source, runs]) => `${words(source)} in ${plural(runs, "run")}`)
    .join(" and ")}, which may measure differently`;
}

/** "in 18 of 20 runs". @param {any[]} points @param {any[]} known those with the figure */
export function coverage_text(points, known) {
  if (points.length === 1 && known.length === 1) return "in the only run";
  if (known.length === points.length) return `in all ${plural(points.length, "run")}`;
  return `in ${known.length} of ${plural(points.length, "run")}`;
}

/** What to know of a figure before reading its line. @param {Figure} figure */
export function figure_note(figure, points, known) {
  if (figure === RECORDING) return "lower is better · no step is marked";
  if (figure === STEP) return "lower is better · from the trace, else from the training log";
  return [direction_text(figure) || "better direction unknown", source_text(known),
    coverage_text(points, known)].filter(Boolean).join(" · ");
}
