// SPDX-License-Identifier: Apache-2.0
// What a change would bring before anyone makes it: ready-made changes in order, controls to
// compose others, and what the step waits for then.
import { html, useRef } from "../../base/ui.mjs";
import { api_href, use_api } from "../../base/api.mjs";
import { address } from "../../base/address.mjs";
import { use_query } from "../../base/router.mjs";
import { ms, percent, plural, range_text, sentence, time_text } from "../../base/format.mjs";
import { timed } from "../../base/values.mjs";
import { Card, ExportLinks, Figure, Help, Lead, Loaded, Notice, ProblemNotice }
  from "../../widgets/widgets.mjs";
import { KernelLabels } from "../../widgets/kernel_text.mjs";
import { change_label } from "../said/promise_model.mjs";
import { Due, KeepPromise, Promises } from "../said/promises.mjs";
import { changes_of } from "../overview/finding_model.mjs";
import { is_whole } from "../run/lead_model.mjs";
import { NoResult } from "../run/rank_page.mjs";
import { run_api, RunFrame } from "../run/run_frame.mjs";
import { use_table } from "../run/run_table.mjs";
import { Controls } from "./controls.mjs";
import { use_live } from "./live.mjs";
import { PathBars } from "./path_bars.mjs";
import { PathTable } from "./path_table.mjs";
import { answer_text, changes_alone, LEAST_GAIN, read_changes, toggle_change, whatif_lead,
  write_changes } from "./whatif_model.mjs";

const MOST_KERNELS = 30; // to choose from

/** The last data of a resource, while the next is on its way. */
function use_last(resource) {
  const last = useRef(null);
  if (resource.data) last.current = resource.data;
  return resource.data ?? (resource.problem ? null : last.current);
}

const between = ({ low_ns, high_ns }, whole = false) =>
  (low_ns === null ? `not known from one ${whole ? "recording" : "step"}`
    : range_text(low_ns, high_ns));

const gained = (then) => (then && then.gain_low_ns !== null
  ? `, ${range_text(then.gain_low_ns, then.gain_high_ns)}` : "");

function Figures({ reply, then, whole }) {
  const { base } = reply;
  const what = whole ? "Recording" : "Step";
  return html`<dl class="kpis">
    <${Figure} label=${whole ? "Recording" : "Step as recorded"} ...${timed(base.step_ns)}
      help=${whole ? "All of it, as no step is marked." : "Mean of the steady steps."}>${
        whole ? "all" : plural(reply.steps, "steady step")} of rank ${reply.rank}<//>
    <${Figure} label="${what} after changes" ...${timed((then ?? base).step_ns)}
      help="The recorded step less what the replay gained, and what 90 of 100 steps would take.">${
        then ? between(then, whole) : "no change chosen"}<//>
    <${Figure} label="Gain" ...${timed(then?.gain_ns ?? 0)}
      help=${"How much shorter a step gets, and what 90 of 100 steps gain. Steps also differ " +
        "among themselves, so the times that they take differ more."}>${
        percent(then?.gain_share ?? 0)} of the ${what.toLowerCase()}${gained(then)}<//>
    <${Figure} label="Replay error" value=${percent(base.error_share)}
      help="How far the replay without any change is from the recorded steps.">at most ${
        percent(base.worst_error_share)} of ${whole ? "it" : "a step"}<//></dl>`;
}

/** What each chosen change brings by itself: together they may bring more or less. */
function Chosen({ reply, changes, onchange }) {
  return html`<ul class="whatif-chosen" aria-label="Chosen changes">${
    reply.changes.map((one) => html`<li key=${one.change}><span>${change_label(one)}</span>
      <span class="faint">${one.touched_ns === 0 ? "selects nothing here"
        : `alone ${time_text(one.gain_ns)}`}</span>
      <button type="button" class="icon" aria-label=${`Remove ${change_label(one)}`}
        onClick=${() => onchange(changes.filter((change) => change !== one.change))}>×</button>
    </li>`)}</ul>`;
}

