// SPDX-License-Identifier: Apache-2.0
// The critical path through all ranks as a table: what each has on it by itself, and what they do
// together.
import { html } from "../../base/ui.mjs";
import { address, run_path } from "../../base/address.mjs";
import { ms, percent } from "../../base/format.mjs";
import { Card, Help } from "../../widgets/widgets.mjs";
import { rank_rows } from "./whatif_model.mjs";

const SHOWN = 25; // ranks; the others are one row

function Row({ row, run, steps, steps_ns }) {
  const name = row.rank === null ? row.label
    : html`<a href=${address(run_path(run, "whatif"), { rank: row.rank, by: "module" })}
        title="Its path by itself">rank ${row.rank}</a>`;
  const figure = (ns) => (ns === null ? "–" : ms(ns / steps));
  return html`<tr><th scope="row">${name}</th>
    <td class="num" title=${`${row.ns} ns in all steady steps`}>${figure(row.ns)}</td>
    <td class="num">${percent(row.ns / steps_ns)}</td>
    <td class="num whatif-wide">${figure(row.own_ns)}</td>
    <td class="num whatif-wide">${figure(row.delay_ns)}</td></tr>`;
}

/** @param {{run: string, reply: any, choice: any}} props choice: of other rows */
export function PathRanks({ run, reply, choice, whole }) {
  const { steps_ns } = reply.base.critical_path;
  const steps = Math.max(1, reply.steps);
  return html`<${Card} title="On the critical path" flush actions=${choice}
      note=${`of rank ${reply.rank}'s ${whole ? "recording" : "steps"} through all ranks${
        whole ? "" : ", per steady step"}`}>
    <div class="table-region" role="group" tabindex="0" aria-label="Critical path by rank"><table>
    <thead><tr><th scope="col">Whose</th>
      <th scope="col" class="num"><${Help} text="Own work and delays.">On the path<//>
        <span class="unit"> ms</span></th>
      <th scope="col" class="num">Share</th>
      <th scope="col" class="num whatif-wide">Own work <span class="unit">ms</span></th>
      <th scope="col" class="num whatif-wide"><${Help} text=${"From what held up its work to the " +
        "start of it, such as the time of a launch."}>Delays<//><span class="unit"> ms</span></th>
    </tr></thead><tbody>${rank_rows(reply.base, SHOWN).map((row) => html`<${Row} key=${row.label}
      row=${row} run=${run} steps=${steps} steps_ns=${steps_ns} />`)}</tbody></table></div><//>`;
}
