// SPDX-License-Identifier: Apache-2.0
// How devices are connected, as a matrix: the darker a cell, the faster its path.
import { html } from "../base/ui.mjs";
import { ChartFigure } from "./figure.mjs";

const title_of = (from, to, cell) => `${from.name} to ${to.name}: ${
  cell.kind}${cell.meaning ? `, ${cell.meaning}` : ""}`;

function Cell({ matrix, from, to }) {
  const cell = matrix.cell(from.name, to.name);
  if (!cell) return html`<td class="topo-self" aria-label="itself or unknown"></td>`;
  const tone = matrix.kinds.find(({ kind }) => kind === cell.kind)?.tone;
  return html`<td class="topo-${tone}" title=${title_of(from, to, cell)}>${cell.kind}</td>`;
}

const Head = ({ place, scope }) => html`<th scope=${scope} title=${place.device}>${
  place.name}${scope === "row" && place.device && html` <span class="faint">${
  place.device}</span>`}</th>`;

function Legend({ kinds }) {
  return html`<ul class="legend">${kinds.map(({ kind, meaning, tone }) => html`<li key=${kind}>
    <span class="swatch topo-key topo-${tone}"></span><b class="topo-kind">${kind}</b>${
      meaning}</li>`)}</ul>`;
}

/**
 * @param {{matrix: {places: {name: string, device: string|null}[],
 *            cell: (from: string, to: string) => {kind: string, meaning: string|null}|null,
 *            kinds: {kind: string, meaning: string|null, tone: string}[]},
 *          caption: string, actions?: any}} props
 */
export function Topology({ matrix, caption, actions }) {
  return html`<${ChartFigure} caption=${caption} actions=${actions}
      legend=${html`<${Legend} kinds=${matrix.kinds} />`}>
    <div class="topo-frame" tabindex="0" role="region" aria-label="Matrix of paths">
      <table class="topology"><thead><tr><td></td>${matrix.places.map((place) => html`<${Head}
        key=${place.name} place=${place} scope="col" />`)}</tr></thead>
      <tbody>${matrix.places.map((from) => html`<tr key=${from.name}>
        <${Head} place=${from} scope="row" />
        ${matrix.places.map((to) => html`<${Cell} key=${to.name} matrix=${matrix} from=${from}
          to=${to} />`)}</tr>`)}</tbody></table></div>
  <//>`;
}
