// SPDX-License-Identifier: Apache-2.0
// A chart's figures as a plain table.
import { html } from "../base/ui.mjs";

/**
 * @param {{label: string, head: string[], rows: any[][]}} props the first column is text, the
 * others are figures
 */
export function PlainTable({ label, head, rows }) {
  return html`<div class="table-region" role="group" tabindex="0" aria-label=${label}><table>
    <thead><tr>${head.map((name, i) => html`<th scope="col" key=${name}
      class=${i > 0 ? "num" : ""}>${name}</th>`)}</tr></thead>
    <tbody>${rows.map(([first, ...rest], i) => html`<tr key=${i}><th scope="row">${first}</th>
      ${rest.map((cell, j) => html`<td class="num" key=${j}>${cell}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}
