// SPDX-License-Identifier: Apache-2.0
// The timelines of two runs, one above the other on a common axis: aligned at a step, at a module
// or at an event, with one zoom for both.
import { html, useEffect, useMemo, useRef, useState } from "../../base/ui.mjs";
import { announce } from "../../base/announce.mjs";
import { use_api } from "../../base/api.mjs";
import { address, run_path } from "../../base/address.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { use_query } from "../../base/router.mjs";
import { use_title } from "../../base/hooks.mjs";
import { locate, TimelineChart } from "../../charts/timeline/timeline.mjs";
import { common, moved, moved_pin, moves_of, union }
  from "../../charts/timeline/timeline_align.mjs";
import { arrows_of, launch_of, pin_of_placed, waited_of }
  from "../../charts/timeline/timeline_links.mjs";
import { pack, slice_of } from "../../charts/timeline/timeline_model.mjs";
import { length_text } from "../../charts/timeline/timeline_text.mjs";
import { clamp_view, parse_view, span_of, view_around, whole_span }
  from "../../charts/timeline/timeline_view.mjs";
import { Card, Empty, Lead, Loading, Notice, ProblemNotice, Segments }
  from "../../widgets/widgets.mjs";
import { KernelLabels } from "../../widgets/kernel_text.mjs";
import { run_api } from "../run/run_frame.mjs";
import { use_rank_table } from "../run/rank_data.mjs";
import { SliceDetails } from "../timeline/timeline_details.mjs";
import { toggled_with, use_detail } from "../timeline/timeline_data.mjs";
import { NOT_SHOWN, use_linked } from "../timeline/slice_links.mjs";
import { use_anchor } from "./compare_anchor.mjs";
import { timelines_lead } from "./side_model.mjs";

const DEFAULTS = { base: "", cand: "", base_rank: "", cand_rank: "", base_step: "", cand_step: "",
  base_name: "", cand_name: "", base_module: "", cand_module: "", lanes: "", from: "", to: "",
  base_pin: "", cand_pin: "", base_fold: "", cand_fold: "" };
const LANES = [["", "Devices"], ["all", "Threads too"]];
const SIDES = [["base", "Base"], ["cand", "Candidate"]];
const WHOLE_PX = 1600;

/** The step in the address, else the first steady one. */
function step_of(steps, rows, asked) {
  const steady = rows.find(({ steady: is_steady }) => is_steady)?.step;
  return steps.find(({ number }) => String(number) === asked)
    ?? steps.find(({ number }) => number === steady) ?? steps[0] ?? null;
}

/** One side: its whole trace, its step, and where the anchor is. */
function use_side(query, side) {
  const [run, rank] = [query[side], query[`${side}_rank`]];
  const resource = use_api(address(run_api(run, "timeline"), { rank, px: WHOLE_PX,
    lanes: query.lanes === "all" ? "" : "device" }));
  const about = use_api(run_api(run));
  const table = use_rank_table(run, "steps", rank);
  const overview = useMemo(() => resource.data && pack(resource.data), [resource.data]);
  // The reply has all ranks; only the shown one counts.
  const rows = useMemo(() => rows_of(frame_of(table.data))
    .filter((row) => row.rank === null || row.rank === overview?.rank), [table.data, overview]);
  const has_rows = Boolean(table.data || table.problem);
  const step = overview && has_rows ? step_of(overview.steps, rows, query[`${side}_step`]) : null;
  const anchor = use_anchor({ run, rank: overview?.rank, step, name: query[`${side}_name`],
    module: query[`${side}_module`] });
  return { side, run, name: about.data?.name ?? run, overview, step, anchor,
    problem: resource.problem ?? table.problem,
    retry: resource.problem ? resource.reload : table.reload,
    ready: Boolean(overview && has_rows && !anchor.loading) };
}

function StepPick({ label, steps, value, onchange }) {
  if (steps.length < 2) return null;
  return html`<label class="pick"><span>${label}</span><select value=${value}
    onChange=${(event) => onchange(event.target.value)}>${steps.map(({ number }) => html`<option
      key=${number} value=${String(number)}>${number}</option>`)}</select></label>`;
}

const aligned_at = (query, side) => {
  const what = query[`${side}_module`].split("/").at(-1) || query[`${side}_name`];
  return what || null;
};

