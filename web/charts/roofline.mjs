// SPDX-License-Identifier: Apache-2.0
// Arithmetic intensity against achieved speed, both logarithmic, below the roofs of the device.
import { html, useMemo, useState } from "../base/ui.mjs";
import { announce } from "../base/announce.mjs";
import { labels_now } from "../base/kernel_labels.mjs";
import { number, percent, plural, short_kernel, time_text } from "../base/format.mjs";
import { use_width } from "../base/hooks.mjs";
import { ChartFigure, use_keys } from "./figure.mjs";
import { EITHER_WAY, moved } from "./key_moves.mjs";
import { LogAxes } from "./log_axes.mjs";
import { SHAPES } from "./marks.mjs";
import { PlainTable } from "./plain_table.mjs";
import { linear } from "./scale.mjs";
import { mark_of, radius_of, roof_line, roofline_points, roofline_range, roofs_of, spread }
  from "./roofline_model.mjs";

const HEIGHT = 400;
const LEFT = 66;
const RIGHT = 8;
const TOP = 12;
const BOTTOM = 44;
const LABEL_GAP = 14;

const powers = ([low, high]) => Array.from({ length: high - low + 1 }, (_, i) => low + i);
const plain = (value) => (value >= 1 ? value.toLocaleString("en") : String(value));

const MEASURED_RADIUS = 6; // one launch, which the areas of all calls would hide

function point_text(row) {
  if (row.kind === "measured") {
    const label = labels_now().get(row.op) ?? short_kernel(row.op);
    const name = [label, row.problem].filter(Boolean).join(", ");
    return `${name}: ${number(row.tflops)} TFLOP/s at ${
      number(row.intensity)} FLOP/B of DRAM, ${time_text(row.busy_ns)}, measured by Nsight ` +
      "Compute by default with locked clocks and emptied caches";
  }
  const efficiency = row.efficiency === null ? "" : `, ${percent(row.efficiency)} of the roofline`;
  return `${row.op} ${row.problem || ""} ${row.precision || ""}: ${number(row.tflops)} TFLOP/s at ${
    number(row.intensity)} FLOP/B${efficiency}, ${time_text(row.busy_ns)}, ${
    row.bound ? `${row.bound} bound` : "bound unknown"}`;
}

function points_table(points) {
  const head = ["Operator", "Precision", "FLOP/B", "TFLOP/s", "Of roofline", "Time"];
  return html`<${PlainTable} label="Roofline points" head=${head} rows=${points.map((row) =>
    [`${row.op} ${row.problem || ""}`, row.precision || "–", number(row.intensity),
      number(row.tflops), percent(row.efficiency), time_text(row.busy_ns)])} />`;
}

function Roofs({ roofs, range, x, y, width }) {
  const flat = roofs.map((roof) => y(Math.log10(roof.peak_tflops)));
  const labels = spread(flat.map((at) => at - 6), LABEL_GAP);
  const path = (roof) => roof_line(roof, range).map(([intensity, tflops], i) =>
    `${i ? "L" : "M"}${x(Math.log10(intensity)).toFixed(1)} ${y(Math.log10(tflops)).toFixed(1)}`)
    .join("");
  return html`<g class="roofs">${roofs.map((roof, i) => html`<g key=${roof.precision}>
    <path class="roof" d=${path(roof)} />
    <text class="roof-name" x=${width - RIGHT - 4} y=${labels[i]} text-anchor="end">${
      roof.precision} ${number(roof.peak_tflops)} TFLOP/s</text></g>`)}
    ${roofs.length > 0 && html`<${Slope} roof=${roofs[0]} range=${range} x=${x} y=${y} />`}</g>`;
}

/** The bandwidth label along the common slope of all roofs. */
function Slope({ roof, range, x, y }) {
  const [from, to] = roof_line(roof, range);
  const at = (point) => [x(Math.log10(point[0])), y(Math.log10(point[1]))];
  const [[x1, y1], [x2, y2]] = [at(from), at(to)];
  if (x2 - x1 < 90) return null;
  const angle = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
  return html`<text class="roof-name" text-anchor="middle"
    transform="translate(${(x1 + x2) / 2} ${(y1 + y2) / 2}) rotate(${angle}) translate(0 -6)">${
    number(roof.peak_tbps)} TB/s</text>`;
}

