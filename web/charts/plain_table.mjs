// SPDX-License-Identifier: Apache-2.0
// A chart's figures as a plain table.
import { html } from "../base/ui.mjs";

/**
 * @param {{label: string, head: string[], rows: any[][], texts?: number, figures?: number}} props
 * the first column, or as many as `texts`, is text, then come figures, as many as `figures` or to
 * the end, then text again
 */
export function PlainTable({ label, head, rows, texts = 1, figures = head.length }) {
  const kind = (i) => (i >= texts && i < texts + figures ? "num" : "");
  return html`<div class="table-region" role="group" tabindex="0" aria-label=${label}><table>
    <thead><tr>${head.map((name, i) => html`<th scope="col" key=${name}
      class=${kind(i)}>${name}</th>`)}</tr></thead>
    <tbody>${rows.map(([first, ...rest], i) => html`<tr key=${i}><th scope="row">${first}</th>
      ${rest.map((cell, j) => html`<td class=${kind(j + 1)} key=${j}>${cell}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}
