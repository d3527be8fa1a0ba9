// SPDX-License-Identifier: Apache-2.0
// A series of runs, large: a figure with its intervals and levels above, the parts of a step
// below, one data cursor through both.
import { html, useId, useMemo, useRef, useState } from "../base/ui.mjs";
import { PARTS } from "../base/parts.mjs";
import { axis_of_time } from "../base/format.mjs";
import { announce } from "../base/announce.mjs";
import { use_width } from "../base/hooks.mjs";
import { ChartFigure, use_keys } from "./figure.mjs";
import { Hatches, paint } from "./hatch.mjs";
import { moved } from "./key_moves.mjs";
import { SHAPES } from "./marks.mjs";
import { linear, nice_ticks, tick_texts } from "./scale.mjs";
import { band_path, change_indices, index_at, label_every, label_lanes, levels_of, line_path,
  marks_path, part_columns, tallest_ns, trend_extent } from "./trend_model.mjs";
import { Flags, Levels } from "./trend_marks.mjs";

const LEFT = 54;
const RIGHT = 10;
const LINE = 190; // height of the upper half
const STACK = 116;
const LANE = 16;
const BETWEEN = 34;
const BOTTOM = 22;
const WIDEST = 44;
const KEYS = "Arrow keys move between runs, Enter opens one, Space chooses it to compare.";

/** Where everything goes. */
function layout(points, labels, width) {
  const pitch = (width - LEFT - RIGHT) / points.length;
  const x = (i) => LEFT + (i + 0.5) * pitch;
  const lanes = label_lanes(labels.map(({ at, text }) => ({ x: x(at - 0.5), text })),
    width - RIGHT);
  const top = 26 + LANE * Math.max(0, ...lanes.map(({ lane }) => lane + 1));
  const middle = top + LINE;
  const bottom = middle + BETWEEN + STACK;
  const extent = trend_extent(points);
  const tallest = tallest_ns(points) || 1;
  return { pitch, x, lanes, top, middle, bottom, extent, tallest, width,
    y: linear(extent.low, extent.high, middle, top),
    stack_y: linear(0, tallest, bottom, middle + BETWEEN),
    wide: Math.max(0.6, Math.min(WIDEST, pitch - Math.min(8, pitch * 0.2))) };
}

function ValueAxis({ ticks, y, width, per }) {
  const texts = tick_texts(ticks);
  return ticks.map((tick, i) => html`<g key=${tick}>
    <line x1=${LEFT} x2=${width - RIGHT} y1=${y(tick * per)} y2=${y(tick * per)} />
    <text x=${LEFT - 6} y=${y(tick * per) + 4} text-anchor="end">${texts[i]}</text></g>`);
}

function Axes({ place, points, axis, name_of }) {
  const { extent, tallest, y, stack_y, width, bottom, x } = place;
  const upper = nice_ticks(extent.low / axis.per, extent.high / axis.per, 4)
    .filter((tick) => tick * axis.per >= extent.low && tick * axis.per <= extent.high);
  const { per, unit } = axis_of_time(tallest);
  const lower = nice_ticks(0, tallest / per, 2).filter((tick) => tick * per <= tallest);
  const names = points.map((point) => name_of(point));
  const longest = Math.max(...names.map((name) => name.length));
  const every = label_every(points.length, width - LEFT, Math.min(150, 12 + longest * 6.5));
  return html`<g class="axis" aria-hidden="true">
    <${ValueAxis} ticks=${upper} y=${y} width=${width} per=${axis.per} />
    <${ValueAxis} ticks=${lower} y=${stack_y} width=${width} per=${per} />
    <text class="axis-name" x=${LEFT} y=${place.top - 6}>${axis.name}</text>
    <text class="axis-name" x=${LEFT} y=${place.middle + BETWEEN - 8}>breakdown, ${unit}</text>
    ${names.map((name, i) => i % every === 0 && html`<text key="n${i}" x=${x(i)}
      y=${bottom + 16} text-anchor="middle">${name.length > 22 ? `${name.slice(0, 21)}…` : name}
    </text>`)}</g>`;
}

function Changes({ labels, place }) {
  return labels.map(({ at, text, tone }, i) => {
    const { lane, side } = place.lanes[i];
    const px = place.x(at - 0.5);
    const right = side === "right";
    return html`<g key=${at} class="trend-change-mark ${tone}" aria-hidden="true">
      <line class="trend-change" x1=${px} x2=${px} y1=${3 + lane * LANE} y2=${place.bottom} />
      <text x=${right ? px + 5 : px - 5} y=${14 + lane * LANE}
        text-anchor=${right ? "start" : "end"}>${text}</text></g>`;
  });
}

function Picks({ points, picked, place }) {
  const order = points.map(({ run }, i) => ({ run, i })).filter(({ run }) => picked.includes(run));
  return order.map(({ i }, n) => html`<g key=${i} class="trend-pick">
    <circle cx=${place.x(i)} cy=${place.y(points[i].value)} r="9" />
    <text x=${place.x(i)} y=${place.y(points[i].value) + 24} text-anchor="middle">${
      picked.length < 2 ? "chosen" : n === 0 ? "base" : "candidate"}</text></g>`);
}

