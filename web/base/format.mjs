// SPDX-License-Identifier: Apache-2.0
// Numbers and times for people; one rule per unit, the same on every page.

const NONE = "–";
const MINUS = "−";

/** @param {unknown} value */
function missing(value) {
  return value === null || value === undefined || Number.isNaN(value);
}

/** Groups of three digits in the integer part. @param {string} text */
function grouped(text) {
  const [whole, fraction] = text.split(".");
  const digits = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? digits : `${digits}.${fraction}`;
}

/**
 * At least `digits` significant digits, never an exponent, integers never rounded.
 * At most five decimals: 10 ps mean nothing in a trace.
 * @param {number} value
 */
export function significant(value, digits = 3) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  const power = Math.floor(Math.log10(Number(size.toPrecision(digits))));
  const decimals = Math.min(5, Math.max(0, digits - 1 - power));
  const text = grouped(size.toFixed(decimals));
  if (!/[1-9]/.test(text)) return `<${(10 ** -decimals).toFixed(decimals)}`;
  return value < 0 ? MINUS + text : text;
}

/** A number with a fixed number of decimals, for figures shown side by side. */
export function decimals(value, digits) {
  const text = grouped(Math.abs(value).toFixed(digits));
  return value < 0 && /[1-9]/.test(text) ? MINUS + text : text;
}

/** Milliseconds of integer nanoseconds, without the unit. @param {number|null} ns */
export function ms(ns, digits = 3) {
  return missing(ns) ? NONE : significant(ns / 1e6, digits);
}

/** Seconds of integer nanoseconds. @param {number} ns */
export const seconds = (ns) => `${number(ns / 1e9)} s`;

/** Microseconds of integer nanoseconds, without the unit. @param {number|null} ns */
export function us(ns, digits = 3) {
  return missing(ns) ? NONE : significant(ns / 1e3, digits);
}

const US_BELOW_NS = 100_000;

/**
 * Whether times of single calls read better in microseconds: if most are below a tenth of a
 * millisecond.
 * @param {(number|null)[]} times in ns
 */
export function fits_us(times) {
  const sizes = times.filter((ns) => !missing(ns) && ns > 0);
  return 2 * sizes.filter((ns) => ns < US_BELOW_NS).length > sizes.length;
}

const UNITS = [[10 * 60e9, 60e9, "min"], [10e9, 1e9, "s"], [US_BELOW_NS, 1e6, "ms"],
  [1000, 1e3, "µs"], [1, 1, "ns"]]; // from where on, length, name

/** The unit of a time, and of others beside it. @param {number} ns */
function unit_of_time(ns) {
  const size = Math.abs(ns);
  const found = size === 0 ? undefined : UNITS.find(([from]) => size >= from);
  return found ?? (size === 0 ? UNITS[2] : UNITS[3]);
}

/** Without the unit. */
const in_unit = (ns, [, length], digits) => (length === 1 ? significant(Math.round(ns), 1)
  : significant(ns / length, digits));

/**
 * A time with its unit: in milliseconds, from ten seconds on in seconds, from ten minutes on in
 * minutes, below a tenth of a millisecond in microseconds, below one of these in nanoseconds.
 * @param {number|null} ns
 */
export function time_text(ns, digits = 3) {
  if (missing(ns)) return NONE;
  const unit = unit_of_time(ns);
  return `${in_unit(ns, unit, digits)} ${unit[2]}`;
}

/**
 * A time in a column of others in milliseconds, without the unit; one with too many digits or zeros
 * for that brings its own. @param {number|null} ns
 */
export const ms_cell = (ns) => ((ns > 0 && ns < 10_000) || ns >= 10e9 ? time_text(ns) : ms(ns));

/** The same in microseconds. @param {number|null} ns */
export const us_cell = (ns) => ((ns > 0 && ns < 10) || ns >= 100e6 ? time_text(ns) : us(ns));

/** A time with its sign: "+8.20 ms". @param {number|null} ns */
export const time_signed = (ns, digits = 3) => `${ns > 0 ? "+" : ""}${time_text(ns, digits)}`;

