// SPDX-License-Identifier: Apache-2.0
// Runs side by side: whether they can be compared, by how much the step differs, whether that is
// more than noise, and where exactly the time went.
import { html, useState } from "../../base/ui.mjs";
import { address, run_path } from "../../base/address.mjs";
import { sentence } from "../../base/format.mjs";
import { use_title } from "../../base/hooks.mjs";
import { KernelLabels } from "../../widgets/kernel_text.mjs";
import { Empty, Loaded, Notice, ReportLinks, Segments } from "../../widgets/widgets.mjs";
import { set_tray } from "../../base/tray.mjs";
import { Candidates } from "./compare_many.mjs";
import { ChangeTable, Unmatched } from "./compare_changes.mjs";
import {
  chosen_of, of_chosen, use_comparison, use_compare_query, use_compare_table, workbook_href,
} from "./compare_data.mjs";
import { ComparedFigures } from "./compare_figures.mjs";
import { Gate, Histories } from "./compare_gate.mjs";
import { Modules } from "./compare_modules.mjs";
import { Parity } from "./compare_parity.mjs";
import { Settings } from "./compare_settings.mjs";
import { SideActions, Sides } from "./compare_sides.mjs";
import { StepTimes } from "./compare_steps.mjs";
import { Communication, Findings, Memory, Ranks } from "./compare_tables.mjs";
import { LoneTraining, TrainingCurves } from "./compare_training.mjs";
import { Verdict } from "./compare_verdict.mjs";
import { use_waterfall, WaterfallCard } from "./compare_waterfall.mjs";
import { is_ready, is_series, keys_of, side_name } from "./side_model.mjs";
import { are_whole, is_comparable } from "./verdict_model.mjs";

const PER = [["step", "Per step"], ["token", "Per token"]];
const RANK = [["headline", "Typical rank"], ["slowest", "Slowest rank"]];

/** Recordings without steps are compared as they are: there is nothing to divide by. */
function Toggles({ query, change, whole, children }) {
  return html`<div class="compare-tools">
    ${!(whole && query.per === "step") && html`<${Segments} label="Normalize" value=${query.per}
      options=${PER} onchange=${(per) => change({ per })} />`}
    <${Segments} label="Representative rank of a run" value=${query.rank} options=${RANK}
      onchange=${(rank) => change({ rank })} />
    ${query.per === "token" && html`<span class="faint">scaled to the base's tokens per
      step</span>`}${children}</div>`;
}

/** Sticky links to the sections of a long page. */
function Jumps({ sections }) {
  const linked = sections.filter(([, label]) => label);
  return html`<nav class="jumps" aria-label="On this page"><ul>${linked.map(([id, label]) =>
    html`<li key=${id}><a href="#${id}">${label}</a></li>`)}</ul></nav>`;
}

/** The run of a side whose training log is shown. */
const first_of = ([run]) => ({ key: run.id, name: run.name });

/** Its key where only the address names the runs; "" for a series. */
const first_key = (side) => (side && !is_series(side) ? keys_of(side)[0] : "");

/** The sections below the answer: name in the address, label if it is linked to, content. */
function sections_of({ data, query, one, candidate, waterfall }) {
  const floor_ns = candidate.summary.relevant_from_ns ?? 0;
  const whole = are_whole(candidate.summary);
  const runs = [data.base.runs, candidate.runs].map(([run]) => run.id);
  // Kernels of one side against graphs of the other that hide theirs are no changes.
  const hidden = candidate.summary.same_work === null;
  return [
    ...(hidden ? [] : [["changes", "Changes", html`
      <${KernelLabels} runs=${runs} />
      <${ChangeTable} query=${one} summary=${candidate.summary} place=${waterfall.place}
        runs=${runs} onall=${() => waterfall.go({})} />`]]),
    ...(whole ? [] : [["steps", "Step time", html`<${StepTimes} data=${data}
      query=${query} />`]]),
    ["training", "", html`<${TrainingCurves} base=${first_of(data.base.runs)}
      cand=${first_of(candidate.runs)} />`],
    ["figures", "Figures", html`<${ComparedFigures}
      sides=${[query.base, query.cand[chosen_of(query)]]} />`],
    ["modules", "Modules", html`<p class="section-link"><a href=${address(
      run_path(runs[0], "flame"), { vs: runs[1], kernels: "no" })}>The difference as a flame
      graph</a>, by operator, module or idle cause</p>
      <${Modules} query=${one} floor_ns=${floor_ns} runs=${runs} whole=${whole} />`],
    ["parity", "Parity", html`<${Parity} query=${one} floor_ns=${floor_ns}
      runs=${runs} of_whole=${whole} />`],
    ["communication", "Communication", html`<${Communication} query=${one}
      floor_ns=${floor_ns} whole=${whole} />`],
    ["ranks", "Ranks", html`<${Ranks} query=${one} floor_ns=${floor_ns} whole=${whole} />`],
    ["memory", "Memory", html`<${Memory} query=${one} />`],
    ["findings", "Findings", html`<${Findings} query=${one} />`],
    ...(candidate.summary.unmatched_share > 0
      ? [["unmatched", "Unmatched", html`<${Unmatched} query=${one}
        runs=${runs} whole=${whole} />`]] : []),
    ["gate", "Gate", html`<${Gate} query=${one} whole=${whole} />`],
  ];
}

