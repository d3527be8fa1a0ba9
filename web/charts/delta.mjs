// SPDX-License-Identifier: Apache-2.0
// A difference in time: an arrow, the number and, in a table, a bar on either side of zero.
import { html } from "../base/ui.mjs";
import { ms } from "../base/format.mjs";

/** Lower is better for every time we compare. @param {number} ns */
export function tone_of(ns) {
  return ns > 0 ? "worse" : ns < 0 ? "better" : "same";
}

/** Differences below the floor have no color. */
const shown_tone = (ns, floor_ns) => (Math.abs(ns) < floor_ns ? "same small" : tone_of(ns));

/** @param {{ns: number, digits?: number, floor_ns?: number}} props */
export function Delta({ ns, digits = 3, floor_ns = 0 }) {
  const mark = ns > 0 ? "▲" : ns < 0 ? "▼" : "";
  const word = ns > 0 ? "slower" : ns < 0 ? "faster" : "no change";
  return html`<span class="delta ${shown_tone(ns, floor_ns)}">
    <span aria-hidden="true">${mark} </span>${ms(Math.abs(ns), digits)}
    <span class="visually-hidden"> ms ${word}</span></span>`;
}

/**
 * @param {{ns: number, scale_ns: number, floor_ns?: number}} props scale: the largest |difference|
 * in the table; floor: the smallest that matters
 */
export function DeltaCell({ ns, scale_ns, floor_ns = 0 }) {
  const share = scale_ns > 0 ? Math.min(1, Math.abs(ns) / scale_ns) : 0;
  const side = ns > 0 ? { left: "50%" } : { right: "50%" };
  const tone = shown_tone(ns, floor_ns);
  return html`<span class="delta-cell"><${Delta} ns=${ns}
    floor_ns=${floor_ns} />
    <span class="delta-track" aria-hidden="true"><span class="delta-bar ${tone}"
      style=${{ ...side, width: `${share * 50}%` }}></span></span></span>`;
}