/**
 * A time inside a bar, where a unit takes room: milliseconds go without, as on most pages; a time
 * that is better said in seconds or minutes has it. @param {number|null} ns
 */
export const time_in_bar = (ns, digits = 3) =>
  (Math.abs(ns ?? 0) < UNITS[1][0] ? ms(ns, digits) : time_text(ns, digits));

/**
 * What an axis up to a time is written in: the unit, and how many ns one is; never less than
 * milliseconds.
 * @param {number} most_ns
 */
export function axis_of_time(most_ns) {
  const [, per, unit] = unit_of_time(Math.max(most_ns, US_BELOW_NS));
  return { unit, per };
}

/** A time in the unit of another, at least milliseconds: "0 s" below "150 s". */
export function time_like(ns, like_ns, digits = 3) {
  const unit = unit_of_time(Math.max(Math.abs(like_ns), US_BELOW_NS));
  return `${in_unit(ns, unit, digits)} ${unit[2]}`;
}

/** Two times in one unit, in milliseconds where they are short. */
function both_in_one_unit(low_ns, high_ns, digits) {
  const most_ns = Math.max(Math.abs(low_ns), Math.abs(high_ns));
  return [low_ns, high_ns].map((ns) => time_like(ns, most_ns, digits));
}

function in_one_unit(low_ns, high_ns, between, digits) {
  const [low, high] = both_in_one_unit(low_ns, high_ns, digits);
  return `${low.slice(0, low.lastIndexOf(" "))}${between}${high}`;
}

/** "18.08 to 18.12 ms", with as many digits as it takes for the ends to differ. */
export function range_text(low_ns, high_ns) {
  const digits = [3, 4, 5].find((n) => {
    const [low, high] = both_in_one_unit(low_ns, high_ns, n);
    return low !== high;
  }) ?? 3;
  return in_one_unit(low_ns, high_ns, " to ", digits);
}

/** "493 → 251 ms". */
export const change_text = (before_ns, after_ns, digits = 3) =>
  in_one_unit(before_ns, after_ns, " → ", digits);

/** A signed difference in milliseconds, without the unit. @param {number|null} ns */
export function ms_signed(ns, digits = 3) {
  if (missing(ns)) return NONE;
  return ns > 0 ? `+${ms(ns, digits)}` : ms(ns, digits);
}

/** A share as percent: 0.123 -> "12.3 %". @param {number|null} value */
export function percent(value) {
  if (missing(value)) return NONE;
  const size = Math.abs(value * 100);
  const sign = value < 0 ? MINUS : "";
  if (size > 0 && size < 0.05) return `${sign}<0.1 %`;
  return `${sign}${size.toFixed(1)} %`;
}

/** Keeps a "%" on the same line as its number. @param {string} text */
export function unbroken(text) {
  return text.includes(" %") ? text.replace(/(\d) %/g, "$1\u00a0%") : text;
}

/** A signed share as percent. @param {number|null} value */
export function percent_signed(value) {
  if (missing(value)) return NONE;
  const text = (Math.abs(value) * 100).toFixed(1);
  const sign = Number(text) === 0 ? "" : value > 0 ? "+" : MINUS;
  return `${sign}${text} %`;
}

/** @param {number|null} value */
export function count(value) {
  if (missing(value)) return NONE;
  return grouped(Number.isInteger(value) ? String(value) : value.toFixed(1));
}

/** @param {number|null} value */
export function number(value, digits = 3) {
  return missing(value) ? NONE : significant(value, digits);
}

/** A test's p or q value. @param {number|null} p */
export function p_text(p) {
  return !missing(p) && p < 0.0001 ? "<0.0001" : number(p, 2);
}

const BYTE_UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];

/** Decimal units, as on data sheets of links and disks. @param {number|null} value */
export function bytes(value) {
  if (missing(value)) return NONE;
  let size = value;
  let unit = 0;
  while (size >= 999.5 && unit < BYTE_UNITS.length - 1) {
    size /= 1000;
    unit++;
  }
  return `${unit === 0 ? size : significant(size)} ${BYTE_UNITS[unit]}`;
}

/** Same without trailing zeros, for axes: "2 GB". @param {number|null} value */
export function bytes_round(value) {
  return bytes(value).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ");
}

