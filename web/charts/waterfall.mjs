// SPDX-License-Identifier: Apache-2.0
// Where the time went between two runs: base, one floating column per part, candidate. A column
// that has parts opens by click or Enter.
import { html, useEffect, useId, useRef } from "../base/ui.mjs";
import { ms, ms_signed, time_in_bar, time_text } from "../base/format.mjs";
import { use_width } from "../base/hooks.mjs";
import { part_of } from "../base/parts.mjs";
import { tone_of } from "./delta.mjs";
import { ChartFigure } from "./figure.mjs";
import { Hatches, paint } from "./hatch.mjs";
import { linear } from "./scale.mjs";
import { axis_of, floating, ticks_of } from "./waterfall_model.mjs";

const HEIGHT = 252;
const TOP = 22;
const BOTTOM = 46;
const LEFT = 48;
const NARROWEST = 66; // of a column: fits "▼ 0.00245"

const direction = (ns, floor_ns) => (Math.abs(ns) < floor_ns ? "same" : tone_of(ns));
const FAR_BELOW = 20; // the smallest difference that matters divided by it: less is about 0
const arrow = (ns) => (ns > 0 ? "▲" : ns < 0 ? "▼" : "");
const word = (ns) => (ns > 0 ? "slower" : ns < 0 ? "faster" : "the same");

/** "▼ 242", "≈ 0" for what is far too small to matter; the title has the exact figure. */
const delta_text = (ns, floor_ns) => (ns !== 0 && Math.abs(ns) < floor_ns / FAR_BELOW ? "≈ 0"
  : `${arrow(ns)} ${time_in_bar(Math.abs(ns))}`);

/** As many characters as fit a column; a namespace is cut before the name. */
function clipped(text, pixels) {
  const room = Math.max(4, Math.floor((pixels - 8) / 7));
  if (text.length <= room) return text;
  const name = text.replace(/^\w+::/, "");
  return name.length <= room ? name : `${name.slice(0, room - 1)}…`;
}

function column_text(column) {
  const change = `${time_text(Math.abs(column.delta_ns))} ${word(column.delta_ns)}`;
  return `${column.full}: ${time_text(column.base_ns)} to ${time_text(column.cand_ns)}, ${change}`;
}

