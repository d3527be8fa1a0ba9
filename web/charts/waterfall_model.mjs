// SPDX-License-Identifier: Apache-2.0
// From the rows of the waterfall table to the columns of the chart at one level; pure, and exact:
// the columns' differences sum to the difference of the two ends.
import { PARTS, part_of } from "../parts.mjs";

const MOST_COLUMNS = 12;

/**
 * @typedef {{key: string, label: string, part: string, base_ns: number, cand_ns: number,
 *            delta_ns: number, opens: {bar: string, cat?: string}|null, rest?: number}} Column
 * @typedef {{bar: string, cat: string}} Place where the reader has drilled down to; "" above
 */

const sum = (columns, name) => columns.reduce((total, column) => total + column[name], 0);

function column_of_bar(row) {
  const part = part_of(row.bar);
  return { ...ends_of(row), key: row.bar, label: part.short, part: row.bar };
}

function ends_of(row) {
  return { base_ns: row.base_ns, cand_ns: row.cand_ns, delta_ns: row.cand_ns - row.base_ns };
}

function row_label(row) {
  return row.op ?? row.base_kernel ?? row.cand_kernel ?? "no name";
}

/** Rows of one level below one parent. */
function rows_at(rows, { bar, cat }) {
  if (!bar) return rows.filter((row) => row.level === "bar");
  if (!cat) return rows.filter((row) => row.level === "category" && row.bar === bar);
  return rows.filter((row) => row.level === "row" && row.bar === bar && row.category === cat);
}

/** The largest differences, and one column for all the others, so that nothing is lost. */
function folded(columns, part) {
  const ranked = [...columns].sort((a, b) => Math.abs(b.delta_ns) - Math.abs(a.delta_ns));
  if (ranked.length <= MOST_COLUMNS) return ranked;
  const rest = ranked.slice(MOST_COLUMNS - 1);
  const other = {
    key: "rest",
    label: `${rest.length} more`,
    part,
    base_ns: sum(rest, "base_ns"),
    cand_ns: sum(rest, "cand_ns"),
    delta_ns: sum(rest, "delta_ns"),
    opens: null,
    rest: rest.length,
  };
  return [...ranked.slice(0, MOST_COLUMNS - 1), other];
}

/**
 * The columns between base and candidate.
 * @param {any[]} rows of compare_waterfall @param {Place} place
 * @returns {{columns: Column[], base_ns: number, cand_ns: number, delta_ns: number}}
 */
export function waterfall_level(rows, place) {
  const level = rows_at(rows, place);
  const columns = columns_of(level, place, rows);
  return {
    columns,
    base_ns: sum(columns, "base_ns"),
    cand_ns: sum(columns, "cand_ns"),
    delta_ns: sum(columns, "delta_ns"),
  };
}

function columns_of(level, place, rows) {
  if (!place.bar) {
    const by_key = new Map(level.map((row) => [row.bar, row]));
    return PARTS.filter(({ key }) => by_key.has(key)).map(({ key }) => ({
      ...column_of_bar(by_key.get(key)),
      opens: rows_at(rows, { bar: key, cat: "" }).length > 0 ? { bar: key } : null,
    }));
  }
  const columns = level.map((row, i) => ({
    ...ends_of(row),
    key: `${i}`,
    label: place.cat ? row_label(row) : (row.category ?? "none"),
    part: place.bar,
    opens: opens_of(row, place, rows),
  }));
  return folded(columns, place.bar);
}

function opens_of(row, place, rows) {
  if (place.cat || row.category === null) return null;
  const below = rows_at(rows, { bar: place.bar, cat: row.category });
  return below.length > 0 ? { bar: place.bar, cat: row.category } : null;
}

/**
 * Where each column floats: it begins at the sum of those before it.
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
 * The axis: from zero when the differences are visible there, else cut off below them.
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
