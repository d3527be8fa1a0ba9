// SPDX-License-Identifier: Apache-2.0
// What exactly happened when: one rank's streams and threads over time, with zoom.
import { html, useLayoutEffect, useMemo, useRef, useState } from "../../base/ui.mjs";
import { announce } from "../../base/announce.mjs";
import { use_query } from "../../base/router.mjs";
import { count } from "../../base/format.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { locate, TimelineChart } from "../../charts/timeline/timeline.mjs";
import { arrows_of, launch_of, pin_of_placed, waited_of }
  from "../../charts/timeline/timeline_links.mjs";
import { device_begin, slice_of, TINTS } from "../../charts/timeline/timeline_model.mjs";
import { has_lanes } from "../../charts/timeline/timeline_sums.mjs";
import { TIMELINE_KEYS } from "../../charts/timeline/timeline_keys.mjs";
import { exact_ms, length_text } from "../../charts/timeline/timeline_text.mjs";
import { clamp_view, parse_span, parse_view, span_of, view_around, view_showing,
  whole_span }
  from "../../charts/timeline/timeline_view.mjs";
import { Card, Empty, Loaded, ProblemNotice, Segments } from "../../widgets/widgets.mjs";
import { KernelLabels } from "../../widgets/kernel_text.mjs";
import { NOT_SHOWN, use_linked } from "./slice_links.mjs";
import { Marks, use_marks } from "./timeline_marks.mjs";
import { LongestSlices, SliceDetails, SpanSummary } from "./timeline_details.mjs";
import { TimelineExport } from "./timeline_export.mjs";
import { TimelineSearch } from "./timeline_search.mjs";
import { TimelineOverview } from "./timeline_overview.mjs";
import { TimelineRanks } from "./timeline_ranks.mjs";
import { toggled_with, use_detail, use_overview } from "./timeline_data.mjs";
import { use_rank_table, use_ranks } from "../run/rank_data.mjs";
import { RankPage } from "../run/rank_page.mjs";

const DEFAULTS = { rank: "", from: "", to: "", sel: "", pin: "", fold: "", of: "", at: "",
  find: "", marks: "" };
const SIDES = [["device", "Device"], ["host", "Host"]];

/** The first steady step, else everything. */
function default_view(overview, step_rows) {
  const steady = step_rows.find(({ steady: is_steady }) => is_steady);
  const step = steady && overview.steps.find(({ number }) => number === steady.step);
  return step ? view_around({ from: step.begin_ns, to: step.end_ns }, overview.bounds, 0.02)
    : overview.bounds;
}

/** Converts a span that counts from the start of device work to this page's time. */
function use_arrival(query, change, overview, step_rows) {
  useLayoutEffect(() => {
    const asked = parse_span(query.at);
    if (!asked) return;
    const shift = device_begin(overview, step_rows);
    const span = { from: asked.from + shift, to: asked.to + shift };
    const { from, to } = whole_span(view_around(span, overview.bounds, 0.5));
    change({ at: "", sel: `${span.from}-${span.to}`, from: String(from), to: String(to) },
      { replace: true });
  }, [query.at, overview]);
}

/** The view in the address, or the default one. */
function use_view(query, overview, step_rows) {
  return useMemo(() => {
    const asked = parse_view(query.from, query.to);
    return asked ? clamp_view(asked, overview.bounds) : default_view(overview, step_rows);
  }, [query.from, query.to, overview, step_rows]);
}

function StepPick({ steps, motion, bounds }) {
  if (steps.length === 0) return null;
  const on_change = (event) => {
    const step = steps[Number(event.target.value)];
    if (step) motion().go(view_around({ from: step.begin_ns, to: step.end_ns }, bounds, 0.02));
    event.target.value = "";
  };
  return html`<label class="pick"><span>Go to step</span><select value="" onChange=${on_change}>
    <option value="">…</option>${steps.map(({ number }, i) => html`<option key=${i}
      value=${String(i)}>${number}</option>`)}</select></label>`;
}

// The label is part of the name, for speech input.
const Button = ({ label, title, onClick }) => html`<button type="button" class="small"
  title=${title} aria-label="${label} ${title}" onClick=${onClick}>${label}</button>`;

