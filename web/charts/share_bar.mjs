// SPDX-License-Identifier: Apache-2.0
// A share as a small bar with its number, for table cells; the bar may be split into kinds.
import { html } from "../base/ui.mjs";
import { percent } from "../base/format.mjs";

const bounded = (share) => Math.min(1, Math.max(0, share));

/**
 * @param {{share: number|null, className?: string,
 *          split?: {key: string, label: string, share: number, className: string}[]}} props
 * `share` is of the full width; the shares of `split` are of the bar and sum to 1.
 */
export function ShareBar({ share, className = "share-plain", split }) {
  if (share === null || share === undefined) return html`<span class="faint">–</span>`;
  const parts = split ?? [{ key: "all", label: "", share: 1, className }];
  const words = split?.filter((part) => part.share > 0)
    .map((part) => `${part.label} ${percent(part.share)}`).join(", ");
  return html`<span class="share-cell" title=${words}>
    <span class="share-track" aria-hidden="true"><span class="share-fill"
      style=${{ width: `${100 * bounded(share)}%` }}>${parts.map((part) => part.share > 0 &&
        html`<span key=${part.key} class=${part.className}
          style=${{ flexGrow: part.share }}></span>`)}
    </span></span>
    <span class="share-value">${percent(share)}${words && html`<span class="visually-hidden">: ${
      words}</span>`}</span></span>`;
}
