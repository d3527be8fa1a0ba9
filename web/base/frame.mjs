// SPDX-License-Identifier: Apache-2.0
// A table in columns as sent by the API, with filter and sort: pure, fast at 50,000 rows.

/**
 * @typedef {{length: number, columns: Record<string, any[]>, help: Record<string, string>,
 *            units: Record<string, string>}} Frame
 */

/** @param {any} reply a table reply in either shape, or a bare list of rows @returns {Frame} */
export function frame_of(reply) {
  if (Array.isArray(reply)) return frame_of_rows(reply, []);
  if (Array.isArray(reply?.items)) return frame_of_rows(reply.items, reply.columns ?? []);
  const columns = reply?.columns ?? {};
  const first = Object.values(columns)[0];
  return {
    length: reply?.row_count ?? first?.length ?? 0,
    columns,
    help: reply?.help ?? {},
    units: reply?.units ?? {},
  };
}

function frame_of_rows(rows, described) {
  const names = new Set(described.map(({ name }) => name));
  for (const row of rows) for (const name of Object.keys(row)) names.add(name);
  return {
    length: rows.length,
    columns: Object.fromEntries([...names].map((n) => [n, rows.map((row) => row[n] ?? null)])),
    help: Object.fromEntries(described.map(({ name, help }) => [name, help ?? ""])),
    units: Object.fromEntries(described.map(({ name, unit }) => [name, unit ?? ""])),
  };
}

/** @param {Frame} frame @param {string} name @param {number} row */
export function value_at(frame, name, row) {
  return frame.columns[name]?.[row] ?? null;
}

/** One row as an object. @param {Frame} frame @param {number} row */
export function row_at(frame, row) {
  return Object.fromEntries(Object.keys(frame.columns).map((n) => [n, value_at(frame, n, row)]));
}

/** All rows as objects. @param {Frame} frame */
export function rows_of(frame) {
  return Array.from({ length: frame.length }, (_, row) => row_at(frame, row));
}

/**
 * Indices of the rows that contain the text in one of the columns and equal every given value.
 * @param {Frame} frame
 * @param {{q?: string, text?: string[], equals?: Record<string, string>}} filter
 * @returns {number[]}
 */
export function filter_rows(frame, { q = "", text = [], equals = {} }) {
  const wanted = q.trim().toLowerCase();
  const exact = Object.entries(equals).filter(([, value]) => value !== "");
  const texts = text.map((name) => frame.columns[name]).filter(Boolean);
  const found = [];
  for (let row = 0; row < frame.length; row++) {
    if (exact.some(([name, value]) => String(value_at(frame, name, row)) !== value)) continue;
    if (wanted && !texts.some((c) => String(c[row] ?? "").toLowerCase().includes(wanted))) continue;
    found.push(row);
  }
  return found;
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** The position of each text of a column in natural order, computed once: collation is slow. */
const known_places = new WeakMap();

/** Each row's position in natural order, equal for texts that compare equal; null without text. */
function text_places(values) {
  const texts = [...new Set(values)].filter((value) => (value ?? null) !== null)
    .sort(collator.compare);
  const place_of = new Map();
  for (let i = 0, place = 0; i < texts.length; i++) {
    if (i > 0 && collator.compare(texts[i - 1], texts[i]) !== 0) place = i;
    place_of.set(texts[i], place);
  }
  return values.map((value) => place_of.get(value) ?? null);
}

/** A column's sort keys: its numbers, or the positions of its texts. */
function sort_keys(values) {
  if (!values.some((value) => typeof value === "string")) return values;
  if (!known_places.has(values)) known_places.set(values, text_places(values));
  return known_places.get(values);
}

/**
 * Sorted copy of row indices; nulls last in either direction, ties in the given order.
 * @param {Frame} frame @param {number[]} rows @param {string} sort "total_ns" or "-total_ns"
 */
export function sort_rows(frame, rows, sort) {
  const down = sort.startsWith("-");
  const values = frame.columns[down ? sort.slice(1) : sort];
  if (!values) return rows;
  const sign = down ? -1 : 1;
  const keys = sort_keys(values);
  return rows.slice().sort((a, b) => {
    const x = keys[a] ?? null;
    const y = keys[b] ?? null;
    if (x === null || y === null) return (x === null) - (y === null);
    return sign * (x - y);
  });
}

/** Distinct values of a column with their row counts, most frequent first. */
export function value_counts(frame, name) {
  const counts = new Map();
  for (const value of frame.columns[name] ?? []) {
    if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}

/** The unit given by the end of a column's name, as in the API. */
const unit_of = (name) => /_(ns|share|bytes)$/.exec(name)?.[1] ?? "";

/** A frame with additional columns. @param {Frame} frame @param {Record<string, any[]>} columns */
export function with_columns(frame, columns) {
  const units = Object.fromEntries(Object.keys(columns).map((name) => [name, unit_of(name)]));
  return { ...frame, columns: { ...frame.columns, ...columns },
    units: { ...frame.units, ...units } };
}

/** Sum of a column over some rows; nulls count as nothing. */
export function sum_rows(frame, name, rows) {
  return rows.reduce((sum, row) => sum + Number(value_at(frame, name, row) ?? 0), 0);
}