function lead_of([base, cand], query) {
  const spans = [base, cand].map(({ anchor }) => anchor.span && span_of(anchor.span));
  if (spans.some((ns) => !ns) || base.anchor.missing || cand.anchor.missing) return "";
  return timelines_lead(aligned_at(query, "cand"), [base.name, cand.name], spans);
}

const moved_arrows = (linked, lanes, by_ns) => arrows_of(linked, lanes).map(({ kind, from, to }) =>
  ({ kind, from: { ...from, ns: from.ns + by_ns }, to: { ...to, ns: to.ns + by_ns } }));

/** What a chart of one side needs; both share the view. */
function Side({ at, by_ns, longest_ns, view, bounds, query, change, controls, width,
  set_width }) {
  const { side, run, name, overview, anchor, step } = at;
  const here = useMemo(() => moved(overview, by_ns), [overview, by_ns]);
  const own = { from: view.from - by_ns, to: view.to - by_ns };
  const { detail, problem, retry } = use_detail({ run, rank: overview.rank, overview, width,
    view: common(own, overview.bounds), lanes: query.lanes === "all" ? "" : "device" });
  const there = useMemo(() => detail && moved(detail, by_ns), [detail, by_ns]);
  // In the run's own time, so that it stays on its slice when the alignment changes.
  const pin = query[`${side}_pin`];
  const found = locate({ overview, detail }, pin);
  const slice = found && slice_of(found.data, found.i);
  const linked = use_linked(run, overview.rank, slice, overview.lanes);
  const toggled = useMemo(() => new Set(query[`${side}_fold`].split(",").filter(Boolean)),
    [query[`${side}_fold`]]);
  const control = useRef(null);
  controls[side] = control;
  useEffect(() => {
    control.current.onmove = (next, is_reported) => {
      for (const [key, other] of Object.entries(controls)) {
        if (key !== side) other.current?.follow(next, is_reported);
      }
    };
  });
  const set_pin = (next) => change({ [`${side}_pin`]: next });
  const view_of = ({ begin_ns, dur_ns }, air) =>
    view_around({ from: begin_ns + by_ns, to: begin_ns + by_ns + dur_ns }, bounds, air);
  const go = (placed) => {
    const goal_pin = pin_of_placed(placed, overview.lanes);
    if (!goal_pin) return announce(`${placed.name} is ${NOT_SHOWN}.`);
    const { from, to } = whole_span(view_of(placed, 20));
    return change({ [`${side}_pin`]: goal_pin, from: String(from), to: String(to) });
  };
  const on_key = ({ kind }) => {
    const goal = kind === "link" ? launch_of(linked.data)
      : kind === "waited" ? waited_of(linked.data) : null;
    if (goal) go(goal);
  };
  const word = SIDES.find(([key]) => key === side)[1];
  const length = anchor.span ? `, ${length_text(span_of(anchor.span), longest_ns)}` : "";
  return html`<section class="tl-side"><h3 class="tl-side-head"><span class="side-${side}">${word}
      </span> <a href=${address(run_path(run, "timeline"), { rank: overview.rank })}>${name}</a>
      <span class="faint">rank ${overview.rank}, step ${step?.number ?? "–"}${
        aligned_at(query, side) ? `: ${aligned_at(query, side)}` : ""}${length}</span></h3>
    ${anchor.missing && html`<p class="footnote">Its step has no ${aligned_at(query, side)}: aligned
      at the start of the step.</p>`}
    ${anchor.problem && html`<${ProblemNotice} problem=${anchor.problem}
      retry=${anchor.retry} />`}
    ${problem && html`<${ProblemNotice} problem=${problem} retry=${retry} />`}
    <${TimelineChart} overview=${here} detail=${there} view=${view} bounds=${bounds}
      steps=${here.steps} selection=${anchor.span && aligned_at(query, side)
        ? { from: anchor.span.from + by_ns, to: anchor.span.to + by_ns } : null}
      pin=${moved_pin(pin, by_ns)} toggled=${toggled} selecting=${false} onkey=${on_key}
      arrows=${moved_arrows(slice && linked.data, overview.lanes, by_ns)}
      label="Timeline of ${name}: ${overview.lanes.length} lanes" control=${control}
      onwidth=${set_width} onselect=${() => {}} onclear=${() => set_pin("")}
      onpin=${(next) => set_pin(moved_pin(next, -by_ns))}
      onview=${({ from, to }, replace) => change({ from: String(from), to: String(to) },
        { replace })} ontoggle=${(key) =>
        change({ [`${side}_fold`]: toggled_with(toggled, key) }, { replace: true })} />
    ${slice && html`<${SliceDetails} run=${run} rank=${overview.rank} slice=${slice}
      steps=${overview.steps} linked=${linked} ongo=${go} onclose=${() => set_pin("")}
      onfit=${() => control.current.go(view_of(slice))} />`}</section>`;
}

