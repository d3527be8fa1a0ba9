// SPDX-License-Identifier: Apache-2.0
// Common to small and large trends: levels between changes, flags of alerts.
import { html } from "../base/ui.mjs";

/**
 * @param {{levels: {begin: number, end: number, value: number}[], place: any, reach: number}} props
 */
export function Levels({ levels, place, reach }) {
  return levels.map(({ begin, end, value }) => html`<line key=${begin} class="trend-level"
    x1=${place.x(begin) - reach} x2=${place.x(end - 1) + reach} y1=${place.y(value)}
    y2=${place.y(value)} />`);
}

/** A flag on a pole above each run with an open alert. */
export function Flags({ points, alarmed, place }) {
  const d = points.map((point, i) => (alarmed.has(point.run)
    ? `M${place.x(i).toFixed(1)} ${(place.y(point.value) - 5).toFixed(1)}v-13l9 3.5l-9 3.5`
    : "")).join("");
  return d && html`<path class="trend-flag" d=${d} />`;
}
