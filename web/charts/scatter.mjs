// SPDX-License-Identifier: Apache-2.0
// Message size against bus bandwidth on logarithmic axes: latency-bound on the left slope,
// bandwidth-bound on the plateau.
import { html } from "../ui.mjs";
import { bytes, count, ms_unit, number } from "../format.mjs";
import { use_width } from "../hooks.mjs";
import { linear } from "./scale.mjs";
import { ChartFigure } from "./figure.mjs";

const HEIGHT = 240;
const LEFT = 52;
const BOTTOM = 30;

/** Powers of ten that enclose the values. */
function decades(values) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  return Array.from({ length: high - low + 1 }, (_, i) => low + i);
}

const SHAPES = {
  circle: (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  square: (r) => `M${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  up: (r) => `M0 ${-r * 1.2}L${r * 1.2} ${r}H${-r * 1.2}z`,
  down: (r) => `M0 ${r * 1.2}L${r * 1.2} ${-r}H${-r * 1.2}z`,
  diamond: (r) => `M0 ${-r * 1.3}L${r * 1.3} 0L0 ${r * 1.3}L${-r * 1.3} 0z`,
};
const SHAPE_NAMES = Object.keys(SHAPES);

function point_text(row) {
  return `${row.name}, ${bytes(row.bytes)}: ${number(row.bus_gbps)} GB/s bus, ${
    ms_unit(row.median_ns)} median, ${count(row.calls)} calls`;
}

function points_table(rows) {
  return html`<div class="table-region" role="group" tabindex="0" aria-label="Bandwidths"><table>
    <thead><tr><th scope="col">Collective</th>${["Size", "Bus GB/s", "p50 ms", "Calls"].map(
      (name) => html`<th scope="col" class="num" key=${name}>${name}</th>`)}</tr></thead>
    <tbody>${rows.map((row, i) => html`<tr key=${i}><th scope="row">${row.name}</th>
      <td class="num">${bytes(row.bytes)}</td><td class="num">${number(row.bus_gbps)}</td>
      <td class="num">${ms_unit(row.median_ns)}</td><td class="num">${count(row.calls)}</td></tr>`)}
    </tbody></table></div>`;
}

function Axes({ x, y, xs, ys, width }) {
  const bottom = HEIGHT - BOTTOM;
  return html`<g class="axis" aria-hidden="true">
    ${ys.map((p) => html`<g key=${p}><line x1=${LEFT} x2=${width} y1=${y(p)} y2=${y(p)} />
      <text x=${LEFT - 6} y=${y(p) + 4} text-anchor="end">${number(10 ** p, 1)}</text></g>`)}
    ${xs.map((p, i) => html`<g key=${p}><line x1=${x(p)} x2=${x(p)} y1="6" y2=${bottom} />
      <text x=${x(p)} y=${bottom + 16} text-anchor=${i === xs.length - 1 ? "end" : "middle"}>${
        bytes(10 ** p).replace(/\.0+/, "")}</text></g>`)}
  </g>`;
}

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
      <${Axes} x=${x} y=${y} xs=${xs} ys=${ys} width=${width} />
      ${width > 0 && rows.map((row, i) => html`<path key=${i} class="scatter-dot"
        transform="translate(${x(Math.log10(row.bytes))} ${y(Math.log10(row.bus_gbps))})"
        d=${shape(row.name)(4 + 3 * Math.sqrt(row.calls / most))}><title>${point_text(row)}</title>
      </path>`)}
    </svg></div>
  <//>`;
}
