// SPDX-License-Identifier: Apache-2.0
// Next to the timeline's picture: one slice in full, totals of a span, the longest slices.
import { html } from "../../base/ui.mjs";
import { kernel_path, operator_path } from "../../base/address.mjs";
import { count, decimals, ms, percent, plural } from "../../base/format.mjs";
import { Card, CopyButton } from "../../widgets/widgets.mjs";
import { KernelText } from "../../widgets/kernel_text.mjs";
import { PlainTable } from "../../charts/plain_table.mjs";
import { longest_in, sum_span } from "../../charts/timeline/timeline_sums.mjs";
import { pin_of, slice_of } from "../../charts/timeline/timeline_model.mjs";
import { exact_ms, length_text, merged_text } from "../../charts/timeline/timeline_text.mjs";
import { span_of } from "../../charts/timeline/timeline_view.mjs";
import { LinkedEvent } from "./slice_links.mjs";

const MOST_NAMES = 12;

/** The page about all slices with that name, null if there is none. */
function table_link(run, rank, { kind, tint, name }) {
  if (kind === "stream") return ["All calls of this kernel", kernel_path(run, name, rank)];
  if (tint === "operator") return ["All calls of this operator", operator_path(run, name, rank)];
  return null;
}

const step_at = (steps, ns) => steps.find(({ begin_ns, end_ns }) => ns >= begin_ns && ns < end_ns);

/** Everything about one slice; `linked` is the answer about its event. */
export function SliceDetails({ run, rank, slice, steps, linked, ongo, onfit, onselect, onclose }) {
  const link = table_link(run, rank, slice);
  const step = step_at(steps, slice.begin_ns);
  const facts = [
    ["Start", exact_ms(slice.begin_ns)],
    ["Duration", `${length_text(slice.dur_ns)} (${count(slice.dur_ns)} ns)`],
    ["End", exact_ms(slice.end_ns)],
    ["Class", html`<span class="swatch tint-${slice.tint}"></span>${slice.class_name}`],
    ["Lane", slice.lane_name],
    slice.kind === "thread" && ["Depth", count(slice.row + 1)],
    step && ["Step", count(step.number)],
    slice.count > 1 && ["Represents", merged_text(slice)],
  ].filter(Boolean);
  return html`<${Card} title="Slice" className="tl-slice" actions=${html`<button type="button"
      class="small" onClick=${onfit}>Zoom to it</button>${onselect && html`<button
      type="button" class="small" onClick=${onselect}>Select its time</button>`}<button
      type="button" class="small" onClick=${onclose}>Close</button>`}>
    <p class="slice-label"><${KernelText} name=${slice.name} /></p>
    <p class="kernel-full"><code>${slice.name}</code><${CopyButton} text=${slice.name}
      label="Copy name" /></p>
    <dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt>
      <dd>${value}</dd></div>`)}</dl>
    ${slice.count > 1 && html`<p class="footnote">Each of them is narrower than a pixel here; named
      after the longest. Zoom in to see them one by one.</p>`}
    ${slice.count === 1 && html`<${LinkedEvent} resource=${linked} ongo=${ongo} />`}
    ${link?.[1] && html`<p class="tl-links"><a href=${link[1]}>${link[0]}</a></p>`}<//>`;
}

const name_cell = ({ tint, name }) => html`<span class="swatch tint-${tint}"></span><span
  class="tl-clip"><${KernelText} name=${name} /></span>`;

const sum_rows = (sums, span) => sums.map((sum) =>
  [name_cell(sum), ms(sum.ns), percent(sum.ns / span_of(span)), count(sum.count)]);

const SUM_HEAD = ["", "Time, ms", "Share of span", "Events"];

/** What runs in a span, by class and by name. */
export function SpanSummary({ data, span, of_device, onfit, onclose }) {
  const { classes, names, merged, count: all } = sum_span(data, span, of_device);
  const rest = names.length - MOST_NAMES;
  const is_whole = data.from <= span.from && data.to >= span.to;
  return html`<${Card} title="Selection" className="tl-span"
      note="${length_text(span_of(span))} from ${exact_ms(span.from)} to ${exact_ms(span.to)}"
      actions=${html`<button type="button" class="small" onClick=${onfit}>Zoom to it</button>
        <button type="button" class="small" onClick=${onclose}>Clear</button>`}>
    ${names.length === 0 ? html`<p class="empty-line">Nothing ${of_device ? "ran on the device"
      : "was recorded on the host"} in this span.</p>` : html`
      <${PlainTable} label="Selection by class" head=${["Class", ...SUM_HEAD.slice(1)]}
        rows=${sum_rows(classes, span)} />
      <h3 class="sub-head">By name</h3>
      <${PlainTable} label="Selection by name" head=${["Name", ...SUM_HEAD.slice(1)]}
        rows=${sum_rows(names.slice(0, MOST_NAMES), span)} />
      <p class="footnote">${plural(all, "event")}${rest > 0 ? `, ${plural(rest, "more name")}` : ""
      }. Sums over all lanes: concurrent events each count${
        of_device ? "" : ", and a call counts within its callers, too"}.${merged > 0 ? ` ${
        count(merged)} of the events are too short to be drawn separately and count under the ${
        ""}longest of their neighbors; zoom in for exact sums.` : ""}${
        is_whole ? "" : " Parts of the span are not loaded."}</p>`}<//>`;
}

/** The picture's alternative: its longest slices as a table. */
export function LongestSlices({ data, view, of_device, onpin, actions }) {
  const found = longest_in(data, view, of_device).map((i) => slice_of(data, i));
  const rows = found.map((slice) => [
    html`<button type="button" class="kernel-name"
      onClick=${() => onpin(pin_of(slice))}><span class="swatch tint-${slice.tint}"
      aria-hidden="true"></span><${KernelText} name=${slice.name} /></button>`,
    ms(slice.dur_ns, 4), decimals(slice.begin_ns / 1e6, 6), slice.class_name,
    slice.lane_name]);
  return html`<${Card} title="Longest slices in view" flush=${true} actions=${actions}
      note="the view as a table">
    ${rows.length === 0 ? html`<p class="empty-line">No slice in view is wide enough to be drawn
      separately. Zoom in.</p>` : html`<${PlainTable} label="Longest slices in view"
      head=${["Name", "Duration, ms", "Start, ms", "Class", "Lane"]} figures=${2}
      rows=${rows} />`}<//>`;
}
