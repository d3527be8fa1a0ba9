// SPDX-License-Identifier: Apache-2.0
// What a recording says about the slice that is shown in full: its arguments, who launched it,
// what it waited for, and its stack.
import { html } from "../../base/ui.mjs";
import { use_api } from "../../base/api.mjs";
import { address } from "../../base/address.mjs";
import { bytes, count, plural, significant } from "../../base/format.mjs";
import { shapes_text, types_text } from "../../base/shapes_text.mjs";
import { KernelText } from "../../widgets/kernel_text.mjs";
import { length_text } from "../../charts/timeline/timeline_text.mjs";
import { run_api } from "../run/run_frame.mjs";

/** What is said about an event that cannot be shown. */
export const NOT_SHOWN = "on a lane that is not shown";

/**
 * The event of a slice with its links, and what tells whether another event's lane is shown; no
 * data while it stands for several.
 * @param {string} run @param {number} rank @param {any} slice @param {{track: number}[]} lanes
 */
export function use_linked(run, rank, slice, lanes) {
  const single = slice && slice.count === 1;
  const resource = use_api(single ? address(run_api(run, "event"), { rank,
    lane: lanes[slice.lane].track, begin_ns: slice.begin_ns, dur_ns: slice.dur_ns }) : null);
  return { ...resource, shows: ({ lane }) => lanes.some(({ track }) => track === lane) };
}

const product = (sizes) => (sizes ? sizes.map(count).join(" × ") : null);
const rate = (gbps) => (gbps === null ? null : `${significant(gbps)} GB/s`);

function collective_facts({ collective }) {
  if (!collective) return [];
  const { name, dtype, group, group_description, group_size, group_ranks, in_elems, out_elems,
    peer } = collective;
  const elements = in_elems === null && out_elems === null ? null
    : `${count(in_elems ?? 0)} in, ${count(out_elems ?? 0)} out`;
  return [["Collective", name], ["Element type", dtype], ["Elements", elements],
    ["Process group", [group, group_description].filter(Boolean).join(", ") || null],
    ["Group", group_size === null ? null
      : `${plural(group_size, "rank")}${group_ranks ? ` ${group_ranks}` : ""}`],
    ["Peer", peer === null ? null : `rank ${peer}`]];
}

const value_text = (value) =>
  (typeof value === "object" ? JSON.stringify(value) : String(value));

/** A list of values without those that are tensors. */
function values_text(text) {
  try {
    const given = JSON.parse(text).filter((value) => value !== "");
    return given.length > 0 ? given.map(value_text).join(", ") : null;
  } catch {
    return null;
  }
}

function input_facts({ inputs }) {
  if (!inputs) return [];
  return [["Operator", inputs.of], ["Shapes", inputs.dims && shapes_text(inputs.dims)],
    ["Types", inputs.types && types_text(inputs.types)],
    ["Strides", inputs.strides && shapes_text(inputs.strides)],
    ["Values", inputs.concrete && values_text(inputs.concrete)], ["Module", inputs.module]];
}

/** Pairs of words for everything that was recorded. */
function arg_facts(args) {
  return [["Grid", product(args.grid)], ["Block", product(args.block)],
    ["Registers per thread", args.registers === null ? null : count(args.registers)],
    ["Shared memory", args.shared_bytes === null ? null : bytes(args.shared_bytes)],
    ["Occupancy, estimated", args.occupancy_percent === null ? null
      : `${args.occupancy_percent} %`],
    ["Bytes", args.bytes === null ? null : bytes(args.bytes)],
    [args.collective ? "Algorithm bandwidth" : "Bandwidth", rate(args.gbps)],
    ["Bus bandwidth", rate(args.bus_gbps)], ...collective_facts(args), ...input_facts(args),
    ["Correlation", args.correlation === null ? null : String(args.correlation)]]
    .filter(([, value]) => value !== null && value !== undefined && value !== "");
}

const end_ns = ({ begin_ns, dur_ns }) => begin_ns + dur_ns;

/** How long it was queued: from the end of its launch to its start. */
function queued_text({ event, launch }) {
  const ns = event.begin_ns - end_ns(launch);
  return ns > 0 ? `${length_text(ns)} after the call returned` : "while the call still ran";
}

/** Words before and after what was waited for. */
const WAITS = { stream: ["Its stream was busy with", "until then"],
  other_stream: ["Its stream was empty; on another stream,", "had just ended"],
  device: ["For the device, which last ran", ""] };

const Go = ({ to, shows, ongo }) => (shows(to) ? html`<button type="button" class="kernel-name"
    onClick=${() => ongo(to)}><${KernelText} name=${to.name} /></button>`
  : html`<${KernelText} name=${to.name} /> <span class="faint">${NOT_SHOWN}</span>`);

function Links({ linked, ...way }) {
  const { event, launch, launched, waited } = linked;
  const [before, after] = WAITS[waited?.reason] ?? [];
  return html`<dl class="facts tl-linked">
    ${launch && html`<div><dt>Launched by</dt><dd><${Go} to=${launch} ...${way} /></dd></div>
      <div><dt>Started</dt><dd>${queued_text(linked)}</dd></div>`}
    ${launched && html`<div><dt>Launched</dt><dd><${Go} to=${launched.first} ...${way} />
      ${launched.count > 1 ? ` and ${launched.complete ? "" : "at least "}${
        plural(launched.count - 1, "more event")}` : ""}, ${
      length_text(launched.busy_ns)} of device time, from ${
      length_text(Math.max(0, launched.begin_ns - event.begin_ns))} after its start</dd></div>`}
    ${waited && html`<div><dt>Waited</dt><dd>${before}${" "}
      <${Go} to=${waited.for} ...${way} /> ${after}</dd></div>`}</dl>`;
}

function Stack({ stack, shows, ongo }) {
  if (stack.length === 0) return null;
  const inner = [...stack].reverse();
  return html`<details class="tl-stack" open><summary>Stack, ${plural(stack.length, "call")
    }, innermost first</summary><ol>${inner.map((one, i) => html`<li key=${i}>${shows(one)
      ? html`<button type="button" class="kernel-name mono" title=${one.name}
        onClick=${() => ongo(one)}>${one.name}</button>`
      : html`<span class="mono" title=${one.name}>${one.name}</span>`}</li>`)}</ol></details>`;
}

/** @param {{resource: any, ongo: (placed: any) => void}} props ongo: shows another event */
export function LinkedEvent({ resource, ongo }) {
  const { data, problem, loading, shows } = resource;
  if (problem) {
    return html`<p class="footnote">Its arguments cannot be shown: ${problem.message}</p>`;
  }
  if (!data) return loading ? html`<p class="footnote" aria-busy="true">Loading…</p>` : null;
  const facts = arg_facts(data.args);
  return html`<${Links} linked=${data} shows=${shows} ongo=${ongo} />
    ${facts.length > 0 && html`<h3 class="sub-head">Arguments</h3><dl class="facts">${facts.map(
      ([name, value]) => html`<div key=${name}><dt>${name}</dt><dd class="tl-arg">${value}</dd>
      </div>`)}</dl>`}
    <${Stack} stack=${data.stack} shows=${shows} ongo=${ongo} />`;
}
