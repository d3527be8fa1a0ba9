// SPDX-License-Identifier: Apache-2.0
// The critical path as a table: of a rank by itself by category, operator, kernel or module, with
// slack; of all ranks together by rank.
import { html } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { count, ms, percent } from "../../base/format.mjs";
import { Card, ExportLinks, Help, Loaded, Segments } from "../../widgets/widgets.mjs";
import { KernelText } from "../../widgets/kernel_text.mjs";
import { use_table } from "../run/run_table.mjs";
import { PathRanks } from "./path_ranks.mjs";
import { PATH_PARTS } from "./whatif_model.mjs";

const SHOWN = 25;
const KINDS = [["category", "Categories"], ["operator", "Operators"], ["kernel", "Kernels"],
  ["module", "Modules"]];
const BREAKPOINT = "How much its calls can shrink, each by the same share, with the step "
  + "shrinking by as much; beyond that, something else limits it. Known for the 12 kernels with "
  + "the most time on the path.";
const NAMELESS = { host: "other host time", delay: "other delays" };

const part_of = (key) => PATH_PARTS.find((part) => part.key === key) ?? PATH_PARTS[0];

function Name({ row, by }) {
  const nameless = NAMELESS[row.part] ?? part_of(row.part).label.toLowerCase();
  if (!row.name) return by === "module" && row.part !== "replay_error"
    ? `${nameless}, outside modules` : nameless;
  const name = by === "kernel" ? html`<${KernelText} name=${row.name} />` : row.name;
  return row.part === "delay" ? html`before ${name}` : name;
}

/** Slack is of one call: what any of them may take longer before a step does. */
const slack_text = ({ slack_ns }) => (slack_ns === null ? "–" : ms(slack_ns));

function breakpoint_text({ breakpoint_ns, path_ns }, steps) {
  if (breakpoint_ns === null) return "–";
  return breakpoint_ns === path_ns ? "all of it" : ms(breakpoint_ns / steps);
}

function Row({ row, by, steps, whole }) {
  return html`<tr><th scope="row" class="whatif-name"><span
      class="swatch bar-${part_of(row.part).part}" title=${part_of(row.part).label}></span>
      <${Name} row=${row} by=${by} /></th>
    <td class="num" title=${`${row.path_ns} ns in all steady steps`}>${
      row.path_ns ? ms(row.path_ns / steps) : "–"}</td>
    <td class="num">${row.path_ns ? percent(row.path_share) : "–"}</td>
    <td class="num whatif-wide">${row.total_ns === null ? "–" : ms(row.total_ns / steps)}</td>
    <td class="num">${slack_text(row)}</td>
    ${by === "kernel" && html`<td class="num">${breakpoint_text(row, steps)}</td>`}
    ${!whole && html`<td class="num whatif-wide">${count(row.steps)}</td>`}</tr>`;
}

function RankPath({ run, rank, steps, by, choice, whole }) {
  const table = use_table(run, "critical_path",
    { by, rank: String(rank), sort: "-path_ns,-total_ns", limit: String(SHOWN) });
  return html`<${Card} title="On the critical path" flush
      note=${`rank ${rank} by itself${whole ? "" : ", per steady step"}`}
      actions=${html`${choice}<${ExportLinks} links=${table.links} />`}>
    <${Loaded} resource=${table.resource}>${() => html`<div class="table-region" role="group"
      tabindex="0" aria-label="Critical path"><table><thead><tr>
      <th scope="col">What</th>
      <th scope="col" class="num"><${Help} text="Time on the path.">On the path<//>
        <span class="unit"> ms</span></th>
      <th scope="col" class="num">Share</th>
      <th scope="col" class="num whatif-wide"><${Help} text="On the path or not.">All calls<//>
        <span class="unit"> ms</span></th>
      <th scope="col" class="num"><${Help} text=${"Smallest slack of its calls: how much longer " +
        "one could take before a step does."}>Slack<//><span class="unit"> ms</span></th>
      ${by === "kernel" && html`<th scope="col" class="num"><${Help} text=${BREAKPOINT}>Can
        lose<//><span class="unit"> ms</span></th>`}
      ${!whole && html`<th scope="col" class="num whatif-wide">Steps</th>`}</tr></thead>
      <tbody>${table.rows.map((row, i) => html`<${Row} key=${i} row=${row} by=${by}
        steps=${Math.max(1, steps)} whole=${whole} />`)}</tbody></table></div>`}<//><//>`;
}

/** @param {{run: string, reply: any, whole: boolean}} props reply: of the what-if */
export function PathTable({ run, reply, whole }) {
  const [{ by }, change] = use_query({ by: "category" });
  const kinds = reply.ranks.length > 1 ? [...KINDS, ["rank", "Ranks"]] : KINDS;
  const shown = kinds.some(([kind]) => kind === by) ? by : "category";
  const choice = html`<span class="path-choice"><${Segments} label="Rows" value=${shown}
    options=${kinds} onchange=${(next) => change({ by: next })} /></span>`;
  return shown === "rank" ? html`<${PathRanks} run=${run} reply=${reply} choice=${choice}
      whole=${whole} />`
    : html`<${RankPath} run=${run} rank=${reply.rank} steps=${reply.steps} by=${shown}
      choice=${choice} whole=${whole} />`;
}
