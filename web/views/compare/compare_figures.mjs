// SPDX-License-Identifier: Apache-2.0
// Figures of both sides, whatever their source: throughput, utilization, memory, power, loss.
import { html } from "../../base/ui.mjs";
import { use_api } from "../../base/api.mjs";
import { PlainTable } from "../../charts/plain_table.mjs";
import { Card } from "../../widgets/widgets.mjs";

const cell_of = ({ text, note }) => html`${text || "–"}${note && html`<small>${note}</small>`}`;

/**
 * The first table of the report of these sides.
 * @param {{sides: string[]}} props keys of runs; repeats joined by commas
 */
export function ComparedFigures({ sides }) {
  const runs = sides.map((side) => `run=${encodeURIComponent(side)}`).join("&");
  const { data } = use_api(`/report?${runs}&format=json`);
  const figures = data?.sections[0];
  if (!figures) return null;
  return html`<${Card} title="Figures" className="compared-figures"
      note="each with its source, and the difference to the base">
    <${PlainTable} label="Figures of both sides" head=${figures.columns}
      rows=${figures.rows.map(([first, ...cells]) => [first.text, ...cells.map(cell_of)])} /><//>`;
}
