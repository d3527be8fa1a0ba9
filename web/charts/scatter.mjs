// SPDX-License-Identifier: Apache-2.0
// Message size against bus bandwidth on logarithmic axes: latency-bound on the left slope,
// bandwidth-bound on the plateau. A mark per kind of collective; its area is the number of calls.
// Curves are what the links reached in tests; with them the bandwidth is linear, so that shares of
// it can be read.
import { html, useLayoutEffect, useMemo, useState } from "../base/ui.mjs";
import { announce } from "../base/announce.mjs";
import { bytes, bytes_round, count, number, percent, time_text } from "../base/format.mjs";
import { use_width } from "../base/hooks.mjs";
import { ChartFigure, use_keys } from "./figure.mjs";
import { EITHER_WAY, moved } from "./key_moves.mjs";
import { LogAxes } from "./log_axes.mjs";
import { SHAPE_NAMES, SHAPES } from "./marks.mjs";
import { PlainTable } from "./plain_table.mjs";
import { decades, linear, nice_ticks } from "./scale.mjs";

const HEIGHT = 300;
const LEFT = 62;
const RIGHT = 10;
const TOP = 10;
const BOTTOM = 42;

/**
 * @typedef {{name: string, where?: string, bytes: number, bus_gbps: number, median_ns: number,
 *            calls: number}} Point
 */

/** "61.0 % of 400 GB/s tested, "; "" without a test. */
function tested_text({ reference_share, reference_gbps }) {
  return reference_share > 0
    ? `${percent(reference_share)} of ${number(reference_gbps)} GB/s tested, ` : "";
}

function point_text(row) {
  return `${row.name}${row.where ? ` in ${row.where}` : ""}, ${bytes(row.bytes)}: ${
    number(row.bus_gbps)} GB/s bus, ${tested_text(row)}${time_text(row.median_ns)} median, ${
    count(row.calls)} calls`;
}

function points_table(points, curves) {
  const head = ["Collective", "Size", "Bus", "p50", "Calls"];
  const measured = curves.flatMap(({ label, points: of }) => of.map((point) =>
    [label, bytes(point.bytes), `${number(point.bus_gbps)} GB/s`, "–", "–"]));
  return html`<${PlainTable} label="Bandwidths" head=${head} rows=${[...points.map((row) =>
    [`${row.name}${row.where ? ` in ${row.where}` : ""}`, bytes(row.bytes),
      `${number(row.bus_gbps)} GB/s`, time_text(row.median_ns), count(row.calls)]),
  ...measured]} />`;
}

const speed_text = (value) => number(value, 1);

function Marks({ points, shape_of, place, most, at, choose }) {
  return points.map((row, i) => html`<path key=${i}
    class="scatter-dot ${i === at ? "chosen" : ""}" transform="translate(${place(row)})"
    d=${shape_of(row.name)(4 + 4 * Math.sqrt(row.calls / most))}
    onPointerEnter=${() => choose(i)} />`);
}

const MOST_CIRCLES = 100;

function Curves({ curves, place }) {
  return curves.map(({ key, points }) => html`<g class="measured" key=${key}>
    <path d=${points.map((point, i) => `${i ? "L" : "M"}${place(point)}`).join("")} />
    ${points.length <= MOST_CIRCLES && points.map((point) => html`<circle key=${point.bytes}
      r="2" transform="translate(${place(point)})" />`)}</g>`);
}

function Legend({ kinds, shape_of, curves, mark_label }) {
  return html`<ul class="legend">${curves.map(({ key, label }) => html`<li key=${key}>
    <svg class="key-shape" width="22" height="14" viewBox="-11 -7 22 14" aria-hidden="true">
      <g class="measured"><path d="M-10 0H10" /><circle r="2" /></g></svg>${label}</li>`)}
    ${kinds.map((name) => html`<li key=${name}>
    <svg class="key-shape" width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">
      <path class="scatter-dot" d=${shape_of(name)(4.5)} /></svg>${mark_label ?? name}</li>`)}
    ${kinds.length > 0 && html`<li class="faint">Area shows the number of calls.</li>`}</ul>`;
}

