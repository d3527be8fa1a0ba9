// SPDX-License-Identifier: Apache-2.0
// A figure over steps, time or tokens: a line per log or run with the range of what it averages,
// and marks for what happened.
import { html, useMemo, useState } from "../base/ui.mjs";
import { announce } from "../base/announce.mjs";
import { percent } from "../base/format.mjs";
import { use_width } from "../base/hooks.mjs";
import { ChartFigure, use_keys } from "./figure.mjs";
import { PlainTable } from "./plain_table.mjs";
import { inner_ticks, linear } from "./scale.mjs";
import { curve_extent, lane_pixels, line_path, nearest, range_path, scales_of,
  x_ticks }
  from "./step_curve_model.mjs";

const HEIGHT = 260;
const LEFT = 66;
const RIGHT = 12;
const TOP = 14;
const BOTTOM = 26;
const TABLE_ROWS = 200;

/** Without the zeros that the text of a round number ends with: "60.0 W" is "60 W". */
const tidy = (text) => text.replace(/\.(\d*?)0+(?!\d)/, (_, rest) => (rest ? `.${rest}` : ""));

function Axes({ extent, x, y, width, x_text, y_tick }) {
  const xs = x_ticks(extent, Math.max(3, width / 140));
  return html`<g class="axis" aria-hidden="true">
    ${inner_ticks(extent.y_low, extent.y_high).map((tick) => html`<g key=${tick}>
      <line x1=${LEFT} x2=${width - RIGHT} y1=${y(tick)} y2=${y(tick)} />
      <text x=${LEFT - 6} y=${y(tick) + 4} text-anchor="end">${
        tidy(y_tick(tick, extent.y_high))}</text></g>`)}
    ${xs.map((tick) => html`<text key="x${tick}" x=${x(tick)} y=${HEIGHT - 7}
      text-anchor="middle">${tidy(x_text(tick))}</text>`)}</g>`;
}

const COLORS = 4; // that are far apart in both themes, whichever colors a reader confuses
const DASHES = 3;

/** More lines than colors differ by their dashes: twelve do. @param {number} tone */
const looks = (tone) => `curve curve-${tone % COLORS} curve-dash-${
  Math.floor(tone / COLORS) % DASHES}`;

function Line({ series, x, y }) {
  const range = range_path(series.points, x, y);
  const alone = series.points.length === 1;
  return html`<g class=${looks(series.tone)}>
    ${range && html`<path class="curve-range" d=${range} />`}
    ${alone ? html`<circle class="curve-point" cx=${x(series.points[0].x)}
        cy=${y(series.points[0].y)} r="3" />`
      : html`<path class="curve-line" d=${line_path(series.points, x, y)} />`}</g>`;
}

const Mark = ({ mark, x }) => html`<g class="curve-mark curve-mark-${mark.tone}"><title>${
  mark.label}</title><line x1=${x(mark.x)} x2=${x(mark.x)} y1=${TOP} y2=${HEIGHT - BOTTOM} />
  <path d="M${(x(mark.x) - 4).toFixed(1)} ${TOP - 8}h8l-4 7z" /></g>`;

// How busy something was over time, above the lines: the darker, the busier.
const Lane = ({ lane, x, width }) => html`<g class="curve-lane" aria-hidden="true">
  ${lane_pixels(lane, x, { left: LEFT, right: width - RIGHT }).map((piece) => html`<rect
    key=${piece.left} x=${piece.left} y="0" width=${piece.width} height=${TOP - 4}
    opacity=${piece.share} />`)}</g>`;

/** The value of each series nearest to the cursor; of the pieces of one series the nearest. */
function values_at(series, at) {
  const found = new Map();
  for (const one of series) {
    const point = nearest(one.points, at);
    const before = found.get(one.label);
    if (point && (!before || Math.abs(point.x - at) < Math.abs(before.x - at))) {
      found.set(one.label, point);
    }
  }
  return [...found];
}

const thinned = (rows) => rows.filter((_, i) => i % Math.ceil(rows.length / TABLE_ROWS) === 0);

function table_of({ series, lane = [], x_label, y_label, x_text, y_text }) {
  const rows = series.flatMap(({ label, points }) =>
    points.map((p) => [label, x_text(p.x), y_text(p.y)]));
  const busy = lane.map(({ from, share }) => ["Busy, from there on", x_text(from), percent(share)]);
  return html`<${PlainTable} label=${y_label} head=${["Log", x_label, y_label]}
    rows=${[...thinned(rows), ...thinned(busy)]} />`;
}

