// SPDX-License-Identifier: Apache-2.0
// The frame of every chart: a sentence that says what it shows, and the same numbers as a table.
import { html, useId, useState } from "../base/ui.mjs";

/**
 * @param {{caption: string, table?: () => any, legend?: any, actions?: any, children: any}} props
 * without `table` if the page has the same numbers in a table below the chart
 */
export function ChartFigure({ caption, table, legend, actions, children }) {
  const [as_table, set_as_table] = useState(false);
  return html`<figure class="chart">
    <div class="chart-bar">
      <figcaption>${caption}</figcaption>
      <div class="chart-actions">${actions}
        ${table && html`<button type="button" class="small" aria-pressed=${as_table}
          onClick=${() => set_as_table(!as_table)}>Table</button>`}</div>
    </div>
    ${as_table ? table() : html`${children}${legend}`}
  </figure>`;
}

/**
 * A chart that takes keys: the properties of its element, and the text beside it that tells screen
 * readers what they do. @param {string} text @param {string} [kind]
 */
export function use_keys(text, kind = "chart") {
  const id = useId();
  return [{ role: "application", tabindex: "0", "aria-roledescription": kind,
    "aria-describedby": id }, html`<p id=${id} hidden>${text}</p>`];
}

/** A color key as a list. @param {{parts: import("../base/parts.mjs").Part[]}} props */
export function Legend({ parts }) {
  return html`<ul class="legend">${parts.map(
    ({ key, label }) => html`<li key=${key}><span class="swatch bar-${key}"></span>${label}</li>`,
  )}</ul>`;
}
