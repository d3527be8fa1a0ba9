// SPDX-License-Identifier: Apache-2.0
// What a page says about the calls of a kernel or operator; pure.
import { plural } from "../../base/format.mjs";

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

/** The unit in which times of this size are read. @param {number} ns */
function time_unit(ns) {
  return UNITS.find(([size]) => ns >= size) ?? UNITS.at(-1);
}

/** A time in the unit of its size: "812 ns", "3.06 µs". @param {number|null} ns */
export function fit_time(ns) {
  if (ns === null || ns === undefined) return "–";
  if (ns === 0) return "0 ns";
  const [size, unit] = time_unit(Math.abs(ns));
  const value = ns / size;
  const digits = size === 1 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return `${value.toFixed(digits)} ${unit}`;
}

/** Where a duration lies among bins, as a position between columns. */
function position(histogram, ns) {
  const i = histogram.findIndex(({ to_ns }) => ns < to_ns);
  if (i < 0) return histogram.length;
  const { from_ns, to_ns } = histogram[i];
  return i + (ns - from_ns) / (to_ns - from_ns);
}

const MARKS = [["p10_ns", "p10"], ["median_ns", "p50"], ["p90_ns", "p90"]];
const APART = 0.035; // of the width, below which two labels would touch

/** Percentiles as marks of a histogram; those too close to another share its label. */
export function quantile_marks({ histogram, ...times }) {
  const marks = [];
  for (const [key, label] of MARKS) {
    const at = position(histogram, times[key]);
    const last = marks.at(-1);
    if (last && at - last.at < APART * histogram.length) last.label += `, ${label}`;
    else marks.push({ at, label });
  }
  return marks;
}

/** @param {{histogram: any[]}} times */
export const histogram_columns = ({ histogram }) => histogram.map((bin) => ({
  label: fit_time(bin.from_ns),
  value: bin.calls,
  text: bin.to_ns - bin.from_ns === 1 ? `${plural(bin.calls, "call")} of ${fit_time(bin.from_ns)}`
    : `${plural(bin.calls, "call")} from ${fit_time(bin.from_ns)} to below ${fit_time(bin.to_ns)}`,
}));

/** "2,048 calls: half take 3.1 µs or less, eight of ten 2.9 to 3.4 µs". */
export function times_caption(times) {
  if (times.calls === 0) return "No calls";
  const middle = `half take ${fit_time(times.median_ns)} or less`;
  const spread = times.p10_ns === times.p90_ns ? ""
    : `, eight of ten ${fit_time(times.p10_ns)} to ${fit_time(times.p90_ns)}`;
  return `${plural(times.calls, "call")}: ${middle}${spread}; the longest ${
    fit_time(times.max_ns)}`;
}

/** @param {any[]} steps */
export const step_columns = (steps) => steps.map((step) => ({
  label: String(step.step),
  value: step.total_ns,
  faint: !step.steady,
  text: `Step ${step.step}: ${fit_time(step.total_ns)} in ${plural(step.calls, "call")}${
    step.calls > 0 ? `, the longest ${fit_time(step.max_ns)}` : ""}${
    step.steady ? "" : "; not a steady step"}`,
}));

const median_of = (values) => [...values].sort((a, b) => a - b)[(values.length - 1) >> 1];

/** What the steps say in a sentence. @param {any[]} steps */
export function steps_caption(steps) {
  const steady = steps.filter((step) => step.steady);
  const shown = steady.length > 0 ? steady : steps;
  const totals = shown.map(({ total_ns }) => total_ns);
  const most = shown.reduce((a, b) => (b.total_ns > a.total_ns ? b : a));
  const what = steady.length > 0 ? "steady step" : "step";
  const middle = `Median of ${plural(shown.length, what)}: ${fit_time(median_of(totals))}`;
  return `${middle}; most in step ${most.step}, ${fit_time(most.total_ns)} in ${
    plural(most.calls, "call")}`;
}

/** The scale in which the largest of some times is drawn, and its unit. */
export const scale_of = (values) => time_unit(Math.max(...values, 1));

/** Rows of parts summed by a key, most time first. @param {any[]} rows */
export function sum_parts(rows, key_of) {
  const sums = new Map();
  for (const row of rows) {
    const key = key_of(row);
    const sum = sums.get(key) ?? { ...row, calls: 0, owned_ns: 0 };
    sums.set(key, sum);
    sum.calls += row.calls;
    sum.owned_ns += row.owned_ns;
  }
  return [...sums.values()].sort((a, b) => b.owned_ns - a.owned_ns);
}

/**
 * Who calls an operator: a node below one of the same name is no call by another, and its time is
 * in that of the one above.
 * @param {{name: string, nodes: any[], total: number, parents: any[]}} tree `nodes` of the name,
 * some of `total`; `parents` are nodes above, perhaps not of all
 * @returns {{callers: any[], left: number}} `left`: nodes that are not in the sums
 */
export function callers_of({ name, nodes, total, parents }) {
  const above = new Map(parents.map((node) => [node.id, node]));
  const known = nodes.filter(({ parent }) => above.has(parent));
  const outer = known.filter(({ parent }) =>
    above.get(parent).kind !== "op" || above.get(parent).name !== name);
  const rows = outer.map((node) => ({ caller: above.get(node.parent).name,
    kind: above.get(node.parent).kind, calls: node.calls, owned_ns: node.total_owned_ns }));
  return { callers: sum_parts(rows, ({ caller, kind }) => `${kind} ${caller}`),
    left: total - known.length };
}

/** How many steps one rank has: the table of a run has the steps of all. @param {any[]} rows */
export function steps_of_rank(rows) {
  const counts = new Map();
  for (const { rank } of rows) counts.set(rank, (counts.get(rank) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}

/**
 * A run's place in the history of a name: 0 where it is not called, null where it is not known.
 * @param {any} row of the name, if the run has it @param {string} figure
 * @param {number|null} steps to divide by; null: the figure is per step already
 */
export function history_figures(row, figure, steps) {
  if (!row) return { calls: 0, ns: 0, median_ns: null };
  const ns = row[figure] ?? null;
  const per_step = steps === 0 || ns === null ? null : ns / (steps ?? 1);
  return { calls: row.calls ?? 0, ns: per_step, median_ns: row.median_ns ?? null };
}

/**
 * What the other run's parts have for the same operator: at the same shapes, else at any.
 * @param {any} own the row whose counterpart is wanted @param {any[]} parts of the other run
 */
export function counterpart_of(own, parts) {
  const of_op = parts.filter(({ op }) => op && op === own.op);
  const same = of_op.filter(({ dims }) => dims === own.dims);
  const rows = same.length > 0 ? same : of_op;
  return { same_shapes: same.length > 0, rows: sum_parts(rows, ({ kernel }) => kernel) };
}
