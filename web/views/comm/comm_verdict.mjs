// SPDX-License-Identifier: Apache-2.0
// The cost of communication in one sentence, who is late, and what cannot be known.
import { html } from "../../base/ui.mjs";
import { address, run_path } from "../../base/address.mjs";
import { Segments } from "../../charts/segments.mjs";
import { percent, plural, time_text } from "../../base/format.mjs";
import { timed } from "../../base/values.mjs";
import { headline_row } from "../../base/parts.mjs";
import { Figure } from "../../widgets/widgets.mjs";
import { clocks_sentence, dimensions_sentence, exposed_split, is_mostly_unknown, matched_calls,
  split_segments, split_sentence, waits_by_dimension } from "./comm_model.mjs";
import { is_whole, per_step } from "../run/lead_model.mjs";
import { late_ranks, late_sentence } from "../ranks/lateness_model.mjs";
import { outliers } from "../ranks/outlier_model.mjs";

const MOST_NAMED = 3;

function LateRank({ run, row, ranks, whole }) {
  return html`<p>${late_sentence(row, ranks, whole)}
    ${" "}<a href=${address(run_path(run, "timeline"), { rank: row.rank })}>Its timeline</a>
    ${" · "}<a href=${address(run_path(run, "ranks"), { rank: row.rank })}>
      compare with other ranks</a></p>`;
}

/** Ranks that wait far longer than the others although no rank is late. */
function Early({ run, ranks, step_ns, whole }) {
  const early = outliers(ranks, "exposed_wait_ns", step_ns)
    .filter(({ stands_out, away_ns }) => stands_out && away_ns > 0).slice(0, MOST_NAMED);
  if (early.length === 0) return html`<p>No rank stands out: ranks take turns being late.</p>`;
  return early.map(({ row, value }) => html`<p key=${row}>No rank is late, but rank ${
    ranks[row].rank} is early: it waits ${time_text(value)}${per_step(whole)}, while half of the
    ranks wait ${time_text(early[0].value - early[0].away_ns)} or less. It has less work.
    ${" "}<a href=${address(run_path(run, "ranks"), { rank: ranks[row].rank, metric: "compute" })}
      >Compare its compute with other ranks</a></p>`);
}

function Late({ run, late, split, ranks, step_ns, has_pipeline, whole }) {
  if (late.length > 0) {
    return html`${late.slice(0, MOST_NAMED).map((row) => html`<${LateRank} key=${row.rank}
      run=${run} row=${row} ranks=${ranks.length} whole=${whole} />`)}`;
  }
  // Stages of a pipeline naturally wait for each other in turn; who is late to calls without a
  // match is not known.
  if (has_pipeline || is_mostly_unknown(split)) return null;
  return split.wait_ns > 0
    && html`<${Early} run=${run} ranks=${ranks} step_ns=${step_ns} whole=${whole} />`;
}

/** Which groups wait; pipeline groups have a name and a page. */
function Dimensions({ run, parts }) {
  const text = dimensions_sentence(parts);
  const has_pipeline = parts.some(({ dimension }) => dimension === "pipeline");
  return text && html`<p>${text}${has_pipeline && html` Stages of a pipeline wait for each other's
    micro-batches: <a href=${run_path(run, "ranks")}>its bubble against the ideal one</a>.`}</p>`;
}

/** Without other ranks only the sum is known. */
function Lone({ row, share, whole }) {
  const exposed_ns = row ? row.exposed_comm_ns / Math.max(1, row.steps || 1) : null;
  if (!exposed_ns) return html`<p class="verdict-line">No communication is exposed.</p>`;
  return html`<p class="verdict-line">Exposed communication ${time_text(exposed_ns)}${
    per_step(whole)} (${percent(share)})</p>`;
}

/**
 * @param {{run: string, data: any, ranks: any[], waits: any[], lateness: any[], clocks: any[],
 *          notes: string[]}} props rows of the tables with these names; data: the summary's reply
 */
export function CommVerdict({ run, data, ranks, waits, lateness, clocks, notes }) {
  const { steady_steps: steps, step_median_ns: step_ns } = data.summary;
  const split = matched_calls(waits) > 0 ? exposed_split(ranks, waits, steps) : null;
  const whole = is_whole(data);
  const parts = waits_by_dimension(waits, ranks.length, steps);
  const late = late_ranks(lateness, { steps, step_ns });
  const row = headline_row(data.breakdown);
  return html`<section class="verdict" aria-label="Cost of communication">
    ${split ? html`<p class="verdict-line">${split_sentence(split, whole)}</p>
        <${Late} run=${run} late=${late} split=${split} ranks=${ranks} step_ns=${step_ns}
          has_pipeline=${parts[0]?.dimension === "pipeline"} whole=${whole} />
        <${Dimensions} run=${run} parts=${parts} />`
      : html`<${Lone} row=${row} share=${data.summary.exposed_comm_share}
        whole=${whole} />`}
    ${split?.exposed_ns > 0 && html`<div class="verdict-chart"><${Segments}
      items=${split_segments(split)} head="Exposed communication" bare=${true}
      caption=${`Mean of ${plural(split.ranks, "rank")}, ${
        whole ? "all that was recorded" : "per steady step"}. ${
        clocks_sentence(clocks)}`} /></div>`}
    ${notes.length > 0 && html`<ul class="notes" aria-label="Unknowns">${
      notes.map((note) => html`<li key=${note}>${note}</li>`)}</ul>`}
  </section>`;
}

const more_skewed = (a, b) => ((b.skew_p95_ns ?? 0) > (a?.skew_p95_ns ?? 0) ? b : a);

/** The typical rank's communication per step. */
export function CommFigures({ data, waits }) {
  const row = headline_row(data.breakdown);
  if (!row) return null;
  const of_step = (name) => row[name] / Math.max(1, row.steps || 1);
  const worst = waits.reduce(more_skewed, null);
  const whole = is_whole(data);
  const step = whole ? "the recording" : "the step";
  return html`<dl class="kpis">
    <${Figure} label="Communication" ...${timed(of_step("total_comm_ns"))}
      help="Time${per_step(whole)} in which any communication ran, hidden or not">${
        whole ? "typical rank" : "per step, typical rank"}<//>
    <${Figure} label="Exposed" ...${timed(of_step("exposed_comm_ns"))}
      help="Communication while no compute kernel ran: the part that adds to ${step}">
      ${percent(data.summary?.exposed_comm_share)} of ${row.unrecorded_ns > 0
        ? "recorded time" : step}, typical rank<//>
    <${Figure} label="Overlapped" value=${percent(row.overlap_share)}
      help="Share of communication time during which compute ran">of communication time<//>
    ${worst && html`<${Figure} label="Largest skew p95" ...${timed(worst.skew_p95_ns)}
      help="Time from the first to the last rank's start of a collective, 95th percentile; the
        largest in the table below">${worst.kind ?? "collective"}${
        worst.process_group ? ` in group ${worst.process_group}` : ""}<//>`}
  </dl>`;
}
