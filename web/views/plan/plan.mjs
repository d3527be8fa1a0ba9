// SPDX-License-Identifier: Apache-2.0
// The memory planner: what training a model would take on each GPU, several setups side by side.
import { html, useEffect, useState } from "../../base/ui.mjs";
import { api_get, api_href, use_api } from "../../base/api.mjs";
import { use_query } from "../../base/router.mjs";
import { use_title } from "../../base/hooks.mjs";
import { bytes, number } from "../../base/format.mjs";
import { MemoryBars } from "../../charts/memory_bars.mjs";
import { PlainTable } from "../../charts/plain_table.mjs";
import { Card, CopyButton, Loading, ProblemNotice } from "../../widgets/widgets.mjs";
import { PlanForm, SetupTable } from "./plan_form.mjs";
import {
  DEFAULTS, measured_text, part_rows, plan_lead, plan_path, PARTS, read_setups, scale_of,
  setup_label, setups_path, split_label, verdict_of, write_setup,
} from "./plan_model.mjs";

/** A plan or a problem for each setup; the previous ones stay while new ones load. */
function use_plans(setups, paths) {
  const [replies, set_replies] = useState(/** @type {any[]} */ ([]));
  const key = paths.join("\n");
  useEffect(() => {
    const stop = new AbortController();
    const ask = (path, i) => api_get(path, stop.signal).then(
      ({ data }) => ({ setup: setups[i], plan: data }), (problem) => ({ problem }));
    Promise.all(paths.map(ask)).then((all) => !stop.signal.aborted && set_replies(all));
    return () => stop.abort();
  }, [key]);
  return replies;
}

function bar_of({ setup, plan }, i) {
  const pieces = plan.parts.filter((part) => part.bytes > 0).map((part) =>
    ({ key: part.part, ...PARTS[part.part], bytes: part.bytes }));
  return { key: String(i), label: setup_label(setup), pieces,
    memory_bytes: plan.gpus[0].memory_bytes, verdict: verdict_of(plan) };
}

function Bars({ shown }) {
  const plans = shown.map(({ plan }) => plan);
  const fitting = plans.filter((plan) => plan.gpus[0].fits).length;
  const caption = `Memory of the fullest GPU by use: ${fitting} of ${
    plans.length} setups fit. The line is the GPU's memory.`;
  const table = () => html`<${PlainTable} label="Memory of each setup"
    head=${["Setup", "Needs", "GPU's memory", "Free"]} rows=${shown.map(({ setup, plan }) =>
      [setup_label(setup), bytes(plan.total_bytes), bytes(plan.gpus[0].memory_bytes),
        signed_bytes(plan.gpus[0].headroom_bytes)])} />`;
  return html`<${MemoryBars} bars=${shown.map(bar_of)} parts=${PARTS} scale=${scale_of(plans)}
    caption=${caption} table=${table} />`;
}

const count_text = (parameters) => (parameters > 0 ? `${number(parameters / 1e9)} B parameters`
  : "none");

const signed_bytes = (value) => (value < 0 ? `−${bytes(-value)}` : bytes(value));

function PartCell({ cell }) {
  return html`<td class="num plan-cell" title=${cell.bytes === null ? "" : `${cell.bytes} bytes`}>
    ${bytes(cell.bytes)}<span class="plan-formula">${cell.formula}</span>
    ${cell.worked !== cell.formula && html`<span class="plan-formula">${cell.worked}</span>`}</td>`;
}

function SumRow({ label, values }) {
  return html`<tr class="sum"><th scope="row">${label}</th>
    ${values.map((value, i) => html`<td class="num" key=${i}>${value}</td>`)}
    <td class="only-wide"></td></tr>`;
}

function PartTable({ shown }) {
  const plans = shown.map(({ plan }) => plan);
  return html`<div class="table-region" role="group" tabindex="0" aria-label="Parts of each setup">
    <table class="plan-table"><thead><tr><th scope="col">Part</th>
      ${shown.map(({ setup }, i) => html`<th scope="col" class="num" key=${i}>${
        setup_label(setup)}</th>`)}<th scope="col" class="only-wide">Source</th></tr></thead>
    <tbody>${part_rows(plans).map((row) => html`<tr key=${row.name}>
      <th scope="row"><span class="swatch bar-${row.part}"></span>${row.label}
        <span class="plan-formula wrap">${row.help}</span></th>
      ${row.cells.map((cell, i) => html`<${PartCell} key=${i} cell=${cell} />`)}
      <td class="wrap faint plan-source only-wide">${row.sources.join("; ")}</td></tr>`)}
      <${SumRow} label="Sum of known parts" values=${plans.map((p) => bytes(p.total_bytes))} />
      <${SumRow} label="The GPU's memory"
        values=${plans.map((p) => bytes(p.gpus[0].memory_bytes))} />
      <${SumRow} label="Free" values=${plans.map((p) => signed_bytes(p.gpus[0].headroom_bytes))} />
      ${plans[0].measured && html`<${SumRow} label=${`Measured in ${plans[0].measured.name}`}
        values=${plans.map((p) => measured_text(p.measured))} />`}
      <${SumRow} label="Largest model of this shape that fits"
        values=${plans.map((p) => count_text(p.gpus[0].largest_parameters))} />
    </tbody></table></div>`;
}

