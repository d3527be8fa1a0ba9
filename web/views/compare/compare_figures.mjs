// SPDX-License-Identifier: Apache-2.0
// Figures of both sides, whatever their source: throughput, utilization, memory, power, loss.
import { html } from "../../base/ui.mjs";
import { use_api } from "../../base/api.mjs";
import { typeset } from "../../base/format.mjs";
import { PlainTable } from "../../charts/plain_table.mjs";
import { Card } from "../../widgets/widgets.mjs";

const cell_of = ({ text, note }) =>
  html`${text || "–"}${note && html`<small>${typeset(note)}</small>`}`;

/** Whether a row has a figure, and not only what is in the head. */
const says_something = ([, ...cells], [, ...head]) =>
  cells.some(({ text }, i) => text && text !== head[i]);

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
      note="each with its source, and the difference from the base">
    <${PlainTable} label="Figures of both sides" head=${figures.columns}
      rows=${figures.rows.filter((row) => says_something(row, figures.columns))
        .map(([first, ...cells]) => [first.text, ...cells.map(cell_of)])} /><//>`;
}
