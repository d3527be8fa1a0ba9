// SPDX-License-Identifier: Apache-2.0
// A heatmap: cells on a canvas that wrap into bands, read by pointer, touch and keyboard.
import { html, useLayoutEffect, useMemo, useRef, useState } from "../base/ui.mjs";
import { announce } from "../base/announce.mjs";
import { use_width } from "../base/hooks.mjs";
import { sized_pen, use_palette } from "./canvas.mjs";
import { ChartFigure, use_keys } from "./figure.mjs";
import { band_layout, BLANK, cell_at, cell_corner, moved_cell } from "./heat_model.mjs";
import { corner_text, paint_heatmap, read_heat_palette } from "./heat_paint.mjs";

const TALL_PX = 430;
const MOST_NAME_PX = 96;
const CHARACTER_PX = 6;

/** Width of the row names and the corner above them. */
function names_px(grid) {
  const longest = grid.rows.reduce((most, name) => Math.max(most, name.length),
    corner_text(grid).length);
  return Math.min(MOST_NAME_PX, Math.round(longest * CHARACTER_PX) + 14);
}

/** What the colors mean, from left to right, and the hatch; only as far as there are values. */
function HeatLegend({ scale, unit, write, missing }) {
  if (!scale) return null;
  const { median, reach, lowest } = scale;
  const low = lowest >= 0 ? Math.max(0, median - reach) : median - reach;
  const shown = (100 * 2 * reach) / (median + reach - low);
  return html`<div class="heat-legend" aria-hidden="true">
    <span>${write(low)}${low > 0 || lowest < 0 ? " or less" : ""}</span>
    <span class="heat-ramp" style=${{ backgroundSize: `${shown}% 100%` }}></span>
    <span>${write(median + reach)} or more</span>
    <span class="faint">${unit}; the pale middle is the median, ${write(median)}</span>
    ${missing && html`<span><span class="swatch heat-hole"></span>${missing}</span>`}</div>`;
}

/** Frames on top of the canvas, so that hovering repaints nothing. */
function Frame({ layout, left, at, className }) {
  if (!at) return null;
  const { x, y } = cell_corner(layout, at.column, at.row);
  return html`<span class="heat-frame ${className}" style=${{ left: `${left + x - 1}px`,
    top: `${y - 1}px`, width: `${layout.cell_wide + 1}px`,
    height: `${layout.cell_tall + 1}px` }}></span>`;
}

/** The cell of an item. */
function cell_of(grid, item) {
  const at = item >= 0 ? grid.item.indexOf(item) : -1;
  const wide = grid.columns.length;
  return at < 0 ? null : { column: at % wide, row: Math.floor(at / wide) };
}

const item_at = (grid, cell) =>
  (cell ? grid.item[cell.row * grid.columns.length + cell.column] : BLANK);

function use_painting(canvas, scene) {
  const { grid, values, scale, layout, palette, left, width } = scene;
  useLayoutEffect(() => {
    if (!palette || width === 0) return;
    const pen = sized_pen(canvas.current, width, layout.height);
    paint_heatmap(pen, { ...scene, height: layout.height });
  }, [grid, values, scale, layout, palette, left, width]);
}

/**
 * @param {{grid: import("./heat_model.mjs").HeatGrid, values: (number|null)[],
 *          scale: import("./heat_scale.mjs").HeatScale|null, unit: string, caption: string,
 *          actions?: any, write: (value: number) => string,
 *          say: (cell: {column: number, row: number}, item: number) => string, chosen: number,
 *          onchoose: (item: number) => void, missing: string, hint: string,
 *          table: () => any}} props
 * `values` are by item; `say` describes a cell; `missing` is the meaning of a hole, "" without
 * holes; `hint` is shown while nothing is pointed at.
 */
export function Heatmap(props) {
  const { grid, values, scale, caption, actions, write, say, chosen, onchoose, missing } = props;
  const [ref, width] = use_width();
  const canvas = useRef(null);
  const [at, set_at] = useState(null);
  useLayoutEffect(() => set_at(null), [grid]);
  const left = useMemo(() => names_px(grid), [grid]);
  const layout = useMemo(() => band_layout(grid.columns.length, grid.rows.length,
    { width: Math.max(1, width - left), height: TALL_PX }), [grid, width, left]);
  const pinned = useMemo(() => cell_of(grid, chosen), [grid, chosen]);
  const choose = (cell) => {
    const item = item_at(grid, cell);
    if (item >= 0) onchoose(item);
  };
  const under = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    return cell_at(layout, event.clientX - box.left - left, event.clientY - box.top);
  };
  const on_key = (event) => {
    if (event.key === "Enter" || event.key === " ") choose(at);
    else if (!moved_cell(event.key, at, grid)) return;
    else {
      const next = moved_cell(event.key, at ?? pinned, grid);
      set_at(next);
      announce(say(next, item_at(grid, next)));
    }
    event.preventDefault();
  };
  const shown = at ?? pinned;
  const legend = html`<${HeatLegend} scale=${scale} unit=${props.unit} write=${write}
    missing=${missing} />`;
  return html`<${ChartFigure} caption=${caption} actions=${actions} table=${props.table}
      legend=${legend}>
    <div ref=${ref} class="heatmap">
      <${HeatCanvas} canvas=${canvas} label=${caption} scene=${{ grid, values, scale, layout, left,
        width, write }} onkey=${on_key}
        onclick=${(event) => choose(under(event))} onmove=${(event) => set_at(under(event))}
        onleave=${() => set_at(null)} />
      ${width > 0 && html`<${Frame} layout=${layout} left=${left} at=${pinned}
        className="chosen" />`}
      ${width > 0 && html`<${Frame} layout=${layout} left=${left} at=${at} />`}
    </div>
    <p class="readout">${shown && item_at(grid, shown) !== BLANK
      ? say(shown, item_at(grid, shown)) : props.hint}</p>
  <//>`;
}

function HeatCanvas({ canvas, label, scene, onkey, onclick, onmove, onleave }) {
  const palette = use_palette(canvas, read_heat_palette);
  use_painting(canvas, { ...scene, palette });
  const [keys, keys_help] = use_keys("Arrow keys move from cell to cell, Enter chooses one.",
    "heatmap");
  return html`<canvas ref=${canvas} aria-label=${label} ...${keys}
    style=${{ height: `${scene.layout.height}px` }} onKeyDown=${onkey} onClick=${onclick}
    onPointerMove=${onmove} onPointerLeave=${onleave} onBlur=${onleave}></canvas>${keys_help}`;
}
