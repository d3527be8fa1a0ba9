// SPDX-License-Identifier: Apache-2.0
// Two runs side by side: what differs in their settings, by how much the step differs, and where
// exactly that time went.
import { html, useMemo, useState } from "../ui.mjs";
import { api_href, use_api } from "../api.mjs";
import { use_query } from "../router.mjs";
import { address, run_path } from "../address.mjs";
import { use_title } from "../hooks.mjs";
import { count, ms_unit, percent, plural, sentence, short_gpu } from "../format.mjs";
import { delta_words, tone_of } from "../charts/delta.mjs";
import { DotStrips } from "../charts/dot_strip.mjs";
import { part_of } from "../parts.mjs";
import { Card, CopyButton, Empty, Loaded, Notice } from "../widgets.mjs";
import { WaterfallCard } from "./compare_waterfall.mjs";
import { ChangeTable } from "./compare_changes.mjs";
import { set_tray } from "../tray.mjs";

const DEFAULTS = { base: "", cand: "" };

/** Runs that can be chosen; the current one stays listed though it be off the first page. */
function RunPicker({ label, value, runs, current, onpick }) {
  const listed = runs.some(({ id }) => id === current?.id);
  const all = current && !listed ? [current, ...runs] : runs;
  return html`<label class="picker"><span>${label}</span>
    <select value=${current?.id ?? value} onChange=${(event) => onpick(event.target.value)}>
      ${!value && html`<option value="">choose a run</option>`}
      ${value && !current && html`<option value=${value}>${value}</option>`}
      ${all.map(({ id, name, gpu }) => html`<option key=${id} value=${id}>${name}${
        gpu ? ` · ${short_gpu(gpu)}` : ""}</option>`)}
    </select></label>`;
}

function Pickers({ query, change, data }) {
  const runs = use_api(address("/runs", { limit: 200, sort: "-created" })).data?.items ?? [];
  const swap = () => change({ base: query.cand, cand: query.base });
  return html`<div class="pickers">
    <${RunPicker} label="Base" value=${query.base} runs=${runs} current=${data?.base}
      onpick=${(base) => change({ base })} />
    <button type="button" class="swap" onClick=${swap} aria-label="Swap base and candidate"
      title="Swap base and candidate">⇄</button>
    <${RunPicker} label="Candidate" value=${query.cand} runs=${runs} current=${data?.cand}
      onpick=${(cand) => change({ cand })} />
    ${query.base && query.cand && html`<${CopyButton} text=${location.href} label="Copy link"
      className="" />`}
  </div>`;
}

function Settings({ settings }) {
  const [all, set_all] = useState(false);
  const differing = settings.filter(({ differs }) => differs);
  const equal = settings.length - differing.length;
  const shown = all ? settings : differing;
  const text = differing.length === 0
    ? "No recorded setting differs"
    : `${plural(differing.length, "setting")} ${differing.length === 1 ? "differs" : "differ"}`;
  return html`<section class="settings ${differing.length > 0 ? "differ" : ""}"
      aria-label="Settings that differ">
    <p class="settings-head"><strong>${text}</strong>
      ${equal > 0 && html`<button type="button" class="link" aria-expanded=${all}
        onClick=${() => set_all(!all)}>${all ? "hide equal ones"
        : `show ${plural(equal, "equal one")} too`}</button>`}</p>
    ${shown.length > 0 && html`<dl>${shown.map(({ key, base, cand, differs }) => html`
      <div key=${key}
        class=${differs ? "" : "equal"}>
      <dt>${key.replaceAll("_", " ")}</dt>
      <dd>${differs ? html`<span>${base ?? "not recorded"}</span> <span class="to"
        aria-label="to">→</span> <span>${cand ?? "not recorded"}</span>` : (base ?? "–")}</dd>
    </div>`)}</dl>`}
  </section>`;
}

/** The bars with the largest changes, in words. */
function biggest_text(rows) {
  const bars = rows.filter((row) => row.level === "bar" && row.delta_ns !== 0);
  const text = (list) =>
    list.map((row) => `${part_of(row.bar).label} ${ms_unit(Math.abs(row.delta_ns))}`).join(", ");
  const better = bars.filter((row) => row.delta_ns < 0).sort((a, b) => a.delta_ns - b.delta_ns);
  const worse = bars.filter((row) => row.delta_ns > 0).sort((a, b) => b.delta_ns - a.delta_ns);
  return [
    better.length > 0 && `Saved: ${text(better.slice(0, 3))}.`,
    worse.length > 0 && `Lost: ${text(worse.slice(0, 3))}.`,
  ].filter(Boolean).join(" ");
}

