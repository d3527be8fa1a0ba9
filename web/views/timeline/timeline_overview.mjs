// SPDX-License-Identifier: Apache-2.0
// Below a rank's timeline: the span in view on all ranks of the run, in one small answer.
import { html } from "../../base/ui.mjs";
import { address, run_path } from "../../base/address.mjs";
import { count, plural } from "../../base/format.mjs";
import { use_query } from "../../base/router.mjs";
import { RankOverview } from "../../charts/timeline/rank_overview.mjs";
import { lane_name, lane_ranks, overview_caption } from "../../charts/rank_overview_model.mjs";
import { whole_span } from "../../charts/timeline/timeline_view.mjs";
import { Card, Loading, ProblemNotice } from "../../widgets/widgets.mjs";
import { run_api } from "../run/run_frame.mjs";
import { use_rested } from "./timeline_data.mjs";

const PIECES = 500;
const LANES = 16;

/** "8 of 1,024 ranks", "1,024 ranks, 64 a lane" */
function lanes_text({ lanes, ranks, ranks_a_lane }) {
  const shown = lanes.reduce((sum, lane) => sum + lane.ranks, 0);
  return `${shown < ranks ? `${count(shown)} of ` : ""}${plural(ranks, "rank")}${
    ranks_a_lane > 1 ? `, ${count(ranks_a_lane)} a lane` : ""}`;
}

/** @param {{run: string, rank: number, view: {from: number, to: number}}} props */
export function TimelineOverview({ run, rank, view }) {
  const [{ group }, change] = use_query({ group: "" });
  const { from, to } = whole_span(view);
  const path = address(run_api(run, "timeline/ranks"), { rank, ranks: group,
    from_ns: Math.max(0, from), to_ns: to, px: PIECES, lanes: LANES });
  const { data, problem, loading } = use_rested(path, (answer) => ({ ...answer,
    view: { from: Math.max(0, from), to } }));
  if (problem?.status === 404 && group === "") return null; // analyzed before there was one
  const opens = (lane) => html`<button type="button" class="link"
    title="Show its ranks" onClick=${() => change({ group: lane_ranks(lane) })}>${
    lane_name(lane)}</button>`;
  const link = (lane) => (lane.ranks > 1 ? opens(lane)
    : html`<a href=${address(run_path(run, "timeline"), { rank: lane.first_rank, from, to })}>${
      lane_name(lane)}</a>`);
  return html`<${Card} title="All ranks" note="${data ? `${lanes_text(data)}; ` : ""
    }what devices do in the span in view, clocks aligned"
    actions=${group !== "" && html`<button type="button" class="small"
      onClick=${() => change({ group: "" })}>All ranks</button>`}>
    ${problem ? html`<${ProblemNotice} problem=${problem} />`
    : !data ? html`<${Loading} />`
    : html`<div aria-busy=${loading}><${RankOverview} data=${data} caption=${overview_caption(data)}
        link=${link} /></div>`}<//>`;
}