const SPANS = [
  [86400 * 365, "y"],
  [86400, "d"],
  [3600, "h"],
  [60, "min"],
];

/**
 * How long ago an RFC 3339 time was, in the largest unit that fits: "3 h".
 * @param {string|null} time @param {number} now in ms
 */
export function age(time, now) {
  const then = Date.parse(time ?? "");
  if (Number.isNaN(then)) return NONE;
  const seconds = Math.max(0, (now - then) / 1000);
  const found = SPANS.find(([length]) => seconds >= length);
  return found ? `${Math.floor(seconds / found[0])} ${found[1]}` : "now";
}

/** Same in a sentence: "3 h ago". */
export function ago(time, now) {
  const text = age(time, now);
  return text === "now" ? "just now" : text === NONE ? NONE : `${text} ago`;
}

/** A local date and time to the minute. @param {string|null} time */
export function when(time) {
  const then = new Date(time ?? "");
  if (Number.isNaN(then.getTime())) return NONE;
  const two = (n) => String(n).padStart(2, "0");
  const day = `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())}`;
  return `${day} ${two(then.getHours())}:${two(then.getMinutes())}`;
}

/** A server's text, which is ASCII, with the signs of print: "bmm −133 ms", "under 30 µs". */
export const typeset = (text) => (text ?? "").replace(/(^|\s)-(?=\d)/g, "$1−")
  .replace(/(\d) us\b/g, "$1 µs");

/** A server's lower-case phrase as a sentence. @param {string|null} text */
export function sentence(text) {
  const trimmed = (text ?? "").trim();
  if (!trimmed) return "";
  const end = /[.!?:;…]$/.test(trimmed) ? "" : ".";
  return capital(trimmed) + end;
}

/** With a capital, unless it begins with a name: "fp8", "train_0.log". @param {string} text */
export function capital(text) {
  const [first] = /^\S+/.exec(text) ?? [""];
  return /[\d_/(<]|[.:][a-z]/i.test(first) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** "1 run", "2 runs". @param {number} n @param {string} word */
export function plural(n, word, many = `${word}s`) {
  return `${count(n)} ${n === 1 ? word : many}`;
}

/**
 * "at least 5,000": how many rows a list has, of which very many are not all counted.
 * @param {{total: number, total_is_least?: boolean}} list
 */
export const count_of = ({ total, total_is_least }) =>
  `${total_is_least ? "at least " : ""}${count(total)}`;

/** The same with a word. */
export const plural_of = (list, word) =>
  `${list.total_is_least ? "at least " : ""}${plural(list.total, word)}`;

/** A device's name without its vendor and memory: "MI300X". @param {string|null} gpu */
export function short_gpu(gpu) {
  if (!gpu) return NONE;
  return gpu.replace(/^(NVIDIA|AMD)\s+(Instinct\s+|GeForce\s+|Tesla\s+)?/, "")
    .replace(/[\s-]+(SXM\d*|PCIe|HBM\w*|\d+\s?GB).*$|\sGPU$/i, "") || gpu;
}

/** A code version in short: the first ten digits of a hash, else as given. */
export function short_commit(commit) {
  if (!commit) return "";
  return /^[0-9a-f]{16,}$/i.test(commit) ? commit.slice(0, 10) : commit;
}

/**
 * The distinctive part of a kernel's name: no return type, no arguments, no common namespaces. The
 * full name stays one click away.
 * @param {string|null} name
 */
export function short_kernel(name) {
  if (!name) return NONE;
  const plain = strip_arguments(name.replace(/^(void|__global__)\s+/, ""));
  return plain.replaceAll("(anonymous namespace)::", "")
    .replace(/\b(at::native|at::cuda|c10|at|std|cutlass|ck|rocprim|cub)::/g, "");
}

/** A name without its last parenthesized argument list. @param {string} name */
function strip_arguments(name) {
  if (!name.endsWith(")")) return name;
  let depth = 0;
  for (let i = name.length - 1; i > 0; i--) {
    if (name[i] === ")") depth++;
    if (name[i] === "(" && --depth === 0) return name.slice(0, i).trimEnd();
  }
  return name;
}