function Verdict({ data, rows }) {
  const { summary, cand, base } = data;
  const same = summary.delta_ns === 0;
  return html`<section class="verdict verdict-${tone_of(summary.delta_ns)}" aria-label="Verdict">
    <p class="verdict-line"><a href=${run_path(cand.id)}>${cand.name}</a>${same ? " " : " is "}
      <strong>${delta_words(summary.delta_ns)}</strong> ${same ? "as" : "than"}${" "}
      <a href=${run_path(base.id)}>${base.name}</a>
      <span class="chip chip-verdict">${summary.verdict}</span></p>
    <p>${biggest_text(rows)}</p>
    <p class="faint">${sentence(summary.verdict_text)}${
      summary.speedup ? ` Speedup ${summary.speedup.toFixed(3)}×.` : ""}</p>
  </section>`;
}

function StepTimes({ data }) {
  const { summary, steps, base, cand } = data;
  const strip = (side, run) => ({
    side,
    name: `${side === "base" ? "Base" : "Candidate"}: ${run.name}`,
    steps: steps?.[side] ?? [],
    median: summary[`${side}_step_ns`],
    low: summary[`${side}_ci_low_ns`] ?? null,
    high: summary[`${side}_ci_high_ns`] ?? null,
  });
  const few = Math.min(steps?.base?.length ?? 0, steps?.cand?.length ?? 0) < 5;
  const caption = `Steady steps in milliseconds; the line is the median${
    few ? "" : ", the band its 95 % interval"}. Lower is better.`;
  return html`<${Card} title="Step time" note=${`${count(summary.base_steps)} and ${
      plural(summary.cand_steps, "steady step")}`}>
    <${DotStrips} strips=${[strip("base", base), strip("cand", cand)]} caption=${caption} /><//>`;
}

function Comparison({ data, query }) {
  const path = address("/compare/waterfall", { ...query, limit: "all" });
  const resource = use_api(path);
  const href = (format) => api_href(address("/compare/waterfall", { ...query, format }));
  const rows = useMemo(() => resource.data?.items ?? [], [resource.data]);
  if (!data.summary) {
    return html`<${Notice} kind="warning" title="These runs cannot be compared yet">
      <p>At least one of them has no analysed steps.</p><//>`;
  }
  return html`<${Settings} settings=${data.settings ?? []} />
    <${Verdict} data=${data} rows=${rows} />
    <${StepTimes} data=${data} />
    <${Loaded} resource=${resource}>${() => html`
      <${WaterfallCard} rows=${rows} data=${data} />
      <${ChangeTable} rows=${rows} data=${data} href=${href} />`}<//>
    <p class="footnote">The waterfall stands on means over the steady steps of each run's headline
      rank, because medians do not add up; matched by operator, then by kernel name, then by
      category${matched_text(data.summary)}.</p>`;
}

function matched_text({ matched_share }) {
  return matched_share === null || matched_share === undefined
    ? ""
    : `: ${percent(matched_share)} of device time is matched`;
}

function NothingChosen() {
  return html`<${Empty} title="Choose two runs">
    <p>Pick a base and a candidate above, or select two in the <a href="/">list of runs</a>.</p>
  <//>`;
}

export default function Compare() {
  const [query, change] = use_query(DEFAULTS);
  const ready = query.base && query.cand;
  const resource = use_api(ready ? address("/compare", query) : null);
  const names = resource.data && `${resource.data.base.name} → ${resource.data.cand.name}`;
  use_title(names ? `Compare ${names}` : "Compare");
  const pick = (patch) => {
    change(patch);
    set_tray([]);
  };
  return html`<header class="page-head"><h1 tabindex="-1">Compare</h1></header>
    <${Pickers} query=${query} change=${pick} data=${resource.data} />
    ${!ready && html`<${NothingChosen} />`}
    ${ready && html`<${Loaded} resource=${resource}>${(data) =>
      html`<${Comparison} data=${data} query=${query} />`}<//>`}`;
}