/** Largest first, so that small points stay on top; keys move through them by time. */
function Points({ points, place, chosen, choose }) {
  const most = points[0].busy_ns;
  const radius = ({ kind, busy_ns }) =>
    (kind === "measured" ? MEASURED_RADIUS : radius_of(busy_ns, most));
  return points.map((row, i) => {
    const { shape, part } = mark_of(row.kind);
    return html`<path key=${i} class="roof-point fill-${part} ${i === chosen ? "chosen" : ""}"
      transform="translate(${place(row)})" d=${SHAPES[shape](radius(row))}
      onMouseEnter=${() => choose(i)} />`;
  });
}

function Legend({ points }) {
  const kinds = new Map(points.map(({ kind }) => [mark_of(kind).label, mark_of(kind)]));
  return html`<ul class="legend">${[...kinds].map(([label, { shape, part }]) => html`<li
    key=${label}><svg class="key-shape" width="14" height="14" viewBox="-7 -7 14 14"
      aria-hidden="true"><path class="fill-${part}" d=${SHAPES[shape](5)} /></svg>${label}</li>`)}
    <li class="faint">Area shows time.</li></ul>`;
}

function notes({ left_out, without }) {
  const parts = [];
  if (left_out > 0) parts.push(`${plural(left_out, "row")} with negligible time`);
  if (without > 0) parts.push(`${plural(without, "row")} with unknown FLOPs`);
  return parts.length > 0 ? `Not drawn: ${parts.join(" and ")}.` : "";
}

const NONE = [];

/**
 * @param {{rows: Record<string, any>[], measured?: Record<string, any>[], caption: string}} props
 *   rows of the table roofline, and measured_points
 */
export function Roofline({ rows, measured = NONE, caption }) {
  const [ref, width] = use_width();
  const [at, set_at] = useState(-1);
  const [keys, keys_help] = use_keys("Arrow keys move between points by time.");
  const found = useMemo(() => roofline_points(rows), [rows]);
  const points = useMemo(() => [...found.points, ...measured], [found, measured]);
  const roofs = useMemo(() => roofs_of(points), [points]);
  const range = useMemo(() => roofline_range(points, roofs), [points, roofs]);
  if (points.length === 0) return null;
  const x = linear(...range.x, LEFT, Math.max(LEFT + 1, width - RIGHT));
  const y = linear(...range.y, HEIGHT - BOTTOM, TOP);
  const place = (row) =>
    `${x(Math.log10(row.intensity)).toFixed(1)} ${y(Math.log10(row.tflops)).toFixed(1)}`;
  const on_key = (event) => {
    const next = moved(event.key, at, points.length, EITHER_WAY);
    if (next === null) return;
    event.preventDefault();
    set_at(next);
    announce(point_text(points[next]));
  };
  const chosen = points[at];
  return html`<${ChartFigure} caption=${caption} table=${() => points_table(points)}
      legend=${html`<${Legend} points=${points} />`}>
    <div ref=${ref} class="roofline"><svg width=${width} height=${HEIGHT} ...${keys}
        aria-label=${caption} onKeyDown=${on_key}>
      ${width > 0 && html`
        <${LogAxes} x=${x} y=${y} xs=${powers(range.x)} ys=${powers(range.y)} left=${LEFT}
          right=${width - RIGHT} top=${TOP} bottom=${HEIGHT - BOTTOM} x_text=${plain}
          y_text=${plain} />
        <text class="axis-name" x=${(LEFT + width - RIGHT) / 2} y=${HEIGHT - 8}
          text-anchor="middle">FLOP per byte</text>
        <text class="axis-name" transform="translate(11 ${(HEIGHT - BOTTOM) / 2}) rotate(-90)"
          text-anchor="middle">TFLOP/s</text>
        <${Roofs} roofs=${roofs} range=${range} x=${x} y=${y} width=${width} />
        <${Points} points=${points} place=${place} chosen=${at} choose=${set_at} />`}
    </svg>${keys_help}
    <p class="readout">${chosen ? point_text(chosen)
      : `Hover over a mark or use the arrow keys for its values. ${notes(found)}`}</p></div>
  <//>`;
}