/** The mouse equivalents of the keys. */
function Tools({ motion, view, bounds, steps, selecting, onselecting, loading, onrank,
  search, marks }) {
  const middle = () => (motion().view.from + motion().view.to) / 2;
  const act = (move) => () => {
    motion().start();
    move();
    motion().end();
  };
  return html`<div class="tl-tools">
    <div class="segments" role="group" aria-label="Zoom">
      <${Button} label="+" title="Zoom in" onClick=${act(() => motion().zoom(middle(), 0.5))} />
      <${Button} label="−" title="Zoom out" onClick=${act(() => motion().zoom(middle(), 2))} />
      <${Button} label="0" title="Show the whole trace" onClick=${() => motion().go(bounds)} />
    </div>
    <div class="segments" role="group" aria-label="Move">
      <${Button} label="←" title="Earlier"
        onClick=${act(() => motion().pan(-0.5 * span_of(motion().view)))} />
      <${Button} label="→" title="Later"
        onClick=${act(() => motion().pan(0.5 * span_of(motion().view)))} />
    </div>
    ${onrank && html`<div class="segments" role="group" aria-label="Previous or next rank">
      <${Button} label="[" title="Previous rank" onClick=${() => onrank(-1)} />
      <${Button} label="]" title="Next rank" onClick=${() => onrank(1)} /></div>`}
    <button type="button" class="small" aria-pressed=${selecting}
      title="Dragging selects a span, as Shift and dragging always does"
      onClick=${() => onselecting(!selecting)}>Select</button>
    <${StepPick} steps=${steps} motion=${motion} bounds=${bounds} />${search}${marks}
    <p class="tl-where" aria-busy=${loading}>${length_text(span_of(view))} from ${
      exact_ms(view.from)}${loading ? " · loading" : ""}</p></div>`;
}

/** The colors that occur in the trace, and the keys. */
function Foot({ data, has_merged }) {
  const shown = useMemo(() => new Set(data.tint), [data]);
  return html`<div class="tl-foot"><ul class="legend">
      ${TINTS.map(({ key, label }, i) => shown.has(i) && html`<li key=${key}><span
        class="swatch tint-${key}"></span>${label}</li>`)}
      ${has_merged && html`<li><span class="swatch tint-merged"></span>Several, too short to draw
        separately; paler means less busy</li>`}</ul>
    <details class="tl-keys"><summary>Keys. The wheel zooms, dragging moves, Shift and dragging
      selects</summary><dl class="keys-list">${TIMELINE_KEYS.map(([key, text]) => html`<div
        key=${key}><dt><kbd>${key}</kbd></dt><dd>${text}</dd></div>`)}</dl></details></div>`;
}

/** A function that changes the rank by one, null if there is only one. */
function rank_mover(ranks, shown, change) {
  if (ranks.length < 2) return null;
  return (by) => {
    const next = ranks[ranks.indexOf(shown) + by];
    if (next !== undefined) change({ rank: String(next), pin: "" });
  };
}

function Below({ run, rank, query, change, windows, view, selection, slice, motion, steps,
  linked, ongo }) {
  const data = windows.detail ?? windows.overview;
  const sides = SIDES.filter(([key]) => has_lanes(windows.overview, key === "device"));
  const side = sides.some(([key]) => key === query.of) ? query.of : sides[0]?.[0];
  const of_device = side === "device";
  const covers = (one) => one && selection && one.from <= selection.from && one.to >= selection.to;
  const fit = (span) => motion().go(view_around(span, windows.overview.bounds));
  const span = slice && { from: slice.begin_ns, to: slice.end_ns };
  const pick = sides.length > 1 && html`<${Segments} label="Slices of" value=${side}
    options=${sides} onchange=${(of) => change({ of: of === sides[0][0] ? "" : of })} />`;
  return html`${slice && html`<${SliceDetails} run=${run} rank=${rank} slice=${slice} steps=${steps}
      linked=${linked} ongo=${ongo} onfit=${() => fit(span)} onclose=${() => change({ pin: "" })}
      onselect=${() => change({ sel: `${span.from}-${span.to}` })} />`}
    ${selection && html`<${SpanSummary} span=${selection} of_device=${of_device}
      data=${covers(data) ? data : windows.overview} onfit=${() => fit(selection)}
      onclose=${() => change({ sel: "" })} />`}
    <${LongestSlices} data=${data} view=${view} of_device=${of_device} actions=${pick}
      onpin=${(pin) => change({ pin })} />`;
}

const MOST_TIMES = 400; // the length of an event; in a wider view it may be merged

/** A function that shows an event large enough, moving and widening as little as that takes. */
function going(view, bounds, change) {
  return ({ begin_ns, dur_ns }, patch_of) => {
    const span = { from: begin_ns, to: begin_ns + Math.max(1, dur_ns) };
    const near = view_around(span, bounds, 6);
    const too_far = span_of(view) > MOST_TIMES * span_of(span);
    const shown = too_far ? view_around(span, bounds, MOST_TIMES / 4)
      : span_of(view) > span_of(near) ? view_showing(view, span, bounds) : near;
    const { from, to } = whole_span(shown);
    const sel = `${span.from}-${span.to}`;
    change({ ...patch_of({ sel }), from: String(from), to: String(to) });
  };
}

/** The slice that is shown in full, its links, and the way along them. */
function use_slice({ run, windows, query, change, go_to }) {
  const { rank, lanes } = windows.overview;
  const found = locate(windows, query.pin);
  const slice = found && slice_of(found.data, found.i);
  const linked = use_linked(run, rank, slice, lanes);
  const ongo = (placed) => {
    const pin = pin_of_placed(placed, lanes);
    return pin ? go_to(placed, () => ({ pin })) : announce(`${placed.name} is ${NOT_SHOWN}.`);
  };
  return { slice, linked, ongo };
}

