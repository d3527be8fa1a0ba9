// SPDX-License-Identifier: Apache-2.0
// Why the job hangs, by the Flight Recorder dumps of its ranks: who to look at, which process
// groups wait, and where each rank stands.
import { html } from "../../base/ui.mjs";
import { capital } from "../../base/format.mjs";
import { Card, ExportLinks } from "../../widgets/widgets.mjs";
import { RankTable } from "../run/rank_table.mjs";
import { HangMatrix } from "./hang_matrix.mjs";

const GROUPS = {
  id: "hang_groups",
  caption: "Process groups with unfinished collectives",
  sort: "sequence",
  limit: 20,
  columns: [
    { key: "process_group", label: "Process group", className: "clip", width_px: 240 },
    { key: "ranks", label: "Ranks", className: "mono clip", width_px: 120 },
    { key: "state", label: "State" },
    { key: "sequence", label: "Number", priority: 3 },
    { key: "operation", label: "Operation", className: "mono", priority: 2 },
    { key: "waiting", label: "Waiting", className: "mono clip", width_px: 120, priority: 2 },
    { key: "behind", label: "Behind", className: "mono", sparse: true },
    { key: "absent", label: "Not there", className: "mono", sparse: true },
    { key: "no_dump", label: "No dump", className: "mono", sparse: true, priority: 3 },
    { key: "mismatch", label: "Mismatch", className: "clip", width_px: 200, sparse: true },
    { key: "frames", label: "Called from", className: "mono clip", width_px: 200, sparse: true,
      priority: 4 },
  ],
};

const RANKS = {
  id: "hang_ranks",
  caption: "Where the ranks stand",
  sort: "rank",
  limit: 20,
  columns: [
    { key: "rank", label: "Rank" },
    { key: "unfinished", label: "Unfinished", priority: 2 },
    { key: "behind_in", label: "Behind in" },
    { key: "absent_in", label: "Absent in" },
    { key: "waits_in", label: "Waits in" },
    { key: "last_completed", label: "Last completed", className: "clip", width_px: 260,
      priority: 3 },
    { key: "first_unfinished", label: "First unfinished", className: "clip", width_px: 260,
      priority: 2 },
  ],
};

const Verdict = ({ row }) => html`<li><strong>${row.verdict}</strong>
  <span class="faint"> ${capital(row.confidence)} confidence. ${row.why}</span>
  ${row.frames && html`<br />Called from <code>${row.frames}</code>`}</li>`;

/**
 * Nothing without dumps.
 * @param {{verdict: any, groups: any, ranks: any, progress: any}} props tables
 */
export function Hang({ verdict, groups, ranks, progress }) {
  if (verdict.rows.length === 0) return null;
  return html`<${Card} title="Hang" note="by the Flight Recorder dumps of the ranks"
      actions=${html`<${ExportLinks} links=${verdict.links} />`}>
      <ul class="hang-verdict">${verdict.rows.map((row) => html`<${Verdict} key=${row.kind}
        row=${row} />`)}</ul>
      ${progress.rows.length > 0 && html`<${HangMatrix} rows=${progress.rows} />`}<//>
    ${groups.rows.length > 0 && html`<${Card} title="Waiting process groups" flush=${true}>
      <${RankTable} frame=${groups.frame} view=${GROUPS} /><//>`}
    <${Card} title="Where the ranks stand" flush=${true}>
      <${RankTable} frame=${ranks.frame} view=${RANKS} /><//>`;
}
