// SPDX-License-Identifier: Apache-2.0
// One horizontal bar of any named segments, largest first, with its key below.
import { html } from "../base/ui.mjs";
import { percent, time_in_bar, time_text } from "../base/format.mjs";
import { ChartFigure } from "./figure.mjs";
import { PlainTable } from "./plain_table.mjs";

const LABEL_FROM = 0.06; // narrower segments have no label

/** @typedef {{key: string, label: string, value: number, part: string, help?: string}} Segment */

const largest_first = (items) =>
  items.filter(({ value }) => value > 0).sort((a, b) => b.value - a.value);

/** "GEMM 46.1 %, attention 17.2 %, ...", largest first. @param {Segment[]} items */
function segments_sentence(items) {
  const total = items.reduce((sum, { value }) => sum + value, 0);
  return largest_first(items).map(({ label, value }) => `${label} ${percent(value / total)}`)
    .join(", ");
}

function Bar({ item, total, write }) {
  const share = item.value / total;
  return html`<span class="segment bar-${item.part}" style=${{ flexGrow: item.value }}
      title="${item.label}: ${write(item.value, true)}, ${percent(share)}">
    ${share >= LABEL_FROM && html`<span class="segment-name">${item.label}</span>
      <span class="segment-value">${write(item.value)}</span>`}</span>`;
}

const write_ms = (value, with_unit) => (with_unit ? time_text(value) : time_in_bar(value));

/**
 * @param {{items: Segment[], caption: string, head?: string, actions?: any, bare?: boolean,
 *          write?: (value: number, with_unit?: boolean) => string}} props
 * `part` selects the color; `bare` leaves out the key if a table below says the same.
 */
export function Segments({ items, caption, head = "Part", actions, bare, write = write_ms }) {
  const shown = largest_first(items);
  const total = shown.reduce((sum, { value }) => sum + value, 0);
  const table = () => html`<${PlainTable} label=${caption} head=${[head, "Amount", "Share"]}
    rows=${shown.map(({ label, value }) =>
      [label, write(value, true), percent(value / total)])} />`;
  return html`<${ChartFigure} caption=${caption} table=${table} actions=${actions}>
    <div class="stack" role="img" aria-label=${segments_sentence(shown)}>${shown.map((item) =>
      html`<${Bar} key=${item.key} item=${item} total=${total} write=${write} />`)}</div>
    ${!bare && html`<ul class="keys">${shown.map(({ key, label, value, part, help }) =>
      html`<li key=${key} title=${help}><span class="swatch bar-${part}"></span>
        <span class="key-name">${label}</span><span class="key-value">${write(value, true)}</span>
        <span class="key-share">${percent(value / total)}</span></li>`)}</ul>`}
  <//>`;
}