function Drawing({ points, place, levels, labels, alarmed, picked, at, id, axis, name_of }) {
  const { x, y, pitch, top, bottom, wide } = place;
  const radius = pitch > 12 ? 4 : Math.max(1.6, pitch / 3);
  const stack = { x, y: place.stack_y, wide };
  return html`<${Hatches} id=${id} />
    ${at >= 0 && html`<rect class="trend-cursor" x=${x(at) - pitch / 2} width=${pitch} y=${top - 8}
      height=${bottom - top + 8} />`}
    <${Axes} place=${place} points=${points} axis=${axis} name_of=${name_of} />
    <path class="trend-band" d=${band_path(points, x, y)} />
    <${Changes} labels=${labels} place=${place} />
    <${Levels} levels=${levels} place=${place} reach=${Math.min(pitch / 2, 14)} />
    <path class="trend-line" d=${line_path(points, x, y)} />
    <path class="trend-dots" d=${marks_path(points, (p) => !p.outlier, place,
      SHAPES.circle(radius))} />
    <path class="trend-outliers" d=${marks_path(points, (p) => p.outlier, place,
      SHAPES.circle(radius + 1))} />
    <${Flags} points=${points} alarmed=${alarmed} place=${place} />
    <${Picks} points=${points} picked=${picked} place=${place} />
    ${PARTS.map((part, i) => html`<path key=${part.key} ...${paint(part, id)}
      d=${part_columns(points, i, stack)} />`)}`;
}

/** Keys and pointer; dragging from one run to another picks both. */
function use_gestures({ points, place, text_of, onopen, onpick }) {
  const [at, set_at] = useState(-1);
  const from = useRef(-1);
  const index = (event) => index_at(event.clientX
    - event.currentTarget.getBoundingClientRect().left, LEFT, place.pitch, points.length);
  const on_key = (event) => {
    if (event.key === "Enter" && at >= 0) onopen(points[at]);
    if (event.key === " " && at >= 0) onpick([points[at].run]);
    const start = at < 0 && event.key === "ArrowLeft" ? points.length : at; // first the newest
    const next = moved(event.key, start, points.length);
    if (next === null && event.key !== " ") return;
    event.preventDefault();
    if (next === null) return;
    set_at(next);
    announce(text_of(next));
  };
  const on_up = (event) => {
    const i = index(event);
    const begun = from.current;
    from.current = -1;
    if (i < 0 || begun < 0 || event.button !== 0) return;
    if (i !== begun) onpick([points[begun].run, points[i].run]);
    else if (event.shiftKey) onpick([points[i].run]);
    else onopen(points[i]);
  };
  return { at, handlers: { onKeyDown: on_key, onPointerUp: on_up,
    onPointerDown: (event) => { from.current = index(event); },
    onPointerMove: (event) => set_at(index(event)), onPointerLeave: () => set_at(-1) } };
}

const step_keys = (points, alarmed) => html`
  <li><span class="key-dot"></span>a run</li>
  ${points.some(({ low }) => low !== null) && html`<li><span class="key-band"></span>95 % interval,
    if its steps are independent</li>`}
  <li><span class="key-level"></span>median of a level</li>
  ${points.some(({ outlier }) => outlier) && html`<li><span class="key-ring"></span>beyond the noise
    of the series</li>`}
  ${points.some(({ run }) => alarmed.has(run)) && html`<li><span class="key-flag"
    aria-hidden="true">⚑</span>new alert</li>`}`;

const FIGURE_KEYS = html`<li><span class="key-dot"></span>a run</li>
  <li><span class="key-level"></span>median of the runs shown</li>`;

/** A legend of what is drawn only. */
function Legend({ judged, points, alarmed }) {
  const parts = PARTS.filter(({ column }) => points.some((point) => point[column] > 0));
  return html`<ul class="legend trend-legend">${judged ? step_keys(points, alarmed) : FIGURE_KEYS}
    ${parts.map(({ key, label }) => html`<li key=${key}><span class="swatch bar-${key}"></span>${
      label}</li>`)}</ul>`;
}

/**
 * @param {{points: import("./trend_model.mjs").Point[],
 *          changes: import("./trend_model.mjs").Change[], alarmed: Set<string>, picked: string[],
 *          caption: string, actions?: any, axis: {name: string, per: number},
 *          judged: boolean, label_of: (change: any) => string,
 *          tone_of: (change: any) => string,
 *          name_of: (point: any) => string, text_of: (i: number) => string,
 *          onopen: (point: any) => void, onpick: (runs: string[]) => void}} props at least one
 *          point; `axis.per` of the values are one on the axis; `judged`: their levels and
 *          outliers are known; `onpick` gets one run to add or remove, or two that were dragged
 *          together
 */
export function TrendLine(props) {
  const { points, changes, caption, actions, judged, label_of, tone_of, text_of } = props;
  const id = useId();
  const [ref, width] = use_width();
  const labels = useMemo(() => change_indices(points, changes).filter(({ at }) => at > 0)
    .map(({ change, at }) => ({ at, text: label_of(change),
      tone: tone_of(change) })), [points, changes]);
  const place = useMemo(() => layout(points, labels, Math.max(240, width)),
    [points, labels, width]);
  const levels = useMemo(() => levels_of(points, changes), [points, changes]);
  const [keys, keys_help] = use_keys(KEYS);
  const { at, handlers } = use_gestures({ ...props, place });
  return html`<${ChartFigure} caption=${caption} actions=${actions}
      legend=${html`<${Legend} judged=${judged} points=${points} alarmed=${props.alarmed} />`}>
    <div class="trend-chart" ref=${ref}>
      <svg width=${width} height=${place.bottom + BOTTOM} ...${keys}
          aria-label=${caption} class=${at >= 0 ? "opens" : ""}
          ...${handlers}>
        ${width > 0 && html`<${Drawing} ...${props} place=${place} levels=${levels} id=${id}
          labels=${labels} at=${at} />`}
      </svg>${keys_help}
      <p class="readout">${at >= 0 ? text_of(at) : `The upper axis does not start at zero. Click
        a run to open it, drag from one to another to compare them.`}</p>
    </div><//>`;
}