function Stair({ one, base, changes, onchange, whole }) {
  const nothing = Math.abs(one.gain_share) < LEAST_GAIN;
  return html`<tr class=${nothing ? "whatif-nothing" : ""}>
    <th scope="row"><${Help} text=${one.help}>${one.title}<//></th>
    <td class="num" title=${`${one.gain_ns} ns`}>${nothing ? "nothing" : ms(one.gain_ns)}</td>
    ${!whole && html`<td class="num whatif-wide">${nothing ? "" : between(one)}</td>`}
    <td class="num" title=${`${one.staircase_ns} ns`}>${ms(one.staircase_ns)}</td>
    <td class="whatif-stair" aria-hidden="true"><span><span
      style=${{ width: `${(100 * one.staircase_ns) / base.step_ns}%` }}></span></span></td>
    <td><button type="button" class="small" aria-pressed=${changes.includes(one.change)}
      onClick=${() => onchange(toggle_change(changes, one.change))}>${
        changes.includes(one.change) ? "Chosen" : "Choose"}<span class="visually-hidden">: ${
        one.title}</span></button></td></tr>`;
}

/** Changes, the most useful first, each on top of those above it. */
function Staircase({ title, reply, changes, onchange, whole }) {
  return html`<${Card} title="${title}, in order" flush
      note="each by itself, and with all above it"><div class="table-region" role="group"
      tabindex="0" aria-label=${title}><table class="whatif-stairs"><thead><tr>
      <th scope="col">Change</th><th scope="col" class="num">Gain <span class="unit">ms</span></th>
      ${!whole && html`<th scope="col" class="num whatif-wide">Step alone</th>`}
      <th scope="col" class="num">With all above <span class="unit">ms</span></th>
      <th scope="col" class="whatif-stair" aria-hidden="true"></th>
      <th scope="col"><span class="visually-hidden">Choose</span></th></tr></thead>
    <tbody><tr><th scope="row">As recorded</th><td class="num"></td>
      ${!whole && html`<td class="num whatif-wide"></td>`}
      <td class="num">${ms(reply.base.step_ns)}</td>
      <td class="whatif-stair" aria-hidden="true"><span><span style=${{ width: "100%" }}></span>
      </span></td><td></td></tr>
    ${reply.changes.map((one) => html`<${Stair} key=${one.change} one=${one} base=${reply.base}
      changes=${changes} onchange=${onchange} whole=${whole} />`)}</tbody></table></div><//>`;
}

/** What the findings advise, as far as changes can express it. */
function Advice({ run, query, reply, changes, onchange, whole }) {
  const { rows } = use_table(run, "findings", { fields: "change", limit: "all" });
  const advised = changes_of(rows);
  const alone = reply.ranks.length === 1 ? changes_alone(advised) : advised;
  const { data } = use_api(alone.length > 1 ? address(run_api(run, "whatif"),
    { change: alone, rank: query.rank, order: "gain" }) : null);
  return data?.changes && html`<${Staircase} title="All advice of the findings" reply=${data}
    changes=${changes} onchange=${onchange} whole=${whole} />`;
}

