// SPDX-License-Identifier: Apache-2.0
// One stacked column per step. Eight paths draw all columns, so any number of steps is fast.
import { html, useId, useMemo, useState } from "../base/ui.mjs";
import { PARTS } from "../base/parts.mjs";
import { axis_of_time, time_in_bar, time_text } from "../base/format.mjs";
import { use_width } from "../base/hooks.mjs";
import { announce } from "../base/announce.mjs";
import { use_keys } from "./figure.mjs";
import { Hatches, paint } from "./hatch.mjs";
import { moved } from "./key_moves.mjs";
import { nice_ticks } from "./scale.mjs";

const HEIGHT = 148;
const LEFT = 44;
const BOTTOM = 18;
const TOP = 8;
const WIDEST = 170;
const SAID = { ms: "Milliseconds", s: "Seconds", min: "Minutes" };

/** @param {Record<string, any>[]} steps rows of the steps table, one rank's */
function layout(steps, width) {
  const top_ns = Math.max(...steps.map((step) => step.window_ns), 1);
  const { per, unit } = axis_of_time(top_ns);
  const ticks = nice_ticks(0, top_ns / per, 3).filter((tick) => tick * per <= top_ns);
  const pitch = Math.min(WIDEST, (width - LEFT) / steps.length);
  const gap = pitch > 8 ? Math.min(10, pitch * 0.16) : 0;
  const y = (ns) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - ns / top_ns);
  return { pitch, gap, y, ticks, per, unit, x: (i) => LEFT + i * pitch };
}

/** The path of one part over all steady, or all other, steps. */
function part_path(steps, part_index, place, steady) {
  const { x, y, pitch, gap } = place;
  let path = "";
  steps.forEach((step, i) => {
    if (Boolean(step.steady) !== steady) return;
    const below = PARTS.slice(0, part_index).reduce((sum, p) => sum + step[p.column], 0);
    const own = step[PARTS[part_index].column];
    if (own <= 0) return;
    const wide = Math.max(0.5, pitch - gap).toFixed(2);
    const from = y(below);
    const tall = Math.max(0, from - y(below + own));
    path += `M${x(i).toFixed(2)} ${from.toFixed(2)}h${wide}v${(-tall).toFixed(2)}h-${wide}z`;
  });
  return path;
}

function step_text(step) {
  const parts = PARTS.filter((part) => step[part.column] > 0)
    .map((part) => `${part.short} ${time_in_bar(step[part.column])}`)
    .join(", ");
  const excluded = step.steady ? "" : ` (excluded: ${step.reason ?? "warm-up"})`;
  return `${step.name || `step ${step.step}`}: ${time_text(step.window_ns)}${excluded}. ${parts}.`;
}

function Axis({ place, width, steps }) {
  const every = Math.ceil(steps.length / Math.max(1, Math.floor((width - LEFT) / 42)));
  const middle = (place.pitch - place.gap) / 2;
  const y = (tick) => place.y(tick * place.per);
  return html`<g class="axis">
    ${place.ticks.map((tick) => html`<g key=${tick}>
      <line x1=${LEFT} x2=${width} y1=${y(tick)} y2=${y(tick)} />
      <text x=${LEFT - 6} y=${y(tick) + 4} text-anchor="end">${tick}</text></g>`)}
    ${steps.map((step, i) => i % every === 0 && html`<text key=${`s${i}`}
      x=${place.x(i) + middle} y=${HEIGHT - 4} text-anchor="middle">${step.step}</text>`)}
  </g>`;
}

/**
 * @param {{steps: Record<string, any>[], onopen?: (step: Record<string, any>) => void}} props at
 * least one step; `onopen` is called for a step that is clicked or gets Enter
 */
export function StepColumns({ steps, onopen }) {
  const id = useId();
  const [ref, width] = use_width();
  const [at, set_at] = useState(-1);
  const [keys, keys_help] = use_keys(`Arrow keys move between steps${
    onopen ? ", Enter shows one in the timeline" : ""}.`);
  const place = useMemo(() => layout(steps, Math.max(160, width)), [steps, width]);
  const select = (i) => {
    set_at(i);
    if (i >= 0) announce(step_text(steps[i]));
  };
  const open = () => onopen && steps[at] && onopen(steps[at]);
  const on_key = (event) => {
    if (event.key === "Enter") open();
    const next = moved(event.key, at, steps.length);
    if (next === null) return;
    event.preventDefault();
    select(next);
  };
  const on_move = (event) => {
    const left = event.currentTarget.getBoundingClientRect().left;
    const i = Math.floor((event.clientX - left - LEFT) / place.pitch);
    set_at(i >= 0 && i < steps.length ? i : -1);
  };
  const chosen = steps[at];
  return html`<div class="step-columns" ref=${ref}>
    <svg width=${width} height=${HEIGHT} ...${keys}
        aria-label="Time of each of ${steps.length} steps by part, in ${
          SAID[place.unit].toLowerCase()}"
        class=${onopen && at >= 0 ? "opens" : ""} onClick=${open}
        onKeyDown=${on_key} onMouseMove=${on_move} onMouseLeave=${() => set_at(-1)}>
      <${Hatches} id=${id} />
      ${width > 0 && html`<${Axis} place=${place} width=${width} steps=${steps} />`}
      ${[true, false].map((steady) => html`<g key=${steady} class=${steady ? "" : "not-steady"}>
        ${PARTS.map((part, i) => html`<path key=${part.key} ...${paint(part, id)}
          d=${part_path(steps, i, place, steady)} />`)}</g>`)}
      ${chosen && html`<rect class="cursor" x=${place.x(at) - 1} y=${TOP - 3}
        width=${place.pitch - place.gap + 2} height=${HEIGHT - TOP - BOTTOM + 4} />`}
    </svg>${keys_help}
    <p class="readout">${chosen
      ? step_text(chosen)
      : `${SAID[place.unit]} per step; pale columns are not steady steps.${
        onopen ? " Click one to see it in the timeline." : ""}`}</p>
  </div>`;
}
