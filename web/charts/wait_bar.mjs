// SPDX-License-Identifier: Apache-2.0
// Exposed communication in a table cell: a bar of waiting and transfer, and their sum.
import { html } from "../base/ui.mjs";
import { ms, time_text } from "../base/format.mjs";

/**
 * @param {{wait_ns: number|null, transfer_ns: number|null, scale_ns: number}} props `scale_ns` is
 * what the full width represents
 */
export function WaitBar({ wait_ns, transfer_ns, scale_ns }) {
  if (wait_ns === null && transfer_ns === null) return "–";
  const [wait, transfer] = [wait_ns ?? 0, transfer_ns ?? 0];
  const words = `waiting ${time_text(wait)}, transfer ${time_text(transfer)}`;
  return html`<span class="share-cell" title=${words}>
    <span class="share-track" aria-hidden="true"><span class="share-fill"
      style=${{ width: `${(100 * (wait + transfer)) / (scale_ns || 1)}%` }}>
      ${wait > 0 && html`<span class="bar-exposed_wait" style=${{ flexGrow: wait }}></span>`}
      ${transfer > 0 && html`<span class="bar-exposed_transfer"
        style=${{ flexGrow: transfer }}></span>`}</span></span>
    <span class="share-value">${ms(wait + transfer)}<span class="visually-hidden">: ${words}</span>
    </span></span>`;
}
