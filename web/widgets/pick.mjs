// SPDX-License-Identifier: Apache-2.0
// A choice in the head of a chart.
import { html } from "../base/ui.mjs";

/** Nothing with a single choice. @param {{label: string, choices: any[], chosen: any,
 *                                          onchange: (key: string) => void}} props */
export function Pick({ label, choices, chosen, onchange }) {
  if (choices.length < 2) return null;
  return html`<label class="pick"><span>${label}</span><select value=${chosen.key}
    onChange=${(event) => onchange(event.target.value)}>${choices.map((choice) => html`<option
    key=${choice.key} value=${choice.key}>${choice.label}</option>`)}</select></label>`;
}
