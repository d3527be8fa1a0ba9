// SPDX-License-Identifier: Apache-2.0
// Memory over time: held by tensors and by the allocator, stepped, with the peak marked.
import { html, useMemo, useState } from "../base/ui.mjs";
import { announce } from "../base/announce.mjs";
import { bytes, bytes_round, time_text } from "../base/format.mjs";
import { use_width } from "../base/hooks.mjs";
import { ChartFigure, use_keys } from "./figure.mjs";
import { PlainTable } from "./plain_table.mjs";
import { inner_ticks, linear } from "./scale.mjs";
import { byte_ticks, memory_extent, peak_index, point_at, step_area, step_path }
  from "./memory_model.mjs";

const HEIGHT = 260;
const LEFT = 66;
const RIGHT = 8;
const TOP = 26;
const BOTTOM = 24;
const TABLE_ROWS = 200;

const point_text = (p) => `${time_text(p.time_ns, 4)}: ${bytes(p.allocated_bytes)} allocated, ${
  bytes(p.reserved_bytes)} reserved`;

/** At most as many points as fit a readable table, evenly chosen, including the peak. */
function table_of(points, peak) {
  const every = Math.ceil(points.length / TABLE_ROWS);
  const chosen = points.filter((_, i) => i % every === 0 || i === peak);
  return html`<${PlainTable} label="Memory over time" head=${["Time", "Allocated", "Reserved"]}
    rows=${chosen.map((p) => [time_text(p.time_ns, 4), bytes(p.allocated_bytes),
      bytes(p.reserved_bytes)])} />`;
}

function Axes({ x, y, extent, width }) {
  const wanted = Math.max(3, width / 140);
  const ticks = inner_ticks(extent.begin_ns / 1e6, extent.end_ns / 1e6, wanted);
  return html`<g class="axis" aria-hidden="true">
    ${byte_ticks(extent.top_bytes).map((tick) => html`<g key=${tick}><line x1=${LEFT}
      x2=${width - RIGHT} y1=${y(tick)} y2=${y(tick)} /><text x=${LEFT - 6} y=${y(tick) + 4}
      text-anchor="end">${tick === 0 ? "0" : bytes_round(tick)}</text></g>`)}
    ${ticks.map((tick) => html`<text key="x${tick}" x=${x(tick * 1e6)} y=${HEIGHT - 6}
      text-anchor="middle">${tick.toLocaleString("en")}</text>`)}
  </g>`;
}

function Peak({ point, label, x, y, width }) {
  const px = x(point.time_ns);
  const py = y(point.allocated_bytes);
  const right = px > width / 2;
  return html`<g class="memory-peak"><circle cx=${px} cy=${py} r="4" />
    <text x=${right ? px - 8 : px + 8} y=${Math.max(12, py - 8)}
      text-anchor=${right ? "end" : "start"}>${label}</text></g>`;
}

function Capacity({ at, bytes_text, width }) {
  return html`<g class="capacity"><line x1=${LEFT} x2=${width - RIGHT} y1=${at} y2=${at} />
    <text x=${LEFT + 6} y=${at - 5}>capacity ${bytes_text}</text></g>`;
}

const STEPS = { ArrowRight: 1, ArrowLeft: -1, PageDown: 50, PageUp: -50 };

function moved(key, at, last) {
  if (key === "Home") return 0;
  if (key === "End") return last;
  if (!(key in STEPS)) return null;
  return Math.min(last, Math.max(0, at + STEPS[key]));
}

function Curves({ points, extent, capacity_bytes, peak, peak_label, at, width }) {
  const x = linear(extent.begin_ns, extent.end_ns, LEFT, Math.max(LEFT + 1, width - RIGHT));
  const y = linear(0, extent.top_bytes, HEIGHT - BOTTOM, TOP);
  const chosen = points[at];
  return html`<${Axes} x=${x} y=${y} extent=${extent} width=${width} />
    <path class="memory-reserved" d=${step_area(points, "reserved_bytes", x, y)} />
    <path class="memory-allocated" d=${step_area(points, "allocated_bytes", x, y)} />
    <path class="memory-reserved-line" d=${step_path(points, "reserved_bytes", x, y)} />
    <path class="memory-allocated-line" d=${step_path(points, "allocated_bytes", x, y)} />
    ${extent.shows_capacity && html`<${Capacity} at=${y(capacity_bytes)} width=${width}
      bytes_text=${bytes(capacity_bytes)} />`}
    <${Peak} point=${points[peak]} label=${peak_label} x=${x} y=${y} width=${width} />
    ${chosen && html`<line class="cursor" x1=${x(chosen.time_ns)} x2=${x(chosen.time_ns)}
      y1=${TOP} y2=${HEIGHT - BOTTOM} />`}`;
}

const LEGEND = html`<ul class="legend">
  <li><span class="swatch memory-key-allocated"></span>Allocated: held by tensors</li>
  <li><span class="swatch memory-key-reserved"></span>Reserved: held by the allocator</li></ul>`;

/**
 * @param {{points: any[], capacity_bytes: number|null, peak_label: string, caption: string,
 *          actions?: any}} props points of one device, at least one
 */
export function MemoryLine({ points, capacity_bytes, peak_label, caption, actions }) {
  const [ref, width] = use_width();
  const [keys, keys_help] = use_keys("Arrow keys move through time.");
  const [at, set_at] = useState(-1);
  const extent = useMemo(() => memory_extent(points, capacity_bytes), [points, capacity_bytes]);
  const peak = useMemo(() => peak_index(points), [points]);
  const on_move = (event) => {
    const left = event.currentTarget.getBoundingClientRect().left;
    const ns = linear(LEFT, width - RIGHT, extent.begin_ns, extent.end_ns)(event.clientX - left);
    set_at(ns < extent.begin_ns || ns > extent.end_ns ? -1 : point_at(points, ns));
  };
  const on_key = (event) => {
    const next = moved(event.key, at, points.length - 1);
    if (next === null) return;
    event.preventDefault();
    set_at(next);
    announce(point_text(points[next]));
  };
  return html`<${ChartFigure} caption=${caption} actions=${actions} legend=${LEGEND}
      table=${() => table_of(points, peak)}>
    <div ref=${ref} class="memory-line"><svg width=${width} height=${HEIGHT} ...${keys}
        aria-label=${caption} onKeyDown=${on_key} onMouseMove=${on_move}
        onMouseLeave=${() => set_at(-1)}>
      ${width > 0 && html`<${Curves} points=${points} extent=${extent} peak=${peak}
        capacity_bytes=${capacity_bytes} peak_label=${peak_label} at=${at} width=${width} />`}
    </svg>${keys_help}
    <p class="readout">${at >= 0 ? point_text(points[at])
      : "Milliseconds since the start of the recording. Hover over the chart for "
        + "values."}</p></div>
  <//>`;
}
