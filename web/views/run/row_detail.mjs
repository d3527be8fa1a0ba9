// SPDX-License-Identifier: Apache-2.0
// Everything a table knows about one row: long texts in full, every figure with its definition.
import { html } from "../../base/ui.mjs";
import { value_at } from "../../base/frame.mjs";
import { label_of, write_value } from "../../base/values.mjs";
import { KernelLink, PageLink } from "../../widgets/kernel_text.mjs";
import { CopyButton, Help } from "../../widgets/widgets.mjs";

const LONG = 40;

const is_given = (value) => value !== null && value !== undefined && value !== "";

/**
 * @param {{frame: import("../../base/frame.mjs").Frame, row: number, first: string,
 *          prose?: boolean, labels: Record<string, string>, more?: any, run?: string,
 *          rank?: string}} props `first` is the
 * column of the row's name
 */
export function RowDetail({ frame, row, first, prose, labels, more, run, rank }) {
  const name = prose ? "" : String(value_at(frame, first, row) ?? "");
  const rest = Object.keys(frame.columns)
    .filter((key) => key !== first && is_given(value_at(frame, key, row)));
  const is_long = (key) => String(value_at(frame, key, row)).length > LONG;
  const write = (key) => (key === "kernel" && run
    ? html`<${KernelLink} run=${run} rank=${rank} name=${value_at(frame, key, row)} />
      <span class="full-name">${value_at(frame, key, row)}</span>`
    : write_value(value_at(frame, key, row), frame.units[key]));
  const facts = (keys, className) => keys.length > 0 && html`<dl class="facts ${className}">${
    keys.map((key) => html`<div key=${key}><dt><${Help} text=${frame.help[key]}>${
      labels[key] ?? label_of(key)}<//></dt>
      <dd class=${is_long(key) ? "mono" : ""}>${write(key)}</dd></div>`)}</dl>`;
  return html`<div class="kernel-detail">
    ${name && html`<p class="kernel-full"><code>${name}</code><${CopyButton} text=${name}
      label="Copy name" /></p>`}
    ${facts(rest.filter((key) => !is_long(key)), "")}
    ${facts(rest.filter(is_long), "facts-long")}
    ${more}
  </div>`;
}

/** The name in the first cell, which opens and closes the row's detail. */
export function OpenName({ text, title, is_open, onopen, swatch, prose, page }) {
  const name = html`<button type="button" class="kernel-name" aria-expanded=${is_open}
    title=${title ?? text} onClick=${onopen}>${swatch && html`<span class="swatch ${swatch}"
      aria-hidden="true"></span>`}<span class=${prose ? "prose" : "mono"}>${text}</span>
    </button>`;
  if (!page) return name;
  return html`<span class="paged-name">${name}<${PageLink} href=${page}
    name=${title ?? text} /></span>`;
}