function Both({ sides, query, change }) {
  const [width, set_width] = useState(0);
  const controls = useRef({}).current;
  const anchors = sides.map(({ anchor, overview }) => anchor.span ?? overview.bounds);
  const moves = moves_of(anchors.map(({ from }) => from));
  const bounds = union(sides.map(({ overview }, i) => ({ from: overview.bounds.from + moves[i],
    to: overview.bounds.to + moves[i] })));
  const goal = union(anchors.map(({ from, to }, i) => ({ from: from + moves[i],
    to: to + moves[i] })));
  const asked = parse_view(query.from, query.to);
  const view = asked ? clamp_view(asked, bounds) : view_around(goal, bounds, 0.1);
  return sides.map((at, i) => html`<${Side} key=${`${at.side}${at.overview.rank}${query.lanes}`}
    at=${at} by_ns=${moves[i]} longest_ns=${Math.max(...anchors.map(span_of))} view=${view}
    bounds=${bounds} query=${query} change=${change} controls=${controls} width=${width}
    set_width=${set_width} />`);
}

function TwoRuns({ query, change }) {
  const sides = SIDES.map(([side]) => use_side(query, side));
  const failed = sides.find((one) => one.problem);
  const ready = sides.every((one) => one.ready);
  const set_step = (side) => (step) => change({ [`${side}_step`]: step, from: "", to: "" });
  const at_step = () => change({ base_name: "", cand_name: "", base_module: "", cand_module: "",
    from: "", to: "" });
  const is_named = SIDES.some(([side]) => aligned_at(query, side));
  return html`<header class="page-head tight"><h1 tabindex="-1">Compare timelines</h1>
      <a href=${address("/compare", { base: query.base, cand: query.cand })}>Back to the
        comparison</a></header>
    <${KernelLabels} runs=${[query.base, query.cand]} />
    ${failed && html`<${ProblemNotice} problem=${failed.problem} retry=${failed.retry} />`}
    ${!ready && !failed && html`<${Loading} />`}
    ${ready && html`<${Lead} text=${lead_of(sides, query)} />
      <${Card} title="Side by side" flush=${true} note="one axis for both: ${
        is_named ? "what is shaded" : "the step"} starts at the same place; move and zoom either"
      actions=${html`<${Segments} label="Lanes" value=${query.lanes} options=${LANES}
        onchange=${(lanes) => change({ lanes, base_pin: "", cand_pin: "" })} />`}>
      <div class="tl-tools">${sides.map(({ side, overview, step }, i) => html`<${StepPick}
          key=${side} label="Step of the ${SIDES[i][1].toLowerCase()}" steps=${overview.steps}
          value=${String(step?.number ?? "")} onchange=${set_step(side)} />`)}
        ${is_named && html`<button type="button" class="small" onClick=${at_step}>Align at the
          step</button>`}
        <button type="button" class="small" onClick=${() => change({ from: "", to: "" })}>Reset
          zoom</button></div>
      <${Both} sides=${sides} query=${query} change=${change} /><//>`}
    ${sides.every(({ overview }) => overview?.length === 0) && html`<${Notice} kind="warning"
      title="Nothing ran on a device in these recordings" />`}`;
}

export default function CompareTimeline() {
  const [query, change] = use_query(DEFAULTS);
  use_title("Compare timelines");
  if (query.base && query.cand) return html`<${TwoRuns} query=${query} change=${change} />`;
  return html`<h1 tabindex="-1">Compare timelines</h1><${Empty} title="Choose two runs"><p>Open
    a${" "}<a href="/compare">comparison</a>, and from there the timelines of both.</p><//>`;
}
