// SPDX-License-Identifier: Apache-2.0
// Step times of two or more sides as dots on one axis. A side with one run: a dot per step, the
// median and its interval. A side with repeats: a dot per run, the steps faint behind them.
import { html } from "../base/ui.mjs";
import { axis_of_time, time_text } from "../base/format.mjs";
import { use_width } from "../base/hooks.mjs";
import { dot_lanes, inner_ticks, linear, tick_texts } from "./scale.mjs";
import { ChartFigure } from "./figure.mjs";
import { PlainTable } from "./plain_table.mjs";

const LANE = 44;
const NAME = 18;
const STEP_DOT = 5;
const FAINT_DOT = 3;
const RUN_DOT = 10;
const MOST_DOTS = 200;
const EDGE = 10;

/**
 * @typedef {{name: string, steps: number[], median: number}} StripRun
 * @typedef {{key: string, name: string, side: "base"|"cand", runs: StripRun[], median: number,
 *            low: number|null, high: number|null}} Strip
 */

/**
 * Evenly chosen values if there are too many to draw, keeping the extremes. @param {number[]}
 * sorted
 */
export function thinned(sorted, most = MOST_DOTS) {
  if (sorted.length <= most) return sorted;
  const step = (sorted.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, i) => sorted[Math.round(i * step)]);
}

const ascending = (values) => [...values].sort((a, b) => a - b);

/** Steps of all runs of a strip. @param {Strip} strip */
const steps_of = ({ runs }) => runs.flatMap(({ steps }) => steps);

function Dots({ values, x, middle, size, names, className }) {
  const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b]);
  const xs = order.map((i) => x(values[i]));
  const room = Math.floor(LANE / (size + 0.5));
  const lanes = dot_lanes(xs, size + 0.5, room % 2 ? room : room - 1);
  return html`<g class=${className}>${order.map((from, i) => html`<circle key=${i} cx=${xs[i]}
    cy=${middle + lanes[i] * (size + 0.5)} r=${size / 2}>${names && html`<title>${
      names[from]}: ${time_text(values[from], 4)}</title>`}</circle>`)}</g>`;
}

function StripRow({ strip, x, top }) {
  const middle = top + LANE / 2;
  const repeats = strip.runs.length > 1;
  const has_interval = strip.low !== null && strip.high !== null;
  const steps = thinned(ascending(steps_of(strip)));
  return html`<g class="strip strip-${strip.side}">
    ${has_interval && html`<rect class="interval" x=${x(strip.low)} y=${top + 4}
      width=${Math.max(1, x(strip.high) - x(strip.low))} height=${LANE - 8} />`}
    <${Dots} values=${steps} x=${x} middle=${middle} size=${repeats ? FAINT_DOT : STEP_DOT}
      className=${repeats ? "steps-behind" : ""} />
    <line class="median" x1=${x(strip.median)} x2=${x(strip.median)}
      y1=${top + 2} y2=${top + LANE - 2} />
    ${repeats && html`<${Dots} values=${strip.runs.map(({ median }) => median)} x=${x}
      middle=${middle} size=${RUN_DOT} className="run-dots"
      names=${strip.runs.map(({ name }) => name)} />`}
  </g>`;
}

function strips_table(strips) {
  const rows = strips.flatMap((strip) => {
    const all = steps_of(strip);
    const spread = [strip.low, strip.high].map((ns) => time_text(ns, 4));
    const row = (name, values, median, interval) => [name, values.length, time_text(median, 4),
      ...interval, time_text(Math.min(...values), 4), time_text(Math.max(...values), 4)];
    const repeats = strip.runs.length > 1 ? strip.runs : [];
    return [row(strip.name, all, strip.median, spread),
      ...repeats.map(({ name, steps, median }) => row(name, steps, median, ["–", "–"]))];
  });
  return html`<${PlainTable} label="Step times" rows=${rows}
    head=${["Run", "Steps", "Median", "95 % low", "95 % high", "Fastest", "Slowest"]} />`;
}

/** The range of the axis, in ns. @param {Strip[]} strips */
function extent_of(strips) {
  const all = strips.flatMap((strip) => [...steps_of(strip), strip.low, strip.high, strip.median,
    ...strip.runs.map(({ median }) => median)]).filter(Number.isFinite);
  return { low: all.reduce((a, b) => Math.min(a, b), Infinity), // too many for arguments
    high: all.reduce((a, b) => Math.max(a, b), -Infinity) };
}

/** @param {{strips: Strip[], caption: string}} props */
export function DotStrips({ strips, caption }) {
  const [ref, width] = use_width();
  const drawn = strips.filter((strip) => steps_of(strip).length > 0);
  if (drawn.length === 0) return html`<p class="empty-line">No steady steps to show.</p>`;
  const { low, high } = extent_of(drawn);
  const slack = (high - low) * 0.04 || Math.max(1000, low * 0.01);
  const ends = [low - slack, high + slack];
  const x = linear(ends[0], ends[1], EDGE, Math.max(EDGE + 1, width - EDGE));
  const { per } = axis_of_time(high);
  const ticks = inner_ticks(ends[0] / per, ends[1] / per, Math.max(2, Math.floor(width / 130)));
  const texts = tick_texts(ticks);
  const pitch = LANE + NAME;
  const bottom = drawn.length * pitch;
  return html`<${ChartFigure} caption=${caption} table=${() => strips_table(drawn)}>
    <div ref=${ref} class="dot-strips">
      <svg width=${width} height=${bottom + 22} role="img" aria-label=${caption}>
        <g class="axis">${ticks.map((tick, i) => html`<g key=${tick}>
          <line x1=${x(tick * per)} x2=${x(tick * per)} y1="0" y2=${bottom} />
          <text x=${x(tick * per)} y=${bottom + 15} text-anchor=${x(tick * per) < 30 ? "start"
            : x(tick * per) > width - 30 ? "end" : "middle"}>${texts[i]}</text></g>`)}</g>
        ${drawn.map((strip, i) => html`<g key=${strip.key}>
          <text class="strip-name" x=${EDGE - 2} y=${i * pitch + 13}>${strip.name}</text>
          <${StripRow} strip=${strip} x=${x} top=${i * pitch + NAME - 2} /></g>`)}
      </svg>
    </div>
  <//>`;
}
