// SPDX-License-Identifier: Apache-2.0
// The range in the address, and a line that says what it filters.
import { html } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";

/** The range in the address, "" for none, and what changes it. */
export function use_range() {
  const [{ range }, change] = use_query({ range: "" });
  return [range, (next) => change({ range: next })];
}

const Clear = ({ onclick }) => html`<button type="button" class="link" onClick=${onclick}>Clear the
  range</button>`;

const FILTERS = "Only work launched within it; tables that it cannot filter say so.";

/** @param {{range: string, what?: string, onclear: () => void}} props */
export function RangeLine({ range, what = FILTERS, onclear }) {
  if (range === "") return null;
  return html`<span class="faint" role="status">${what} <${Clear} onclick=${onclear} /></span>`;
}

/** On a page without a table by range. */
export function RangeIgnored() {
  const [range, change] = use_range();
  if (range === "") return null;
  return html`<p class="faint range-ignored" role="status">The range <span
    class="mono">${range}</span> does not filter this page. <${Clear}
    onclick=${() => change("")} /></p>`;
}
