// SPDX-License-Identifier: Apache-2.0
// Step times of two runs as dots on one axis, each with its median and the median's interval.
import { html } from "../ui.mjs";
import { ms, ms_unit } from "../format.mjs";
import { use_width } from "../hooks.mjs";
import { dot_lanes, linear, nice_ticks } from "./scale.mjs";
import { ChartFigure } from "./figure.mjs";

const LANE = 46;
const DOT = 5;
const MOST_DOTS = 200;

/** Evenly chosen values when there are too many to draw, extremes kept. */
function thinned(sorted) {
  if (sorted.length <= MOST_DOTS) return sorted;
  const step = (sorted.length - 1) / (MOST_DOTS - 1);
  return Array.from({ length: MOST_DOTS }, (_, i) => sorted[Math.round(i * step)]);
}

/**
 * @typedef {{name: string, side: "base"|"cand", steps: number[], median: number,
 *            low: number|null, high: number|null}} Strip
 */

function StripRow({ strip, x, top }) {
  const sorted = thinned([...strip.steps].sort((a, b) => a - b));
  const xs = sorted.map((ns) => x(ns / 1e6));
  const lanes = dot_lanes(xs, DOT + 0.5);
  const middle = top + LANE / 2;
  const has_interval = strip.low !== null && strip.high !== null;
  return html`<g class="strip strip-${strip.side}">
    ${has_interval && html`<rect class="interval" x=${x(strip.low / 1e6)} y=${top + 4}
      width=${Math.max(1, x(strip.high / 1e6) - x(strip.low / 1e6))} height=${LANE - 8} />`}
    ${xs.map((cx, i) => html`<circle key=${i} cx=${cx} cy=${middle + lanes[i] * (DOT + 0.5)}
      r=${DOT / 2} />`)}
    <line class="median" x1=${x(strip.median / 1e6)} x2=${x(strip.median / 1e6)}
      y1=${top + 2} y2=${top + LANE - 2} />
  </g>`;
}

function strips_table(strips) {
  return html`<div class="table-region" role="group" tabindex="0" aria-label="Step times"><table>
    <thead><tr><th scope="col">Run</th>${["Steps", "Median", "95 % low", "95 % high", "Fastest",
      "Slowest"].map((name) => html`<th scope="col" class="num" key=${name}>${name}</th>`)}</tr>
    </thead>
    <tbody>${strips.map((strip) => html`<tr key=${strip.side}><th scope="row">${strip.name}</th>
      <td class="num">${strip.steps.length}</td>
      ${[strip.median, strip.low, strip.high, Math.min(...strip.steps), Math.max(...strip.steps)]
        .map((ns, i) => html`<td class="num" key=${i}>${ms_unit(ns, 4)}</td>`)}</tr>`)}
    </tbody></table></div>`;
}

/** @param {{strips: Strip[], caption: string}} props */
export function DotStrips({ strips, caption }) {
  const [ref, width] = use_width();
  const drawn = strips.filter((strip) => strip.steps.length > 0);
  const all = drawn.flatMap((strip) => [...strip.steps, strip.low, strip.high])
    .filter((ns) => ns !== null);
  if (drawn.length === 0) return html`<p class="empty-line">No steady steps to show.</p>`;
  const low = Math.min(...all) / 1e6;
  const high = Math.max(...all) / 1e6;
  const slack = (high - low) * 0.05 || Math.max(0.001, low * 0.01);
  const ticks = nice_ticks(low - slack, high + slack, Math.max(2, Math.floor(width / 130)));
  const x = linear(ticks[0], ticks.at(-1), 8, Math.max(9, width - 8));
  const bottom = drawn.length * (LANE + 16);
  return html`<${ChartFigure} caption=${caption} table=${() => strips_table(drawn)}>
    <div ref=${ref} class="dot-strips">
      <svg width=${width} height=${bottom + 22} role="img" aria-label=${caption}>
        <g class="axis">${ticks.map((tick, i) => html`<g key=${tick}>
          <line x1=${x(tick)} x2=${x(tick)} y1="0" y2=${bottom} />
          <text x=${x(tick)} y=${bottom + 15}
            text-anchor=${i === 0 ? "start" : i === ticks.length - 1 ? "end" : "middle"}
            >${ms(tick * 1e6)}</text></g>`)}</g>
        ${drawn.map((strip, i) => html`<g key=${strip.side}>
          <text class="strip-name" x="8" y=${i * (LANE + 16) + 13}>${strip.name}</text>
          <${StripRow} strip=${strip} x=${x} top=${i * (LANE + 16) + 16} /></g>`)}
      </svg>
    </div>
  <//>`;
}
