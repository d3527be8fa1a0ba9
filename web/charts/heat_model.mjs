// SPDX-License-Identifier: Apache-2.0
// A heatmap's arithmetic: cells in bands, and keys; pure.

export const HOLE = -1; // a place whose figure is missing
export const BLANK = -2; // no place at all

/**
 * @typedef {{columns: string[], rows: string[], column_name: string, row_name: string,
 *            item: Int32Array}} HeatGrid
 * `item[row * columns + column]` is the item's number, or HOLE or BLANK.
 */

/** @param {string[]} columns @param {string[]} rows @returns {HeatGrid} all BLANK */
export function empty_grid(columns, rows, column_name, row_name) {
  const item = new Int32Array(columns.length * rows.length).fill(BLANK);
  return { columns, rows, column_name, row_name, item };
}

/** The transposed grid. @param {HeatGrid} grid @returns {HeatGrid} */
export function turned(grid) {
  const [wide, tall] = [grid.columns.length, grid.rows.length];
  const next = empty_grid(grid.rows, grid.columns, grid.row_name, grid.column_name);
  for (let row = 0; row < tall; row++) {
    for (let column = 0; column < wide; column++) {
      next.item[column * tall + row] = grid.item[row * wide + column];
    }
  }
  return next;
}

const WIDEST = 76;
const TALLEST = 34;
const SHORTEST = 2;
const TOP_PX = 16; // names of columns above each band
const GAP_PX = 8;
const ROUND = 8; // if there are several bands, each has a multiple of this many columns

function band_of(columns, rows, { width, height }, bands) {
  const exact = Math.ceil(columns / bands);
  const per_band = bands > 1 && exact > ROUND ? Math.ceil(exact / ROUND) * ROUND : exact;
  const count = Math.ceil(columns / per_band);
  const free = height / count - TOP_PX - GAP_PX;
  const wide = Math.min(WIDEST, width / per_band);
  const tall = Math.max(SHORTEST, Math.min(TALLEST, free / rows));
  return { per_band, bands: count, cell_wide: wide >= 4 ? Math.floor(wide) : wide,
    cell_tall: Math.floor(tall) };
}

/**
 * How the columns wrap into bands so that cells are as large as possible. A column is never
 * narrower than a pixel, so that none is lost.
 * @param {number} columns @param {number} rows @param {{width: number, height: number}} room
 * the height is a target, not a limit
 */
export function band_layout(columns, rows, room) {
  let best = null;
  for (let bands = 1; bands <= Math.max(1, columns); bands++) {
    const found = band_of(columns, rows, room, bands);
    if (found.cell_wide < 1 && found.per_band > 1) continue;
    const size = Math.min(found.cell_wide, found.cell_tall * 1.6);
    if (!best || size > best.size) best = { ...found, size };
    if (found.cell_tall <= SHORTEST) break;
  }
  best ??= band_of(columns, rows, room, Math.max(1, columns));
  const band_tall = TOP_PX + rows * best.cell_tall + GAP_PX;
  return { ...best, columns, rows, top: TOP_PX, band_tall, height: best.bands * band_tall };
}

/** Top left corner of a cell in pixels. */
export function cell_corner({ per_band, cell_wide, cell_tall, band_tall, top }, column, row) {
  const band = Math.floor(column / per_band);
  return { x: (column - band * per_band) * cell_wide, y: band * band_tall + top + row * cell_tall };
}

/** The cell at a position; null outside. @returns {{column: number, row: number} | null} */
export function cell_at(layout, x, y) {
  const { per_band, cell_wide, cell_tall, band_tall, top, columns, rows } = layout;
  const band = Math.floor(y / band_tall);
  const row = Math.floor((y - band * band_tall - top) / cell_tall);
  const across = Math.floor(x / cell_wide);
  const column = band * per_band + across;
  const outside = x < 0 || y < 0 || across >= per_band || column >= columns || row < 0
    || row >= rows;
  return outside ? null : { column, row };
}

const MOVES = {
  ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1],
  PageDown: [10, 0], PageUp: [-10, 0],
};

const bounded = (value, count) => Math.max(0, Math.min(count - 1, value));

/**
 * Where a key leads from a cell; null if it is not one of ours.
 * @param {string} key @param {{column: number, row: number}|null} at @param {HeatGrid} grid
 */
export function moved_cell(key, at, grid) {
  const [wide, tall] = [grid.columns.length, grid.rows.length];
  if (key === "Home") return { column: 0, row: at?.row ?? 0 };
  if (key === "End") return { column: wide - 1, row: at?.row ?? 0 };
  if (!Object.hasOwn(MOVES, key)) return null;
  if (!at) return { column: 0, row: 0 };
  const [dx, dy] = MOVES[key];
  return { column: bounded(at.column + dx, wide), row: bounded(at.row + dy, tall) };
}

/** Shows every n-th name, so that none touches the next. */
export function label_every(cell_px, label_px) {
  const needed = Math.max(1, Math.ceil(label_px / Math.max(0.01, cell_px)));
  return [1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128].find((n) => n >= needed)
    ?? Math.ceil(needed / 128) * 128;
}
