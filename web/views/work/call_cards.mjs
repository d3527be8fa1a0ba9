// SPDX-License-Identifier: Apache-2.0
// Cards about all calls of a kernel or operator on one rank: how they are distributed, by step, by
// rank, and the longest, each in the timeline.
import { html, useMemo } from "../../base/ui.mjs";
import { use_api } from "../../base/api.mjs";
import { address, run_path } from "../../base/address.mjs";
import { count, decimals, ms } from "../../base/format.mjs";
import { use_query } from "../../base/router.mjs";
import { Columns } from "../../charts/columns.mjs";
import { PlainTable } from "../../charts/plain_table.mjs";
import { ShareBar } from "../../charts/share_bar.mjs";
import { Card, Segments } from "../../widgets/widgets.mjs";
import { run_api } from "../run/run_frame.mjs";
import { fit_time, histogram_columns, quantile_marks, scale_of, step_columns, steps_caption,
  times_caption } from "./call_model.mjs";

/**
 * @param {string} run @param {"kernel"|"operator"} of @param {string} name @param {string} rank
 * @param {boolean} wanted false while it is not known that there are any
 */
export const use_calls = (run, of, name, rank, wanted) =>
  use_api(wanted ? address(run_api(run, "calls"), { of, name, rank }) : null);

const bins_table = ({ histogram }) => html`<${PlainTable} label="Distribution of the calls"
  head=${["From", "To below", "Calls"]} rows=${histogram.map(({ from_ns, to_ns, calls }) =>
    [fit_time(from_ns), fit_time(to_ns), count(calls)])} />`;

function Histogram({ times }) {
  const items = useMemo(() => histogram_columns(times), [times]);
  const marks = useMemo(() => quantile_marks(times), [times]);
  if (items.length === 1) {
    return html`<p class="empty-line">${times_caption(times)}. All take the same time.</p>`;
  }
  return html`<${Columns} items=${items} marks=${marks} caption=${times_caption(times)}
    hint="Calls by how long they took." table=${() => bins_table(times)} widest=${60} />`;
}

const SIDES = [["launched", "On the device"], ["times", "On the host"]];
const SIDE_NOTES = { launched: "what each call launched, with nested operators; outermost calls",
  times: "each call on the host, with nested operators" };

/** How long the calls took. @param {{calls: any}} props a reply of /calls */
export function Distribution({ calls }) {
  const [{ side }, change] = use_query({ side: "launched" });
  const shown = calls.launched === null || side === "times" ? "times" : "launched";
  const pick = calls.launched && html`<${Segments} label="Time" value=${shown} options=${SIDES}
    onchange=${(next) => change({ side: next })} />`;
  return html`<${Card} title="Calls" actions=${pick} note=${calls.launched
    ? SIDE_NOTES[shown] : `rank ${calls.rank}`}><${Histogram} times=${calls[shown]} /><//>`;
}

/** The time of each step's calls. */
export function BySteps({ calls }) {
  const { steps } = calls;
  const items = useMemo(() => step_columns(steps), [steps]);
  if (steps.length < 2) return null;
  const [scale, unit] = scale_of(steps.map(({ total_ns }) => total_ns));
  const table = () => html`<${PlainTable} label="Calls by step"
    head=${["Step", "Calls", "Total, ms", "Longest, ms"]} rows=${steps.map((step) =>
      [step.step, count(step.calls), ms(step.total_ns), ms(step.max_ns)])} />`;
  return html`<${Card} title="By step" note=${calls.of === "operator"
      ? "time on the host of the calls that start in each step"
      : "calls that start in each step; pale columns are not steady steps"}>
    <${Columns} items=${items} caption=${steps_caption(steps)} scale=${scale}
      hint="Time of each step's calls, in ${unit}." table=${table} /><//>`;
}

/** Each rank that calls it. @param {{calls: any, href: (rank: number) => string}} props */
export function ByRanks({ calls, href }) {
  const { ranks, ranks_left_out: left_out } = calls;
  if (ranks.length < 2) return null;
  const most = Math.max(...ranks.map(({ total_ns }) => total_ns), 1);
  const sorted = [...ranks].sort((a, b) => b.total_ns - a.total_ns || a.rank - b.rank);
  return html`<${Card} title="By rank" flush=${true} note=${left_out > 0
      ? `the first ${count(ranks.length)} ranks; ${count(left_out)} more are left out`
      : "most time first"}>
    <${PlainTable} label="Calls by rank" head=${["Rank", "Share of slowest", "Total, ms", "Calls",
      "p50", "p95"]} rows=${sorted.map((row) => [
      html`<a href=${href(row.rank)} aria-current=${row.rank === calls.rank ? "true"
        : undefined}>Rank ${row.rank}</a>`,
      html`<${ShareBar} share=${row.total_ns / most} />`, ms(row.total_ns), count(row.calls),
      fit_time(row.median_ns), fit_time(row.p95_ns)])} /><//>`;
}

const MOST_LONGEST = 10;
const AIR = 20; // times the call's own length to either side

/** The address of the timeline around a call; /calls counts time as that page does. */
function call_path(run, rank, { begin_ns, dur_ns }) {
  const end = begin_ns + dur_ns;
  const air = Math.max(AIR * dur_ns, 50_000);
  return address(run_path(run, "timeline"), { rank, sel: `${begin_ns}-${end}`,
    from: Math.max(0, begin_ns - air), to: end + air });
}

/** The longest calls, each leading into the timeline. */
export function LongestCalls({ run, calls }) {
  const { longest, rank } = calls;
  return html`<${Card} title="Longest calls" flush=${true} note=${calls.of === "operator"
      ? "time on the host; each opens in the timeline" : "each opens in the timeline"}>
    <${PlainTable} label="Longest calls" head=${["Call", "Duration", "Start, ms"]}
      rows=${longest.slice(0, MOST_LONGEST).map((call, i) => [html`<a
        href=${call_path(run, rank, call)}>${`${i + 1}. in the timeline`}</a>`,
      fit_time(call.dur_ns), decimals(call.begin_ns / 1e6, 3)])} /><//>`;
}
