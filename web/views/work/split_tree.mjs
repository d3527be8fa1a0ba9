// SPDX-License-Identifier: Apache-2.0
// What trees of time share: a column of times, and the legend of a split bar.
import { html } from "../../base/ui.mjs";
import { ms } from "../../base/format.mjs";

export const tree_figure = (key, label, more = {}) => ({
  key, label, unit: "ms", num: true, cell: (node) => ms(node[key]),
  title: (node) => (node[key] === null ? undefined : `${node[key]} ns`), ...more,
});

/** @param {{parts: import("./split_model.mjs").Part[]}} props */
export const SplitLegend = ({ parts }) => html`<ul class="legend pass-legend">${parts
  .filter(({ ns }) => ns > 0).map(({ key, label, className }) => html`<li key=${key}><span
    class="swatch ${className}"></span>${label}</li>`)}</ul>`;
