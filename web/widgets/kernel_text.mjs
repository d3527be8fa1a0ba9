// SPDX-License-Identifier: Apache-2.0
// The name of a kernel wherever one appears: its short label, with an ellipsis in the middle where
// there is no room, and the full name on demand.
import { html } from "../base/ui.mjs";
import { kernel_path, operator_path } from "../base/address.mjs";
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
  const short = known || label;
  const text = short || short_kernel(name);
  const split = text.length > 2 * TAIL ? text.length - TAIL : text.length;
  const style = `kernel-text mono${short ? " kernel-label" : ""}`;
  return html`<span class=${style} title=${name}><span class="kernel-head">${
    text.slice(0, split)}</span>${split < text.length && html`<span>${text.slice(split)}</span>`
  }</span>`;
}

/**
 * A kernel's name that leads to its page.
 * @param {{run: string, name: string|null, label?: string|null, rank?: any}} props
 */
export function KernelLink({ run, name, label, rank }) {
  if (!name || name === "(other kernels)") return html`<span class="faint">${name || "–"}</span>`;
  return html`<a class="name-link" href=${kernel_path(run, name, rank)}><${KernelText} name=${name}
    label=${label} /></a>`;
}

/** An operator's name that leads to its page; `none` stands in for no name. */
export function OpLink({ run, name, rank, text = name, none = "–" }) {
  const href = operator_path(run, name, rank);
  if (!href) return html`<span class="faint">${name || none}</span>`;
  const split = text.length > 2 * TAIL ? text.length - TAIL : text.length;
  return html`<a class="name-link mono" title=${name} href=${href}><span
    class="kernel-head">${text.slice(0, split)}</span>${split < text.length && html`<span>${
    text.slice(split)}</span>`}</a>`;
}

/** A mark beside a name that opens a row: the way to its page. */
export const PageLink = ({ href, name, title = "Its page" }) => html`<a class="page-link"
  href=${href} title=${title} aria-label="${title}: ${name}">→</a>`;
