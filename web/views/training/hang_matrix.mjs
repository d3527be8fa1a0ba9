// SPDX-License-Identifier: Apache-2.0
// How far each rank is in each waiting process group, the late ones marked.
import { html, useMemo, useState } from "../../base/ui.mjs";
import { count } from "../../base/format.mjs";
import { ChartFigure } from "../../charts/figure.mjs";
import { cell_words, hang_matrix, is_late, matrix_caption, number_of, short_group }
  from "./hang_model.mjs";

const FEW = 24;

function Cell({ cell }) {
  if (!cell) return html`<td></td>`;
  const number = number_of(cell);
  const text = number === null ? cell.state.replace("_", " ") : number;
  return html`<td class="hang-${is_late(cell) ? "late" : cell.state}" title=${cell_words(cell)}>${
    is_late(cell) && html`<span aria-hidden="true">▾ </span>`}${text}${
    is_late(cell) && html`<span class="visually-hidden"> late</span>`}</td>`;
}

/** Long names break at their underscores. */
const Name = ({ name }) => name.split(/(?<=_)/).map((part) => html`${part}<wbr />`);

const LEGEND = html`<ul class="legend">
  <li><span class="swatch hang-key hang-late"></span>late: others wait for it</li>
  <li><span class="swatch hang-key hang-waits"></span>waits</li>
  <li><span class="swatch hang-key hang-past"></span>has moved on</li></ul>`;

/** @param {{rows: any[]}} props rows of hang_progress, at least one */
export function HangMatrix({ rows }) {
  const { groups, ranks } = useMemo(() => hang_matrix(rows), [rows]);
  const [all, set_all] = useState(false);
  const shown = all ? ranks : ranks.slice(0, FEW);
  const more = ranks.length > FEW && html`<button type="button" class="small" aria-pressed=${all}
    onClick=${() => set_all(!all)}>All ${count(ranks.length)} ranks</button>`;
  return html`<${ChartFigure} caption=${matrix_caption(ranks)} actions=${more} legend=${LEGEND}>
    <div class="topo-frame" tabindex="0" role="region" aria-label="Ranks by process group">
      <table class="hang-matrix"><thead><tr><th scope="col">Rank</th>${groups.map((name) =>
        html`<th scope="col" key=${name} title=${name}><${Name} name=${short_group(name)} /></th>`)}
      </tr></thead><tbody>${shown.map((row) => html`<tr key=${row.rank}>
        <th scope="row" class=${row.is_late ? "hang-late" : ""}>${row.rank}</th>
        ${row.cells.map((cell, i) => html`<${Cell} key=${groups[i]} cell=${cell} />`)}
      </tr>`)}</tbody></table></div>
    <p class="readout">The number of the collective that a rank is in, else of the last that it
      entered.</p>
  <//>`;
}
