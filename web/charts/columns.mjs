// SPDX-License-Identifier: Apache-2.0
// Columns of one figure: a histogram, or a value for each of some steps or runs.
import { html, useMemo, useState } from "../base/ui.mjs";
import { use_width } from "../base/hooks.mjs";
import { announce } from "../base/announce.mjs";
import { ChartFigure, use_keys } from "./figure.mjs";
import { moved } from "./key_moves.mjs";
import { nice_ticks, tick_texts } from "./scale.mjs";

const HEIGHT = 150;
const LEFT = 52;
const BOTTOM = 20;
const TOP = 16;
const WIDEST = 84;
const LABEL_PX = 74;

/**
 * @typedef {{label: string, value: number, text: string, faint?: boolean}} Column
 * `text` is what the readout says
 */

function layout(items, width, scale, widest) {
  const most = Math.max(...items.map(({ value }) => value), 0) || 1;
  const ticks = nice_ticks(0, most / scale, 3).filter((tick) => tick * scale <= most * 1.001);
  const pitch = Math.min(widest, (width - LEFT) / items.length);
  const gap = pitch > 6 ? Math.min(8, pitch * 0.14) : 0;
  return { pitch, gap, ticks, texts: tick_texts(ticks), x: (i) => LEFT + i * pitch,
    y: (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most) };
}

function Axis({ items, place, width, scale }) {
  const every = Math.max(1, Math.ceil(LABEL_PX / place.pitch));
  return html`<g class="axis">
    ${place.ticks.map((tick, i) => html`<g key=${tick}>
      <line x1=${LEFT} x2=${width} y1=${place.y(tick * scale)} y2=${place.y(tick * scale)} />
      <text x=${LEFT - 6} y=${place.y(tick * scale) + 4} text-anchor="end">${
        place.texts[i]}</text></g>`)}
    ${items.map(({ label }, i) => i % every === 0 && label && html`<text key=${`c${i}`}
      x=${place.x(i) + (every > 1 ? 0 : (place.pitch - place.gap) / 2)} y=${HEIGHT - 5}
      text-anchor=${every > 1 ? "start" : "middle"}>${label}</text>`)}</g>`;
}

/** Lines at places between columns, such as percentiles. */
const Marks = ({ marks, place }) => marks.map(({ at, label }) => html`<g key=${label}
    class="column-mark"><line x1=${place.x(at)} x2=${place.x(at)} y1=${TOP} y2=${HEIGHT - BOTTOM} />
  <text x=${place.x(at)} y=${TOP - 5} text-anchor="middle">${label}</text></g>`);

/**
 * @param {{items: Column[], caption: string, hint: string, table: () => any, scale?: number,
 *          marks?: {at: number, label: string}[], widest?: number,
 *          onopen?: (i: number) => void}} props
 * values are drawn in units of `scale`; `onopen` is called for a column that is clicked or gets
 * Enter
 */
export function Columns({ items, caption, hint, table, scale = 1, marks = [], widest = WIDEST,
  onopen }) {
  const [ref, width] = use_width();
  const [keys, keys_help] = use_keys(
    `Arrow keys move between columns${onopen ? ", Enter opens one" : ""}.`);
  const [at, set_at] = useState(-1);
  const place = useMemo(() => layout(items, Math.max(160, width), scale, widest),
    [items, width, scale, widest]);
  const on_key = (event) => {
    if (event.key === "Enter" && items[at]) onopen?.(at);
    const next = moved(event.key, at, items.length);
    if (next === null) return;
    event.preventDefault();
    set_at(next);
    announce(items[next].text);
  };
  const on_move = (event) => {
    const left = event.currentTarget.getBoundingClientRect().left;
    const i = Math.floor((event.clientX - left - LEFT) / place.pitch);
    set_at(i >= 0 && i < items.length ? i : -1);
  };
  const bottom = HEIGHT - BOTTOM;
  return html`<${ChartFigure} caption=${caption} table=${table}>
    <div class="step-columns" ref=${ref}><svg width=${width} height=${HEIGHT} ...${keys}
        aria-label=${caption}
        class=${onopen && at >= 0 ? "opens" : ""} onKeyDown=${on_key} onMouseMove=${on_move}
        onMouseLeave=${() => set_at(-1)} onClick=${() => items[at] && onopen?.(at)}>
      ${width > 0 && html`<${Axis} items=${items} place=${place} width=${width} scale=${scale} />
        ${items.map(({ value, faint }, i) => value > 0 && html`<rect key=${i} x=${place.x(i)}
          class="column ${faint ? "not-steady" : ""}" y=${Math.min(bottom - 1, place.y(value))}
          width=${Math.max(0.5, place.pitch - place.gap)}
          height=${Math.max(1, bottom - place.y(value))} />`)}
        <${Marks} marks=${marks} place=${place} />
        ${items[at] && html`<rect class="cursor" x=${place.x(at) - 1} y=${TOP - 3}
          width=${place.pitch - place.gap + 2} height=${bottom - TOP + 4} />`}`}
    </svg>${keys_help}
    <p class="readout">${items[at]?.text ?? hint}</p></div><//>`;
}