function End({ x, wide, y, axis, ns, name }) {
  return html`<g class="wf-end">
    <rect x=${x} width=${wide} y=${y(ns)} height=${y(axis.low) - y(ns)} />
    ${axis.is_cut && html`<path class="wf-break"
      d="M${x - 2} ${y(axis.low) - 9}l${wide / 4 + 1} -5 ${wide / 4 + 1} 5 ${wide / 4 + 1} -5 ${
        wide / 4 + 1} 5" />`}
    <text class="wf-value" x=${x + wide / 2} y=${y(ns) - 6} text-anchor="middle">${
      time_in_bar(ns, 4)}</text>
    <text class="wf-name" x=${x + wide / 2} y=${HEIGHT - BOTTOM + 18} text-anchor="middle"
      >${name}</text>
  </g>`;
}

function Step({ column, at, x, wide, pitch, y, id, floor_ns, onopen }) {
  const top = Math.min(y(at.from_ns), y(at.to_ns));
  const tall = Math.max(1.5, Math.abs(y(at.from_ns) - y(at.to_ns)));
  const part = part_of(column.part);
  const open = column.opens && (() => onopen(column.opens));
  const on_key = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    open();
  };
  const label = clipped(column.label, pitch);
  return html`<g class="wf-step ${direction(column.delta_ns, floor_ns)} ${open ? "opens" : ""}"
      role=${open ? "button" : "img"} tabindex=${open ? 0 : undefined}
      aria-label=${open ? undefined : column_text(column)}
      onClick=${open || undefined} onKeyDown=${open ? on_key : undefined}>
    <title>${column_text(column)}${open ? ". Show its parts" : ""}</title>
    <rect class="wf-hit" x=${x - (pitch - wide) / 2} y="0" width=${pitch} height=${HEIGHT} />
    <rect ...${paint(part, id)} x=${x} width=${wide} y=${top}
      height=${tall} />
    <line class="wf-link" x1=${x} x2=${x + pitch + wide} y1=${y(at.to_ns)} y2=${y(at.to_ns)} />
    <text class="wf-value" x=${x + wide / 2} y=${top - 6} text-anchor="middle">${
      delta_text(column.delta_ns, floor_ns)}</text>
    <text class="wf-name" x=${x + wide / 2} y=${HEIGHT - BOTTOM + 18} text-anchor="middle"
      >${label}</text>
    ${open && html`<text class="wf-more" x=${x + wide / 2} y=${HEIGHT - BOTTOM + 33}
      text-anchor="middle">open</text>`}
  </g>`;
}

/** Opening a column removes it; the focus then goes to the chart instead of the top of the page. */
function use_focus_when_lost(ref, level) {
  const shown = useRef(level);
  useEffect(() => {
    if (shown.current === level) return;
    shown.current = level;
    if (document.activeElement === document.body) ref.current?.focus({ preventScroll: true });
  }, [level]);
}

function level_table(level, names) {
  const { columns, base_ns, cand_ns, delta_ns } = level;
  const row = (name, base, cand, delta, kind) => html`<tr class=${kind}>
    <th scope="row">${name}</th><td class="num">${ms(base, 4)}</td>
    <td class="num">${ms(cand, 4)}</td><td class="num">${ms_signed(delta, 4)}</td></tr>`;
  return html`<div class="table-region" role="group" tabindex="0" aria-label="Differences by part">
    <table><thead><tr><th scope="col">Part</th>
      ${[names[0], names[1], "Difference"].map((name) => html`<th scope="col" class="num"
        key=${name}>${name}<span class="unit">ms</span></th>`)}</tr></thead>
    <tbody>${columns.map((c) => row(c.label, c.base_ns, c.cand_ns, c.delta_ns, ""))}
      ${row("Sum", base_ns, cand_ns, delta_ns, "sum")}</tbody></table></div>`;
}

/**
 * @param {{level: ReturnType<typeof import("./waterfall_model.mjs").waterfall_level>,
 *          caption: string, names: [string, string], floor_ns?: number, actions?: any,
 *          onopen: (place: import("./waterfall_model.mjs").Place) => void,
 *          onup: () => void}} props `floor_ns` is the smallest difference that matters
 */
export function Waterfall({ level, caption, names, floor_ns = 0, actions, onopen, onup }) {
  const id = useId();
  const [ref, width] = use_width();
  const { columns, base_ns, cand_ns } = level;
  const places = floating(columns, base_ns);
  const axis = axis_of([base_ns, cand_ns, ...places.flatMap((p) => [p.from_ns, p.to_ns])]);
  const y = linear(axis.low, axis.high, HEIGHT - BOTTOM, TOP);
  const pitch = Math.max(NARROWEST, (width - LEFT) / (columns.length + 2));
  const wide = Math.min(54, pitch * 0.62);
  const x = (i) => LEFT + i * pitch + (pitch - wide) / 2;
  const full = Math.max(width, LEFT + pitch * (columns.length + 2));
  const { ticks, unit } = ticks_of(axis);
  use_focus_when_lost(ref, level);
  const on_key = (event) => {
    if (event.key === "Escape" || event.key === "Backspace") onup();
  };
  return html`<${ChartFigure} caption=${caption} actions=${actions}
      table=${() => level_table(level, names)}>
    <div class="waterfall" ref=${ref} role="group" aria-label=${caption} tabindex="0"
        onKeyDown=${on_key}>
      <svg width=${full} height=${HEIGHT}>
        <${Hatches} id=${id} />
        <g class="axis" aria-hidden="true">${ticks.map(({ ns, text }) => html`<g key=${ns}>
          <line x1=${LEFT} x2=${full} y1=${y(ns)} y2=${y(ns)} />
          <text x=${LEFT - 6} y=${y(ns) + 4} text-anchor="end">${text}</text>
        </g>`)}${unit && html`<text x=${LEFT - 6} y="10" text-anchor="end">${unit}</text>`}</g>
        <${End} x=${x(0)} wide=${wide} y=${y} axis=${axis} ns=${base_ns} name="Base" />
        <line class="wf-link" x1=${x(0)} x2=${x(1)} y1=${y(base_ns)} y2=${y(base_ns)} />
        ${columns.map((column, i) => html`<${Step} key=${column.key} column=${column}
          at=${places[i]} x=${x(i + 1)} wide=${wide} pitch=${pitch} y=${y} id=${id}
          floor_ns=${floor_ns} onopen=${onopen} />`)}
        <${End} x=${x(columns.length + 1)} wide=${wide} y=${y} axis=${axis} ns=${cand_ns}
          name="Candidate" />
      </svg>
    </div>
  <//>`;
}