const Key = ({ series }) => {
  const labels = [...new Map(series.map(({ label, tone }) => [label, tone]))];
  return labels.length > 1 && html`<ul class="legend">${labels.map(([label, tone]) =>
    html`<li key=${label}><svg class=${looks(tone)} width="24" height="10" aria-hidden="true"><path
      class="curve-line" d="M0 5h24" /></svg>${label}</li>`)}</ul>`;
};

const STEPS = { ArrowRight: 0.01, ArrowLeft: -0.01, PageDown: 0.1, PageUp: -0.1 };

const is_within = (x, { x_low, x_high }) => x !== null && x >= x_low && x <= x_high;

function moved(key, at, { x_low, x_high }) {
  if (key === "Home") return x_low;
  if (key === "End") return x_high;
  if (!(key in STEPS)) return null;
  return Math.min(x_high, Math.max(x_low, (at ?? x_low) + STEPS[key] * (x_high - x_low)));
}

/**
 * @param {{series: import("./step_curve_model.mjs").Series[],
 *          marks?: {x: number, label: string, tone: string}[],
 *          lane?: {from: number, to: number, share: number}[], caption: string, x_label: string,
 *          y_label: string, x_text: (x: number) => string, y_text: (y: number) => string,
 *          y_tick?: (tick: number, most: number) => string, from_zero?: boolean,
 *          actions?: any}} props at least one point; `y_tick` writes the axis in one unit
 */
export function StepCurve(props) {
  const { series, marks = [], lane = [], caption, x_text, y_text, from_zero, actions,
    x_label, y_tick = (tick) => y_text(tick) } = props;
  const [ref, width] = use_width();
  const [keys, keys_help] = use_keys("Arrow keys move along it.");
  const [cursor, set_cursor] = useState({ at: null, axis: x_label });
  const extent = useMemo(() => curve_extent(series, { from_zero }), [series, from_zero]);
  // A place on another axis means nothing.
  const at = cursor.axis === x_label && is_within(cursor.at, extent) ? cursor.at : null;
  const set_at = (place) => set_cursor({ at: place, axis: x_label });
  const { x, y } = scales_of(extent,
    { left: LEFT, right: width - RIGHT, top: TOP, bottom: HEIGHT - BOTTOM });
  const text = (place) => {
    const values = values_at(series, place);
    return `${x_label} ${x_text(values[0][1].x)}: ${values.map(([label, p]) =>
      `${values.length > 1 ? `${label} ` : ""}${y_text(p.y)}`).join(", ")}`;
  };
  const on_move = (event) => {
    const left = event.currentTarget.getBoundingClientRect().left;
    const place = linear(LEFT, width - RIGHT, extent.x_low, extent.x_high)(event.clientX - left);
    set_at(place);
  };
  const on_key = (event) => {
    const next = moved(event.key, at, extent);
    if (next === null) return;
    event.preventDefault();
    set_at(next);
    announce(text(next));
  };
  return html`<${ChartFigure} caption=${caption} actions=${actions}
      legend=${html`<${Key} series=${series} />`} table=${() => table_of(props)}>
    <div ref=${ref} class="step-curve"><svg width=${width} height=${HEIGHT} ...${keys}
        aria-label=${caption} onKeyDown=${on_key} onMouseMove=${on_move}
        onMouseLeave=${() => set_at(null)}>
      ${width > 0 && html`<${Axes} extent=${extent} x=${x} y=${y} width=${width} x_text=${x_text}
          y_tick=${y_tick} />
        ${lane.length > 0 && html`<${Lane} lane=${lane} x=${x} width=${width} />`}
        ${marks.map((mark, i) => html`<${Mark} key=${i} mark=${mark} x=${x} />`)}
        ${series.map((one) => html`<${Line} key=${one.key} series=${one} x=${x} y=${y} />`)}
        ${at !== null && html`<line class="cursor" x1=${x(at)} x2=${x(at)} y1=${TOP}
          y2=${HEIGHT - BOTTOM} />`}`}
    </svg>${keys_help}
    <p class="readout">${at !== null ? text(at) : `${extent.cut > 0
      ? `${extent.cut} values lie outside. ` : ""}Hover over the chart for values.`}</p></div>
  <//>`;
}
