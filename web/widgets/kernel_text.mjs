// SPDX-License-Identifier: Apache-2.0
// The name of a kernel wherever one stands: its short label, with an ellipsis in the middle where
// there is no room, and the full name on demand.
import { html } from "../base/ui.mjs";
import { short_kernel } from "../base/format.mjs";
import { use_kernel_label, use_kernel_labels } from "../base/kernel_labels.mjs";

const TAIL = 14; // characters at the end that stay visible: tiles and types differ there

/** Loads the labels of these runs for the names on a page. @param {{runs: string[]}} props */
export function KernelLabels({ runs }) {
  use_kernel_labels(runs);
  return null;
}

/** @param {{name: string|null, label?: string|null}} props */
export function KernelText({ name, label }) {
  const known = use_kernel_label(name);
  const short = label || known;
  const text = short || short_kernel(name);
  const split = text.length > 2 * TAIL ? text.length - TAIL : text.length;
  const style = `kernel-text mono${short ? " kernel-label" : ""}`;
  return html`<span class=${style} title=${name}><span class="kernel-head">${
    text.slice(0, split)}</span>${split < text.length && html`<span>${text.slice(split)}</span>`
  }</span>`;
}
