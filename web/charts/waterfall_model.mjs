// SPDX-License-Identifier: Apache-2.0
// From the rows of the waterfall table to the columns of the chart at one place of their tree;
// pure, and exact: the columns' differences sum to the difference of the two ends.
import { axis_of_time, short_kernel } from "../base/format.mjs";
import { PARTS, part_of } from "../base/parts.mjs";
import { shapes_text } from "../base/shapes_text.mjs";
import { cause_label } from "../base/values.mjs";
import { nice_ticks, tick_texts } from "./scale.mjs";

const MOST_COLUMNS = 12;

/**
 * @typedef {{id: number, parent: number|null, level: string, bar: string, category: string|null,
 *            op: string|null, dims: string|null, base_kernel: string|null,
 *            cand_kernel: string|null, base_ns: number, cand_ns: number}} Row of the table
 * @typedef {{bar: string, cat: string, node: string}} Place where the reader is; "" above it
 * @typedef {{key: string, label: string, full: string, part: string, base_ns: number,
 *            cand_ns: number, delta_ns: number, opens: Place|null, rest?: number}} Column
 */

/** @type {Place} */
export const TOP_PLACE = { bar: "", cat: "", node: "" };

const sum = (items, name) => items.reduce((total, item) => total + item[name], 0);

/** The kernels of both sides in one text. */
function kernels_text({ base_kernel, cand_kernel }, write) {
  if (!base_kernel || !cand_kernel || base_kernel === cand_kernel) {
    return write(base_kernel ?? cand_kernel);
  }
  return `${write(base_kernel)} → ${write(cand_kernel)}`;
}

function category_label({ bar, category }) {
  return part_of(bar).idle ? cause_label(category) : category ?? "no category";
}

/** The name of a row at any level, short or in full. @param {Row} row */
export function row_label(row, write = short_kernel) {
  const kernel = () => (row.base_kernel || row.cand_kernel ? kernels_text(row, write) : null);
  if (row.level === "bar") return part_of(row.bar).label;
  if (row.level === "category") return category_label(row);
  if (row.level === "kernel") return kernel() ?? "no kernel";
  if (row.level === "shape" && row.dims) return shapes_text(row.dims);
  return row.op ?? kernel() ?? row.category ?? "no name";
}

/** The rows by id and by parent, once per reply. @param {Row[]} rows */
export function tree_of(rows) {
  const by_id = new Map(rows.map((row) => [row.id, row]));
  const below = new Map();
  for (const row of rows) {
    const siblings = below.get(row.parent ?? null);
    if (siblings) siblings.push(row);
    else below.set(row.parent ?? null, [row]);
  }
  return { by_id, below };
}

/** From the bar down to a row, the row last. */
function chain_of(tree, row) {
  const chain = [];
  for (let at = row; at; at = tree.by_id.get(at.parent)) chain.unshift(at);
  return chain;
}

/**
 * The rows from the bar down to the place, as far as it exists.
 * @param {ReturnType<typeof tree_of>} tree @param {Place} place
 */
export function path_to(tree, { bar, cat, node }) {
  const under = (id, test) => (tree.below.get(id) ?? []).find(test);
  const top = bar && under(null, (row) => row.bar === bar);
  if (!top) return [];
  const middle = cat && under(top.id, (row) => (row.category ?? "none") === cat);
  if (!middle) return [top];
  const chain = node ? chain_of(tree, tree.by_id.get(Number(node))) : [];
  return chain[1]?.id === middle.id ? chain : [top, middle];
}

/** The place of a row. @param {Row} row @returns {Place} */
function place_of(row) {
  if (row.level === "bar") return { bar: row.bar, cat: "", node: "" };
  const cat = row.category ?? "none";
  return { bar: row.bar, cat, node: row.level === "category" ? "" : String(row.id) };
}

/** Where the path's row at `depth` is. @param {Row[]} path */
export const place_at = (path, depth) => (depth < 0 ? TOP_PLACE : place_of(path[depth]));

/**
 * Where a column leads: to the first fork below it, as a row with one child would show the same
 * column again. What is below a category of work may not be loaded yet. Null: nowhere.
 */
function opened(tree, row) {
  for (let at = row; at;) {
    const children = tree.below.get(at.id) ?? [];
    if (children.length > 1) return place_of(at);
    if (children.length === 0 && at.level === "category" && !part_of(at.bar).idle) {
      return place_of(at);
    }
    [at] = children;
  }
  return null;
}

function column_of(tree, row) {
  const label = row.level === "bar" ? part_of(row.bar).short : row_label(row);
  return { key: String(row.id), label, full: row_label(row, (name) => name ?? ""), part: row.bar,
    base_ns: row.base_ns, cand_ns: row.cand_ns, delta_ns: row.cand_ns - row.base_ns,
    opens: opened(tree, row) };
}

