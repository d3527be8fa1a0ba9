// SPDX-License-Identifier: Apache-2.0
// A series of runs without axes: the card of a small multiple, and the line inside a table cell.
import { html } from "../base/ui.mjs";
import { use_width } from "../base/hooks.mjs";
import { linear } from "./scale.mjs";
import { SHAPES } from "./marks.mjs";
import { band_path, change_indices, levels_of, line_path, marks_path, trend_extent }
  from "./trend_model.mjs";
import { Flags, Levels } from "./trend_marks.mjs";

const HEIGHT = 92;
const TOP = 12;
const EDGE = 7;

function place_of(points, width, height, edge) {
  const extent = trend_extent(points);
  const last = Math.max(1, points.length - 1);
  return { x: linear(0, last, edge, Math.max(edge + 1, width - edge)),
    y: linear(extent.low, extent.high, height - 4, edge === EDGE ? TOP : 4) };
}

/**
 * @param {{points: import("./trend_model.mjs").Point[],
 *          changes: import("./trend_model.mjs").Change[], alarmed: Set<string>, label: string}}
 *          props at least two points; `alarmed` are runs with an open alert
 */
export function SmallTrend({ points, changes, alarmed, label }) {
  const [ref, width] = use_width();
  const place = place_of(points, width, HEIGHT, EDGE);
  const { x, y } = place;
  const levels = levels_of(points, changes);
  return html`<div class="small-trend" ref=${ref}>
    <svg width=${width} height=${HEIGHT} role="img" aria-label=${label}>
      ${width > 0 && html`
      <path class="trend-band" d=${band_path(points, x, y)} />
      ${change_indices(points, changes).map(({ at }) => html`<line key=${at} class="trend-change"
        x1=${(x(at - 1) + x(at)) / 2} x2=${(x(at - 1) + x(at)) / 2} y1="2" y2=${HEIGHT - 2} />`)}
      <${Levels} levels=${levels} place=${place} reach=${4} />
      <path class="trend-line" d=${line_path(points, x, y)} />
      <path class="trend-dots" d=${marks_path(points, () => true, place, SHAPES.circle(2.2))} />
      <${Flags} points=${points} alarmed=${alarmed} place=${place} />`}
    </svg></div>`;
}

const CELL_WIDTH = 84;
const CELL_HEIGHT = 22;

/** A line for a table cell, with a dot at the row's own run. */
export function Sparkline({ points, run }) {
  const place = place_of(points, CELL_WIDTH, CELL_HEIGHT, 4);
  return html`<svg class="sparkline" width=${CELL_WIDTH} height=${CELL_HEIGHT} aria-hidden="true">
    <path class="trend-line" d=${line_path(points, place.x, place.y)} />
    <path class="trend-dots" d=${marks_path(points, (point) => point.run === run, place,
      SHAPES.circle(3))} /></svg>`;
}