/** Everything about one candidate: the answer on the first screen, the evidence below. */
function Detail({ data, query, at, tools }) {
  const candidate = data.candidates[at];
  const one = of_chosen(query);
  const waterfall = use_waterfall(one);
  const sections = sections_of({ data, query, one, candidate, waterfall });
  return html`<${Verdict} query=${one} base=${data.base} candidate=${candidate}
      thresholds=${data.thresholds} per=${query.per} go=${waterfall.go} />
    <div class="compare-line"><${Settings} settings=${candidate.settings ?? []} />${tools}</div>
    <div id="waterfall" class="jump-target"><${WaterfallCard} waterfall=${waterfall}
      names=${[side_name(data.base.runs), side_name(candidate.runs)]}
      summary=${candidate.summary} /></div>
    <${Jumps} sections=${sections} />
    ${sections.map(([id, , content]) => html`<div key=${id} id=${id} class="jump-target">${content}
      </div>`)}
    <${Histories} sides=${[data.base.runs, candidate.runs]} />`;
}

/** Settings of runs of which one has no trace. */
function LoneSettings({ query }) {
  const { rows } = use_compare_table(query, "settings");
  return rows.length > 0 && html`<div class="compare-line"><${Settings} settings=${rows} />
    </div>`;
}

function Comparison({ data, query, change, tools }) {
  const at = chosen_of(query);
  const many = data.candidates.length > 1;
  const { summary, runs } = data.candidates[at];
  return html`${many && html`<${Candidates} data=${data} query=${query} chosen=${at}
      onpick=${(next) => change({ show: String(next + 1) })} />
      <h2 class="chosen-head">Candidate ${at + 1}: ${side_name(runs)}</h2>`}
    ${is_comparable(summary) ? html`<${Detail} key=${at} data=${data} query=${query} at=${at}
        tools=${tools} />`
      : html`${tools}<${Notice} kind="warning" title="These runs cannot be compared">
          <p>${sentence(summary.verdict_text)}</p><//>`}`;
}

/** Only people know the tokens per step; here they can enter them. */
function TokensNeeded({ problem, change }) {
  return html`<${Notice} kind="warning" role="alert" title="Tokens per step are not known">
    <p>${sentence(problem.detail)}</p>
    <p>Give <code>tokens_per_step</code>, or <code>batch_size</code> and <code>seq_len</code>, to
      every run of both sides: on its Data page, or when uploading with${" "}
      <code>-F meta=tokens_per_step=8192</code>.</p>
    <p><button type="button" class="link" onClick=${() => change({ per: "step" })}>Compare per
      step</button></p><//>`;
}

function NothingChosen({ sides }) {
  const what = !sides.base ? "Choose a base" : "Choose a candidate";
  return html`<${Empty} title=${what}>
    <p>Pick runs above, or select two in the <a href="/">list of runs</a>. A series with repeats
      can be one side: only repeats tell a change from noise.</p><//>`;
}

export default function Compare() {
  const [query, change] = use_compare_query();
  const [adding, set_adding] = useState(false);
  const sides = { base: query.base, cand: query.cand };
  const ready = is_ready(sides);
  const { resource, lacks_trace } = use_comparison(query, ready);
  const { data } = resource;
  const lacks_tokens = resource.problem?.status === 400 && query.per === "token"
    && /token/.test(resource.problem.detail);
  const runs_of = (at) => (at < 0 ? data?.base : data?.candidates[at])?.runs ?? [];
  use_title(data ? `Compare ${side_name(runs_of(-1))} → ${side_name(runs_of(chosen_of(query)))}`
    : "Compare");
  const set_sides = (next) => {
    change({ ...next, show: "1" });
    set_tray([]);
  };
  const whole = data ? are_whole(data.candidates[chosen_of(query)].summary) : false;
  const tools = html`<${Toggles} query=${query} change=${change} whole=${whole}><${SideActions}
    sides=${sides} adding=${adding} set_adding=${set_adding} />${data && is_ready(sides) && html`<a
    class="tool-link" href=${address("/compare/timeline", { base: runs_of(-1)[0]?.id,
      cand: runs_of(chosen_of(query))[0]?.id })}>Timelines</a><a class="tool-link"
    href=${workbook_href(query)} download>Tables as XLSX</a>`}<//>`;
  return html`<header class="page-head tight"><h1 tabindex="-1">Compare</h1>
      ${ready && html`<${ReportLinks} sides=${[query.base, ...query.cand]} />`}</header>
    <${Sides} sides=${sides} runs_of=${runs_of} change=${set_sides} adding=${adding}
      set_adding=${set_adding} found=${ready && !resource.problem && !lacks_trace} />
    ${!ready && html`<${NothingChosen} sides=${sides} />`}
    ${(lacks_tokens || lacks_trace) && tools}
    ${lacks_tokens && html`<${TokensNeeded} problem=${resource.problem} change=${change} />`}
    ${lacks_trace && html`<${LoneTraining} base=${first_key(query.base)}
      cand=${first_key(query.cand[0])} />
      <${LoneSettings} query=${of_chosen(query)} />
      <${ComparedFigures} sides=${[query.base, ...query.cand]} />`}
    ${ready && !lacks_tokens && !lacks_trace && html`<${Loaded} resource=${resource}>${(reply) =>
      html`<${Comparison} data=${reply} query=${query} change=${change} tools=${tools} />`}<//>`}`;
}