function Timeline({ run, rank, overview, step_rows }) {
  const [query, change] = use_query(DEFAULTS);
  const [width, set_width] = useState(0);
  const [selecting, set_selecting] = useState(false);
  const control = useRef(null);
  const ranks = use_ranks(run);
  use_arrival(query, change, overview, step_rows);
  const view = use_view(query, overview, step_rows);
  const { detail, loading, problem, retry } = use_detail({ run, rank, overview, view, width });
  const toggled = useMemo(() => new Set(query.fold.split(",").filter(Boolean)), [query.fold]);
  const { bounds, steps } = overview;
  const windows = { overview, detail };
  const selection = useMemo(() => parse_span(query.sel), [query.sel]);
  const motion = () => control.current;
  const onrank = rank_mover(ranks, overview.rank, change);
  const on_select = (span) => {
    const { from, to } = whole_span(span);
    if (to > from) change({ sel: `${from}-${to}` });
  };
  const go_to = going(view, bounds, change);
  const { slice, linked, ongo } = use_slice({ run, windows, query, change, go_to });
  const { marks, add: add_mark, drop } = use_marks(query, change);
  const visit = (mark) => mark && motion().go(mark);
  const on_key = ({ kind, by }) => {
    const goal = kind === "link" ? launch_of(linked.data) : waited_of(linked.data);
    if (kind === "bookmark") add_mark(motion().view);
    else if (kind === "visit") visit(marks[by - 1]);
    else if (goal) ongo(goal);
  };
  const note = `rank ${overview.rank}, time since the start of the trace` +
    (overview.left_out ? `; ${count(overview.left_out)} lanes with few events are left out` : "");
  return html`<${Card} title="Timeline" flush=${true} note=${note}>
      <${Tools} motion=${motion} view=${view} bounds=${bounds} steps=${steps} loading=${loading}
        selecting=${selecting} onselecting=${set_selecting} onrank=${onrank}
        search=${html`<${TimelineSearch} run=${run} rank=${overview.rank} text=${query.find}
          from_ns=${selection?.from ?? view.from} ontext=${(find) => change({ find })}
          onfound=${(event) => go_to(event, ({ sel }) => ({ sel }))} />`}
        marks=${html`<${Marks} marks=${marks} onadd=${() => add_mark(motion().view)}
          ondrop=${drop} ongo=${visit} />`} />
      ${problem && html`<${ProblemNotice} problem=${problem} retry=${retry} />`}
      <${TimelineChart} ...${windows} view=${view} bounds=${bounds} steps=${steps}
        selection=${selection} pin=${query.pin} toggled=${toggled} selecting=${selecting}
        label="Timeline of rank ${overview.rank}: ${overview.lanes.length} lanes"
        arrows=${arrows_of(slice && linked.data, overview.lanes)} marks=${marks} onkey=${on_key}
        control=${control} onwidth=${set_width} onselect=${on_select} onrank=${onrank}
        onview=${({ from, to }, replace) => change({ from: String(from), to: String(to) },
          { replace })}
        onpin=${(pin) => change({ pin })} onclear=${() => change({ pin: "", sel: "" })}
        ontoggle=${(key) => change({ fold: toggled_with(toggled, key) }, { replace: true })} />
      <${TimelineExport} run=${run} rank=${overview.rank} span=${selection ?? view}
        selected=${Boolean(selection)} several=${ranks.length > 1} />
      <${Foot} data=${overview} has_merged=${(detail ?? overview).has_merged} /><//>
    ${ranks.length > 1 && html`<${TimelineOverview} run=${run} rank=${overview.rank}
      view=${view} />
      <${TimelineRanks} run=${run} rank=${overview.rank}
      overview=${overview} view=${view} />`}
    <${Below} run=${run} rank=${rank} query=${query} change=${change} windows=${windows}
      view=${view} selection=${selection} slice=${slice} motion=${motion} steps=${steps}
      linked=${linked} ongo=${ongo} />`;
}

function Content({ run, rank }) {
  const { resource, overview } = use_overview(run, rank);
  const table = use_rank_table(run, "steps", rank);
  // The reply has all ranks; only the shown one counts.
  const step_rows = useMemo(() => rows_of(frame_of(table.data))
    .filter((row) => row.rank === null || row.rank === overview?.rank), [table.data, overview]);
  return html`<${Loaded} resource=${table.data || table.problem ? resource : table}>${() =>
    (overview.length === 0 ? html`<${Empty} title="This trace has nothing to draw"><p>It has no
      events with a start and a duration.</p><//>`
      : html`<${Timeline} key=${overview.rank} run=${run} rank=${rank} overview=${overview}
        step_rows=${step_rows} />`)}<//>`;
}

export default function TimelinePage({ route }) {
  return html`<${RankPage} route=${route} title="Timeline" needs_device=${false}>${(run, rank) =>
    html`<${KernelLabels} runs=${[run]} />
      <${Content} run=${run} rank=${rank} />`}<//>`;
}
