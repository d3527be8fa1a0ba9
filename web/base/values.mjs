// SPDX-License-Identifier: Apache-2.0
// How a value is written, by the unit the API gives its column; pure.
import { bytes, count, number, percent, time_text } from "./format.mjs";

const KIND_OF_UNIT = { ns: "ms", share: "share", count: "count", bytes: "bytes" };

/** The first value of a column that is not null. */
const sample = (frame, key) => (frame.columns[key] ?? []).find((v) => v !== null) ?? null;

/**
 * The kind of table column for a column of the API.
 * @param {import("./frame.mjs").Frame} frame @param {string} key
 */
export function kind_of(frame, key) {
  const value = sample(frame, key);
  if (typeof value === "boolean") return "flag";
  if (typeof value === "string") return "text";
  const unit = frame.units[key] ?? "";
  if (value === null && unit === "") return "text";
  return KIND_OF_UNIT[unit] ?? (unit === "" ? "plain" : "number");
}

/** A unit shown in the head of a column because its cells omit it. */
function head_unit(frame, key) {
  const unit = frame.units[key] ?? "";
  return unit === "" || unit in KIND_OF_UNIT ? undefined : unit;
}

/** A single value with its unit. @param {unknown} value @param {string} [unit] */
export function write_value(value, unit = "") {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return String(value);
  if (unit === "ns") return time_text(value);
  if (unit === "share") return percent(value);
  if (unit === "bytes") return bytes(value);
  if (unit === "count" || unit === "") return count(value);
  return `${number(value)} ${unit}`;
}

/** Same in two pieces, for figures that show the unit smaller. @returns {[string, string]} */
export const value_and_unit = (value, unit = "") => in_two(write_value(value, unit));

/** A number and its unit. @param {string} text @returns {[string, string]} */
function in_two(text) {
  const at = text.lastIndexOf(" ");
  return at > 0 && text !== "–" ? [text.slice(0, at), text.slice(at + 1)] : [text, ""];
}

/** A time for a figure, in the unit that fits its size. @param {number|null} ns */
export function timed(ns, digits = 3) {
  const [value, unit] = in_two(time_text(ns, digits));
  return { value, unit };
}

const INITIALS = ["hfu", "mfu", "gpu", "flops", "tflops", "gemm", "bf16", "fp8", "fp16", "fp32",
  "tf32", "fp64", "cpu", "id", "p50", "p95", "p99"];

/** "peak_allocated_bytes" as a label: the unit is shown with the value. @param {string} name */
export function label_of(name) {
  const words = name.replace(/_(ns|bytes|share)$/, "").split("_");
  const shown = words.map((word) => (INITIALS.includes(word) && !/^(bf|fp|tf|p)\d/.test(word)
    ? word.toUpperCase() : word));
  const text = shown.join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const CAUSE_WORDS = { gpu: "GPU", nccl: "NCCL", gc: "GC", cpu: "CPU" };

/** A cause of idle time in words. @param {string|null} cause */
export function cause_label(cause) {
  const words = label_of(cause ?? "unknown").split(" ");
  return words.map((word) => CAUSE_WORDS[word.toLowerCase()] ?? word).join(" ");
}

/** Whether a column has a value that is not 0, false or empty. */
export const says_something = (frame, key) => (frame.columns[key] ?? []).some(Boolean);

/**
 * Columns of a table: those in the reply, each with the kind that fits its unit. A `sparse` column
 * is left out if it contains only zeros.
 * @param {import("./frame.mjs").Frame} frame
 * @param {(import("../widgets/table.mjs").Column & {key: string})[]} wanted
 */
export function columns_for(frame, wanted) {
  return wanted
    .filter(({ key, cell }) => key in frame.columns || cell)
    .filter(({ key, sparse }) => !sparse || says_something(frame, key))
    .map((column) => ({
      kind: kind_of(frame, column.key),
      unit: head_unit(frame, column.key),
      ...column,
    }));
}
