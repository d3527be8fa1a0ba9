// SPDX-License-Identifier: Apache-2.0
// One counter over time, stepped, as a small multiple without axes.
import { html } from "../base/ui.mjs";
import { use_width } from "../base/hooks.mjs";
import { step_path } from "./memory_model.mjs";
import { linear } from "./scale.mjs";

const HEIGHT = 56;

/**
 * @param {{series: {points: any[], low: number, high: number, begin_ns: number, end_ns: number},
 *          label: string}} props at least two points
 */
export function CounterLine({ series, label }) {
  const [ref, width] = use_width();
  const x = linear(series.begin_ns, series.end_ns, 1, Math.max(2, width - 1));
  const y = linear(series.low, series.high, HEIGHT - 2, 4);
  return html`<div ref=${ref} class="counter-line"><svg width=${width} height=${HEIGHT} role="img"
      aria-label=${label}>${width > 0 && html`<line class="counter-zero" x1="0" x2=${width}
        y1=${y(0)} y2=${y(0)} /><path class="memory-allocated-line"
        d=${step_path(series.points, "value", x, y)} />`}</svg></div>`;
}