function Composer({ run, query, reply, chosen, changes, onchange, whole }) {
  const { rank, counterpart } = query;
  const kernels = use_table(run, "kernels", { sort: "-per_step_ns", limit: String(MOST_KERNELS) });
  const roofline = use_table(run, "roofline", { fields: "kernel,busy_ns,lost_ns" });
  const then = use_last(chosen);
  const shown = changes.length > 0 ? then : null;
  const { live, reach, move } = use_live(run, query, changes, chosen.data);
  const now = live ?? shown?.together;
  const names = kernels.rows.map(({ name }) => name);
  const set = (patch) => onchange(write_changes({ ...read_changes(changes), ...patch }));
  return html`<${Figures} reply=${reply} then=${now} whole=${whole} />
    <div class="whatif-sides"><div><${Card} note="critical path"
        title="${whole ? "Recording" : "Step"} after changes"
        actions=${html`<${ExportLinks} links=${[["JSON",
          api_href(address(run_api(run, "whatif"), { change: changes, rank, counterpart }))]]} />`}>
      <p class="whatif-answer" role="status">${now
        ? answer_text(reply.base, now, shown?.changes ?? [], whole)
        : changes.length > 0 ? "…" : "Choose a change."}</p>
      <p class="footnote">The recording is replayed as a graph of what waited for what, so that
        a change can be judged before anyone makes it.${reply.missing_ranks > 0
          && ` Waits for ${plural(reply.missing_ranks, "rank")} of the job not replayed count as
          communication, so gains from changing it are upper bounds.`}</p>
      ${chosen.problem && html`<${ProblemNotice} problem=${chosen.problem} />`}
      ${shown && !rank && html`<${KeepPromise} run=${run} changes=${changes}
        counterpart=${counterpart} />`}
      ${shown && html`<${Chosen} reply=${shown} changes=${changes} onchange=${onchange} />`}
      <${PathBars} base=${reply.base} then=${shown?.together} steps=${reply.steps}
        whole=${whole} /><//>
    <${Advice} run=${run} query=${query} reply=${reply} changes=${changes}
      onchange=${onchange} whole=${whole} />
    <${Staircase} title="Ready-made changes" reply=${reply} changes=${changes}
      onchange=${onchange} whole=${whole} /></div>
    <${Card} title="Changes" actions=${changes.length > 0 && html`<button
        type="button" class="small" onClick=${() => onchange([])}>Reset</button>`}>
      <${Controls} setup=${read_changes(changes)} ranks=${reply.ranks} kernels=${names}
        roofline=${roofline.rows} onreach=${reach} onmove=${move} onchange=${set} /><//></div>`;
}

function Refused({ reason }) {
  return html`<${Notice} kind="warning" title="There is no answer for this recording">
    <p>${sentence(reason)} A replay that does not reproduce the recording cannot predict the
      effect of a change.</p>
    <p><a href="/docs/recording">What to record</a></p><//>`;
}

function RankPick({ ranks, value, onchange }) {
  return html`<label class="pick">Replay<select value=${value}
      onChange=${(event) => onchange(event.target.value)}>
    <option value="">all ranks together</option>
    ${ranks.map((rank) => html`<option key=${rank} value=${String(rank)}>rank ${rank} by itself
      </option>`)}</select></label>`;
}

function Content({ data, run }) {
  const [query, change] = use_query({ change: [], rank: "", counterpart: "" });
  const path = run_api(run, "whatif");
  const ready = use_api(data.summary ? address(path, { rank: query.rank,
    counterpart: query.counterpart }) : null);
  const changes = query.rank || ready.data?.ranks.length === 1 ? changes_alone(query.change)
    : query.change;
  const chosen = use_api(changes.length > 0 && ready.data?.base
    ? address(path, { change: changes, rank: query.rank, counterpart: query.counterpart }) : null);
  const ranks = use_table(run, "ranks", { fields: "rank" }).rows.map(({ rank }) => rank);
  if (!data.summary) return html`<${NoResult} run=${data.run} />`;
  const onchange = (list) => change({ change: list });
  const whole = is_whole(data, query.rank === "" ? undefined : Number(query.rank));
  return html`<${KernelLabels} runs=${[run]} />
    ${ready.data?.base && html`<${Lead} text=${whatif_lead(ready.data, whole)} />`}
    ${ranks.length > 1 && html`<div class="filter-bar"><${RankPick} ranks=${ranks}
      value=${query.rank} onchange=${(rank) => change({ rank })} /></div>`}
    <${Due} run=${run} />
    <${Loaded} resource=${ready}>${(reply) => (reply.refused
      ? html`<${Refused} reason=${reply.refused} />`
      : html`<${Composer} run=${run} query=${query} reply=${reply} chosen=${chosen}
          changes=${changes} onchange=${onchange} whole=${whole} />
        <${Promises} run=${run} />
        <${PathTable} run=${run} reply=${reply} whole=${whole} />`)}<//>`;
}

export default function WhatIf({ route }) {
  return html`<${RunFrame} route=${route} title="What if">${(data, run) =>
    html`<${Content} data=${data} run=${run} />`}<//>`;
}