/** The problems of all setups, once each. */
function Problems({ replies }) {
  const problems = replies.map(({ problem }) => problem).filter(Boolean);
  const first = problems.filter((problem, i) =>
    problems.findIndex(({ detail }) => detail === problem.detail) === i);
  return first.map((problem) =>
    html`<${ProblemNotice} key=${problem.detail} problem=${problem} />`);
}

function summary_of(plan) {
  return `${plan.bytes_per_parameter} bytes per parameter without activations, ${
    bytes(plan.model_static_bytes)} for the whole model`;
}

function Result({ shown, paths }) {
  return html`<${Card} title="Memory of one GPU" note=${summary_of(shown[0].plan)}>
      <${Bars} shown=${shown} /><//>
    <${Card} title="Parts and formulas" flush
      note="P parameters, L layers, s tokens, b sequences, h hidden, a heads, v vocabulary; d, t, p
        data-, tensor- and pipeline-parallel GPUs; f micro-batches in flight"
      actions=${html`<span class="exports" role="group" aria-label="These plans as data">${
        paths.map((path, i) => html`<a key=${path} href=${api_href(path)}>JSON ${i + 1}</a>`)}
      </span>`}>
      <${PartTable} shown=${shown} /><//>
    <p class="footnote">The formulas assume layers like GPT's; experts, context parallelism and
      offloading are not covered. GPU sizes are from data sheets, with 1e9 bytes per GB. For a
      recorded run, its Memory page shows the actual use.</p>`;
}

const RECOMPUTED = { none: "nothing", selective: "the attention", full: "whole layers" };

const as_setup = (way) => ({ ...way, dp: String(way.dp), tp: String(way.tp), pp: String(way.pp) });

/** The ways to shard the model over this many GPUs that fit, best first. */
function Ways({ query, change, gpu, add }) {
  const { data, problem } = use_api(setups_path(query, gpu));
  const rows = (data?.setups ?? []).map(as_setup).map((way) => [
    html`<button type="button" class="small" title="Add this setup"
      onClick=${() => add({ ...way, gpu })}>${split_label(way) || "one GPU"}</button>`,
    RECOMPUTED[way.recompute], bytes(way.total_bytes), signed_bytes(way.headroom_bytes),
    way.fits === false ? "no" : way.fits === null ? "unknown" : "yes"]);
  return html`<${Card} title="Which sharding fits" note=${`on ${gpu}, least recomputation and
      splitting first`} actions=${html`<label class="field"><span>GPUs</span><input
      value=${query.gpus} inputmode="numeric" size="6" aria-label="GPUs to shard it over"
      onChange=${(event) => change({ gpus: event.target.value.trim() })} /></label>`}>
    ${problem && html`<${ProblemNotice} problem=${problem} />`}
    ${data && html`<${PlainTable} label="Ways to shard the model" rows=${rows}
      head=${["Sharding", "Recomputed", "Needs", "Free", "Fits"]} />`}<//>`;
}

const QUESTION = "Does it fit, on which GPU, and with which parallelism?";

/** The setups in the address, which may be newer than what is shown. */
const setups_now = () => read_setups(new URLSearchParams(location.search).getAll("on"));

export default function Plan() {
  use_title("Memory planner");
  const [query, change] = use_query(DEFAULTS);
  const gpus = use_api("/plan?parameters=1").data?.gpus ?? [];
  const setups = read_setups(query.on);
  const paths = setups.map((setup) => plan_path(query, setup));
  const replies = use_plans(setups, paths);
  const shown = replies.filter(({ plan }) => plan);
  return html`<header class="page-head"><h1 tabindex="-1">Memory planner</h1>
      <p class="page-note">computed from counts alone, before anything runs</p>
      <${CopyButton} text=${location.href} label="Copy link" className="" /></header>
    <p class="lead">${plan_lead(shown) || QUESTION}</p>
    <${PlanForm} query=${query} change=${change} />
    <${SetupTable} setups=${setups} gpus=${gpus}
      onchange=${(update) => change({ on: update(setups_now()).map(write_setup) })} />
    ${replies.length === 0 && html`<${Loading} />`}
    <${Problems} replies=${replies} />
    ${shown.length > 0 && html`<${Result} shown=${shown} paths=${paths} />`}
    <${Ways} query=${query} change=${change} gpu=${setups[0].gpu}
      add=${(way) => change({ on: [...setups_now(), way].map(write_setup),
        recompute: way.recompute, interleave: "1" })} />`;
}
