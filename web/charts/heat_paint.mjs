// SPDX-License-Identifier: Apache-2.0
// Draws a heatmap on a canvas: one pixel per cell on a sheet, enlarged band by band, names around.
import { visible } from "../base/visible.mjs";
import { color_reader, ink_on, mixed, written } from "./canvas.mjs";
import { BLANK, cell_corner, HOLE, label_every } from "./heat_model.mjs";
import { heat_shade } from "./heat_scale.mjs";

const SHADES = 255; // odd, so that one is the middle
const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const GAPS_FROM_PX = 5;
const TEXT_FROM_PX = { wide: 46, tall: 20 };
const CHARACTER_PX = 7;

/** 255 colors from low through the middle to high. */
function shades_of(less, middle, more) {
  const half = (SHADES - 1) / 2;
  return Array.from({ length: SHADES }, (_, i) => (i < half
    ? mixed(less, middle, (half - i) / half) : mixed(more, middle, (i - half) / half)));
}

function hole_pattern(pen, surface, line) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const tip = tile.getContext("2d");
  tip.fillStyle = surface;
  tip.fillRect(0, 0, 6, 6);
  tip.strokeStyle = line;
  for (const shift of [-6, 0, 6]) {
    tip.moveTo(shift - 1, 7);
    tip.lineTo(shift + 7, -1);
  }
  tip.stroke();
  return pen.createPattern(tile, "repeat");
}

/** @param {HTMLCanvasElement} node */
export function read_heat_palette(node) {
  const of = color_reader(node);
  const shades = shades_of(of("--heat-less"), of("--heat-middle"), of("--heat-more"));
  const surface = written(of("--surface"));
  return {
    pixels: Uint32Array.from(shades, ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r),
    inks: shades.map(ink_on),
    hole: hole_pattern(node.getContext("2d"), written(of("--sunken")), written(of("--control"))),
    surface,
    ink: written(of("--ink-3")),
  };
}

const shade_index = (scale, value) =>
  Math.round(((heat_shade(scale, value) + 1) / 2) * (SHADES - 1));

/** A sheet with one pixel per cell; holes are clear. */
function heat_sheet({ grid, values, scale, palette }) {
  const [wide, tall] = [grid.columns.length, grid.rows.length];
  const sheet = document.createElement("canvas");
  sheet.width = wide;
  sheet.height = tall;
  const pen = sheet.getContext("2d");
  const image = pen.createImageData(wide, tall);
  const pixels = new Uint32Array(image.data.buffer);
  for (let at = 0; at < pixels.length && scale; at++) {
    const value = grid.item[at] >= 0 ? values[grid.item[at]] : null;
    if (value !== null && value !== undefined) {
      pixels[at] = palette.pixels[shade_index(scale, value)];
    }
  }
  pen.putImageData(image, 0, 0);
  return sheet;
}

const has_figure = ({ grid, values }, at) =>
  grid.item[at] >= 0 && values[grid.item[at]] !== null && values[grid.item[at]] !== undefined;

/** Hatches missing values; places that do not exist stay empty. */
function draw_holes(pen, scene) {
  const { grid, layout, palette } = scene;
  const wide = grid.columns.length;
  pen.fillStyle = palette.hole;
  grid.item.forEach((item, at) => {
    if (item === BLANK || (item !== HOLE && has_figure(scene, at))) return;
    const { x, y } = cell_corner(layout, at % wide, Math.floor(at / wide));
    pen.fillRect(x, y, layout.cell_wide, layout.cell_tall);
  });
}

function draw_gaps(pen, { layout, palette }, band, columns) {
  const { cell_wide, cell_tall, rows } = layout;
  const top = band * layout.band_tall + layout.top;
  pen.fillStyle = palette.surface;
  if (cell_wide >= GAPS_FROM_PX) {
    for (let i = 1; i <= columns; i++) pen.fillRect(i * cell_wide - 1, top, 1, rows * cell_tall);
  }
  if (cell_tall < GAPS_FROM_PX) return;
  for (let i = 1; i <= rows; i++) pen.fillRect(0, top + i * cell_tall - 1, columns * cell_wide, 1);
}

/** The names of rows and columns, in the corner. */
export const corner_text = ({ row_name, column_name }) => `${row_name} ↓ ${column_name} →`;

function draw_columns(pen, { grid, layout, left }, band, columns) {
  pen.textAlign = "right";
  pen.fillText(corner_text(grid), -8, band * layout.band_tall + layout.top - 8, left - 8);
  const first = band * layout.per_band;
  const longest = Math.max(...grid.columns.map((name) => name.length)) * CHARACTER_PX + 8;
  const every = label_every(layout.cell_wide, longest);
  pen.textAlign = every === 1 ? "center" : "left";
  const shift = every === 1 ? layout.cell_wide / 2 : 0;
  for (let i = 0; i < columns; i += every) {
    pen.fillText(visible(grid.columns[first + i]), i * layout.cell_wide + shift,
      band * layout.band_tall + layout.top - 8);
  }
}

function draw_rows(pen, { grid, layout, left }, band) {
  const every = label_every(layout.cell_tall, 13);
  pen.textAlign = "right";
  for (let row = 0; row < grid.rows.length; row += every) {
    const { y } = cell_corner(layout, band * layout.per_band, row);
    const middle = every === 1 ? layout.cell_tall / 2 : 5;
    pen.fillText(visible(grid.rows[row]), -8, y + middle, left - 8);
  }
}

function draw_texts(pen, scene) {
  const { grid, values, layout, palette, scale, write } = scene;
  const roomy = layout.cell_wide >= TEXT_FROM_PX.wide && layout.cell_tall >= TEXT_FROM_PX.tall;
  if (!roomy || !scale) return;
  const wide = grid.columns.length;
  pen.textAlign = "center";
  grid.item.forEach((item, at) => {
    if (!has_figure(scene, at)) return;
    const { x, y } = cell_corner(layout, at % wide, Math.floor(at / wide));
    pen.fillStyle = palette.inks[shade_index(scale, values[item])];
    pen.fillText(write(values[item]), x + layout.cell_wide / 2, y + layout.cell_tall / 2,
      layout.cell_wide - 4);
  });
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {{grid: import("./heat_model.mjs").HeatGrid, values: (number|null)[], scale: any,
 *          layout: any, palette: any, left: number, width: number, height: number,
 *          write: (value: number) => string}} scene `left` is the width of the row names
 */
export function paint_heatmap(pen, scene) {
  const { grid, layout, palette, left, width, height } = scene;
  pen.clearRect(0, 0, width, height);
  pen.save();
  pen.translate(left, 0);
  draw_holes(pen, scene);
  const sheet = heat_sheet(scene);
  pen.imageSmoothingEnabled = false;
  pen.font = FONT;
  pen.textBaseline = "middle";
  for (let band = 0; band < layout.bands; band++) {
    const first = band * layout.per_band;
    const columns = Math.min(layout.per_band, grid.columns.length - first);
    pen.drawImage(sheet, first, 0, columns, layout.rows, 0, band * layout.band_tall + layout.top,
      columns * layout.cell_wide, layout.rows * layout.cell_tall);
    draw_gaps(pen, scene, band, columns);
    pen.fillStyle = palette.ink;
    draw_columns(pen, scene, band, columns);
    draw_rows(pen, scene, band);
  }
  draw_texts(pen, scene);
  pen.restore();
}