/** The largest differences, and one column for all the others, so that nothing is lost. */
function folded(columns) {
  const ranked = [...columns].sort((a, b) => Math.abs(b.delta_ns) - Math.abs(a.delta_ns)
    || b.base_ns - a.base_ns);
  if (ranked.length <= MOST_COLUMNS) return ranked;
  const rest = ranked.slice(MOST_COLUMNS - 1);
  const text = `${rest.length} more`;
  const other = { key: "rest", label: text, full: text, part: rest[0].part,
    base_ns: sum(rest, "base_ns"), cand_ns: sum(rest, "cand_ns"),
    delta_ns: sum(rest, "delta_ns"), opens: null, rest: rest.length };
  return [...ranked.slice(0, MOST_COLUMNS - 1), other];
}

/** A part that neither run has says nothing. @param {Row} row */
const is_shown = ({ base_ns, cand_ns }) => base_ns !== 0 || cand_ns !== 0;

const bar_place = ({ bar }) => PARTS.findIndex(({ key }) => key === bar);

/**
 * From the means, which the parts sum to, to the medians, which the verdict is about; null if they
 * are equal. Without marked steps they are of the recordings of repeats.
 * @param {{base_step_ns: number, cand_step_ns: number, base_mean_ns: number,
 *          cand_mean_ns: number, bridge_ns: number|null, base_no_steps?: boolean,
 *          cand_no_steps?: boolean}|undefined} summary
 * @returns {Column|null}
 */
function bridge_of(summary) {
  if (summary?.bridge_ns == null) return null;
  const base_ns = summary.base_step_ns - summary.base_mean_ns;
  const cand_ns = summary.cand_step_ns - summary.cand_mean_ns;
  if (base_ns === 0 && cand_ns === 0) return null;
  const [label, what] = summary.base_no_steps && summary.cand_no_steps
    ? ["Odd runs", "recording"] : ["Odd steps", "step"];
  return { key: "bridge", label, full: `${label}: from the mean to the median ${what}`,
    part: "bridge", base_ns, cand_ns, delta_ns: summary.bridge_ns, opens: null };
}

/** The rows of a path at which a reader had a choice: a row with one child says the same. */
const forks_of = (tree, path) => path.filter((row, i) => i === path.length - 1
  || (tree.below.get(row.id) ?? []).length > 1);

/**
 * The columns between base and candidate at a place. At the top they lead from one median step to
 * the other, the last one bridging from mean to median.
 * @param {ReturnType<typeof tree_of>} tree @param {Place} place
 * @param {Parameters<typeof bridge_of>[0]} [summary] of the comparison
 * @returns {{columns: Column[], path: Row[], base_ns: number, cand_ns: number, delta_ns: number}}
 */
export function waterfall_level(tree, place, summary) {
  const path = path_to(tree, place);
  const rows = tree.below.get(path.at(-1)?.id ?? null) ?? [];
  const ordered = path.length > 0 ? rows
    : [...rows].sort((a, b) => bar_place(a) - bar_place(b));
  const shown = path.length > 0 ? ordered : ordered.filter(is_shown);
  const bridge = path.length === 0 && rows.length > 0 ? bridge_of(summary) : null;
  const all = [...shown.map((row) => column_of(tree, row)), ...(bridge ? [bridge] : [])];
  const columns = path.length > 0 ? folded(all) : all;
  return { columns, path: forks_of(tree, path), base_ns: sum(all, "base_ns"),
    cand_ns: sum(all, "cand_ns"), delta_ns: sum(all, "delta_ns") };
}

/**
 * The height of each column, which starts at the sum of those before it.
 * @param {Column[]} columns @param {number} base_ns
 * @returns {{from_ns: number, to_ns: number}[]}
 */
export function floating(columns, base_ns) {
  let level = base_ns;
  return columns.map(({ delta_ns }) => {
    const from_ns = level;
    level += delta_ns;
    return { from_ns, to_ns: level };
  });
}

/**
 * The axis: from zero if the differences are visible there, else cut off below them.
 * @param {number[]} levels all heights that are drawn
 */
export function axis_of(levels) {
  const low = Math.min(...levels);
  const high = Math.max(...levels);
  const span = high - low;
  const is_cut = low > 0 && span < 0.4 * high;
  const floor = is_cut ? Math.max(0, low - Math.max(span * 0.6, high * 0.002)) : Math.min(0, low);
  return { low: floor, high: high + (high - floor) * 0.12 || 1, is_cut: floor > 0 };
}

/**
 * The marks of an axis, and their unit: "" for milliseconds, which go without on this page.
 * @param {{low: number, high: number}} axis
 */
export function ticks_of({ low, high }) {
  const { per, unit } = axis_of_time(high);
  const ticks = nice_ticks(low / per, high / per, 4)
    .filter((tick) => tick * per >= low && tick * per <= high);
  const texts = tick_texts(ticks);
  return { unit: unit === "ms" ? "" : unit,
    ticks: ticks.map((tick, i) => ({ ns: tick * per, text: texts[i] })) };
}