function AxisNames({ width }) {
  return html`<text class="axis-name" x=${(LEFT + width - RIGHT) / 2} y=${HEIGHT - 6}
      text-anchor="middle">Message size</text>
    <text class="axis-name" transform="translate(12 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)"
      text-anchor="middle">Bus bandwidth, GB/s</text>`;
}

const NO_CURVES = [];

/**
 * Rows and points of curves have both figures above zero.
 * @param {{rows: Point[], caption: string, actions?: any, mark_label?: string,
 *          curves?: {key: string, label: string,
 *                    points: {bytes: number, bus_gbps: number}[]}[]}} props
 *   mark_label: what marks of a single kind are called
 */
export function Scatter(props) {
  const { rows, caption, actions, mark_label, curves = NO_CURVES } = props;
  const is_linear = curves.length > 0;
  const [ref, width] = use_width();
  const [at, set_at] = useState(-1);
  const [keys, keys_help] = use_keys("Arrow keys move from mark to mark by size.");
  // By size, for the arrow keys.
  const points = useMemo(() => [...rows].sort((a, b) => a.bytes - b.bytes), [rows]);
  useLayoutEffect(() => set_at(-1), [points]);
  const kinds = useMemo(() => [...new Set(points.map(({ name }) => name))].sort(), [points]);
  const shape_of = (name) => SHAPES[SHAPE_NAMES[kinds.indexOf(name) % SHAPE_NAMES.length]];
  const drawn = useMemo(() => [...points, ...curves.flatMap((curve) => curve.points)],
    [points, curves]);
  const xs = decades(drawn.map((row) => row.bytes));
  const bandwidths = drawn.map((row) => row.bus_gbps);
  const ys = is_linear ? nice_ticks(0, Math.max(...bandwidths)) : decades(bandwidths);
  const x = linear(xs[0], xs.at(-1), LEFT, Math.max(LEFT + 1, width - RIGHT));
  const y = linear(ys[0], ys.at(-1), HEIGHT - BOTTOM, TOP);
  const place = (row) => `${x(Math.log10(row.bytes)).toFixed(1)} ${
    y(is_linear ? row.bus_gbps : Math.log10(row.bus_gbps)).toFixed(1)}`;
  const on_key = (event) => {
    const next = moved(event.key, at, points.length, EITHER_WAY);
    if (next === null || points.length === 0) return;
    event.preventDefault();
    set_at(next);
    announce(point_text(points[next]));
  };
  return html`<${ChartFigure} caption=${caption} table=${() => points_table(points, curves)}
      actions=${actions} legend=${html`<${Legend} kinds=${kinds} shape_of=${shape_of}
        curves=${curves} mark_label=${mark_label} />`}>
    <div ref=${ref}><svg width=${width} height=${HEIGHT} ...${keys}
        aria-label=${caption} onKeyDown=${on_key}>
      ${width > 0 && html`<${LogAxes} x=${x} y=${y} xs=${xs} ys=${ys} left=${LEFT}
        right=${width - RIGHT} top=${TOP} bottom=${HEIGHT - BOTTOM} x_text=${bytes_round}
        is_linear=${is_linear} y_text=${is_linear ? number : speed_text} />
        <${AxisNames} width=${width} />
        <${Curves} curves=${curves} place=${place} />
        <${Marks} points=${points} shape_of=${shape_of} place=${place} at=${at}
          most=${Math.max(1, ...points.map((row) => row.calls))} choose=${set_at} />`}
    </svg>${keys_help}
    <p class="readout">${points[at] ? point_text(points[at]) : points.length > 0
      ? "Hover over a mark or use the arrow keys for its values."
      : "The run has no such collective on this many ranks."}</p></div>
  <//>`;
}
