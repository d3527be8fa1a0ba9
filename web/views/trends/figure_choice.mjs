// SPDX-License-Identifier: Apache-2.0
// The choice of the figure that a trend shows.
import { html } from "../../base/ui.mjs";

/**
 * @param {{figures: import("./figure_model.mjs").Figure[], value: string,
 *          onchange: (metric: string) => void}} props
 */
export function FigureChoice({ figures, value, onchange }) {
  if (figures.length < 2) return null;
  return html`<label class="pick">Figure <select value=${value}
      onChange=${(event) => onchange(event.target.value)}>
    ${figures.map(({ metric, label, help }) => html`<option key=${metric} value=${metric}
      title=${help}>${label}</option>`)}
  </select></label>`;
}
