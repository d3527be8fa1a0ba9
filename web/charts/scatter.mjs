// SPDX-License-Identifier: Apache-2.0
// Message size against bus bandwidth on logarithmic axes: latency-bound on the left slope,
// bandwidth-bound on the plateau.
import { html } from "../ui.mjs";
import { bytes, bytes_round, count, ms_unit, number } from "../format.mjs";
import { use_width } from "../hooks.mjs";
import { ChartFigure } from "./figure.mjs";
import { LogAxes } from "./log_axes.mjs";
import { SHAPE_NAMES, SHAPES } from "./marks.mjs";
import { PlainTable } from "./plain_table.mjs";
import { decades, linear } from "./scale.mjs";

const HEIGHT = 240;
const LEFT = 52;
const BOTTOM = 30;

function point_text(row) {
  return `${row.name}, ${bytes(row.bytes)}: ${number(row.bus_gbps)} GB/s bus, ${
    ms_unit(row.median_ns)} median, ${count(row.calls)} calls`;
}

function points_table(rows) {
  const head = ["Collective", "Size", "Bus", "p50", "Calls"];
  return html`<${PlainTable} label="Bandwidths" head=${head}
    rows=${rows.map((row) => [row.name, bytes(row.bytes), `${number(row.bus_gbps)} GB/s`,
      ms_unit(row.median_ns), count(row.calls)])} />`;
}

const speed_text = (value) => number(value, 1);

/** @param {{rows: {name: string, bytes: number, bus_gbps: number, median_ns: number,
 *           calls: number}[], caption: string}} props only rows with both figures above zero */
export function Scatter({ rows, caption }) {
  const [ref, width] = use_width();
  const kinds = [...new Set(rows.map(({ name }) => name))];
  const xs = decades(rows.map((row) => row.bytes));
  const ys = decades(rows.map((row) => row.bus_gbps));
  const x = linear(xs[0], xs.at(-1), LEFT, Math.max(LEFT + 1, width - 10));
  const y = linear(ys[0], ys.at(-1), HEIGHT - BOTTOM, 8);
  const shape = (name) => SHAPES[SHAPE_NAMES[kinds.indexOf(name) % SHAPE_NAMES.length]];
  const most = Math.max(...rows.map((row) => row.calls));
  const legend = html`<ul class="legend">${kinds.map((name) => html`<li key=${name}>
    <svg class="key-shape" width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">
      <path class="scatter-dot" d=${shape(name)(4.5)} /></svg>${name}</li>`)}</ul>`;
  return html`<${ChartFigure} caption=${caption} table=${() => points_table(rows)} legend=${legend}>
    <div ref=${ref}><svg width=${width} height=${HEIGHT} role="img" aria-label=${caption}>
      ${width > 0 && html`<${LogAxes} x=${x} y=${y} xs=${xs} ys=${ys} left=${LEFT}
        right=${width - 10} top=${8} bottom=${HEIGHT - BOTTOM} x_text=${bytes_round}
        y_text=${speed_text} />`}
      ${width > 0 && rows.map((row, i) => html`<path key=${i} class="scatter-dot"
        transform="translate(${x(Math.log10(row.bytes))} ${y(Math.log10(row.bus_gbps))})"
        d=${shape(row.name)(4 + 3 * Math.sqrt(row.calls / most))}><title>${point_text(row)}</title>
      </path>`)}
    </svg></div>
  <//>`;
}
