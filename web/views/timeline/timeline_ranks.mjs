// SPDX-License-Identifier: Apache-2.0
// Below a rank's timeline: the span in view on several ranks, on one clock.
import { html, useMemo } from "../../base/ui.mjs";
import { address, run_path } from "../../base/address.mjs";
import { count, time_text } from "../../base/format.mjs";
import { use_query } from "../../base/router.mjs";
import { use_rows } from "../../base/rows.mjs";
import { RankLanes } from "../../charts/timeline/rank_lanes.mjs";
import { rank_lanes, ranks_of_text, spread_ranks, waits_of }
  from "../../charts/rank_lanes_model.mjs";
import { whole_span } from "../../charts/timeline/timeline_view.mjs";
import { Card, Loaded, Loading, ProblemNotice, SearchBox, Segments }
  from "../../widgets/widgets.mjs";
import { run_api } from "../run/run_frame.mjs";
import { use_rested } from "./timeline_data.mjs";

const MOST_EVENTS = 150_000; // of all ranks together, by those of the shown one
const CHOICES = [["", "Off"], ["spread", "Slowest, median, fastest"], ["all", "All"]];
const WORDS = ["slowest", "median", "fastest"];

/** The ranks that the address asks for, in order from the top down. */
function chosen_ranks(asked, rows) {
  const known = rows.map(({ rank }) => rank);
  if (asked === "spread") return spread_ranks(rows);
  return ranks_of_text(asked === "all" ? `0-999999` : asked, known);
}

/** Events of one rank in a span, by the coarse picture of the whole trace. */
function events_in({ begin, end, count: counts, length }, { from, to }) {
  let sum = 0;
  for (let i = 0; i < length; i++) if (end[i] > from && begin[i] < to) sum += counts[i];
  return sum;
}

/** Slices of the ranks in a span. */
function use_lanes({ run, rank, ranks, view, wanted }) {
  const { from, to } = whole_span(view);
  const path = wanted && ranks.length > 0 ? address(run_api(run, "events"), { format: "chrome",
    lanes: "device", rank, ranks: ranks.join(","), from_ns: Math.max(0, from), to_ns: to }) : null;
  return use_rested(path, ({ traceEvents }) => rank_lanes(traceEvents, ranks));
}

function caption_of({ ranks }) {
  const waits = waits_of(ranks).sort((a, b) => b.ns - a.ns);
  if (waits[0].ns === 0) return "No rank waits for another in this span";
  const least = waits.at(-1);
  return `In this span rank ${waits[0].rank} waits longest, ${time_text(waits[0].ns)}, and rank ${
    least.rank} shortest, ${time_text(least.ns)}`;
}

function Lanes({ lanes, run, marks }) {
  const { data, problem, loading } = lanes;
  if (problem) return html`<${ProblemNotice} problem=${problem} />`;
  if (!data) return html`<${Loading} />`;
  if (!(data.to > data.from)) {
    return html`<p class="empty-line">Nothing ran on these devices in this span.</p>`;
  }
  return html`<div aria-busy=${loading}><${RankLanes} data=${data} marks=${marks}
    caption=${caption_of(data)} href=${(one) =>
      address(run_path(run, "timeline"), { rank: one })} /></div>`;
}

/**
 * @param {{run: string, rank: number, overview: any, view: {from: number, to: number}}} props
 * `view` is by the clock of the rank
 */
export function TimelineRanks({ run, rank, overview, view }) {
  const [{ beside }, change] = use_query({ beside: "" });
  const { resource, rows } = use_rows(beside === "" ? null : address(run_api(run, "ranks"),
    { fields: "rank,wait_ns,step_median_ns", limit: "all", format: "columns" }));
  const ranks = useMemo(() => chosen_ranks(beside, rows), [beside, rows]);
  const events = useMemo(() => events_in(overview, view) * ranks.length, [overview, view, ranks]);
  const fits = events <= MOST_EVENTS;
  const lanes = use_lanes({ run, rank, ranks, view, wanted: beside !== "" && fits });
  const marks = new Map(beside === "spread" && ranks.length === 3
    ? ranks.map((one, i) => [one, WORDS[i]]) : []);
  const part = ranks.length < rows.length && beside !== "spread"
    ? `${ranks.length} of ${rows.length} ranks; ` : "";
  const listed = ["", "spread", "all"].includes(beside) ? "" : beside;
  return html`<${Card} title="Ranks side by side" note="${part}the span in view, clocks ${""
    }aligned; time since the first event of any rank"
    actions=${html`<${Segments} label="Ranks" value=${beside} options=${CHOICES}
      onchange=${(next) => change({ beside: next })} />
      <${SearchBox} label="Ranks to show" placeholder="or 0-3,7" value=${listed}
        oninput=${() => {}} oncommit=${(text) => change({ beside: text.trim() })} />`}>
    ${beside === "" ? html`<p class="empty-line">See who waits for whom: choose ranks.</p>`
    : html`<${Loaded} resource=${resource}>${() => (ranks.length === 0
      ? html`<p class="empty-line">The run has none of these ranks.</p>`
      : fits ? html`<${Lanes} lanes=${lanes} run=${run} marks=${marks} />`
      : html`<p class="empty-line">About ${count(events)} events are in view on these ranks. Zoom in
          above until there are at most ${count(MOST_EVENTS)}.</p>`)}<//>`}<//>`;
}
