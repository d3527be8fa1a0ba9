// SPDX-License-Identifier: Apache-2.0
// The verdict: direction and size in words, how certain it is and why; how to become more certain.
import { html } from "../../base/ui.mjs";
import { run_path } from "../../base/address.mjs";
import { plural, sentence } from "../../base/format.mjs";
import { Command, Help } from "../../widgets/widgets.mjs";
import { times_text } from "./reason_model.mjs";
import { repeat_command, side_name } from "./side_model.mjs";
import { Answers } from "./compare_answers.mjs";
import { Reasons } from "./compare_reasons.mjs";
import { per_step } from "../run/lead_model.mjs";
import { certainty, different_work, evidence, hardly_comparable, headline, lacks_steps,
  unmarked_side, verdict_chip } from "./verdict_model.mjs";

function SideName({ runs }) {
  const name = side_name(runs);
  return runs.length === 1 ? html`<a href=${run_path(runs[0].id)}>${name}</a>`
    : html`<span class="side-name">${name}</span>`;
}

function Line({ base, cand, summary, per }) {
  const { words, share } = headline(summary, per);
  const other = different_work(summary);
  if (other) {
    return html`<p class="verdict-line"><${SideName} runs=${cand} /> and${" "}
      <${SideName} runs=${base} /> <strong>did different work</strong>, so neither is faster:${" "}
      ${times_text(summary.base_step_ns, summary.cand_step_ns, 4)}${
        per_step(lacks_steps(summary))}</p>`;
  }
  const chip = html`<span class="chip chip-verdict verdict-${
    summary.verdict.replaceAll(" ", "-")}">${verdict_chip(summary)}</span>`;
  const measured = html`<strong>${words}</strong>${share && ` (${share})`}`;
  if (!share) {
    return html`<p class="verdict-line"><${SideName} runs=${cand} /> ${measured} as${" "}
      <${SideName} runs=${base} /> ${chip}</p>`;
  }
  if (summary.verdict === "within noise") {
    return html`<p class="verdict-line"><${SideName} runs=${cand} /> does not differ from${" "}
      <${SideName} runs=${base} /> beyond noise: measured ${measured} ${chip}</p>`;
  }
  return html`<p class="verdict-line"><${SideName} runs=${cand} /> is ${measured} than${" "}
    <${SideName} runs=${base} /> ${chip}</p>`;
}

/** Only if repeats would help: the command to add them. */
function MoreRepeats({ base, cand, summary }) {
  if (summary.verdict !== "noise unknown") return null;
  const [run] = base.length < cand.length ? base : cand;
  return html`<details class="fold"><summary>How to get repeats</summary>
    <p>${plural(base.length, "run")} against ${cand.length} cannot show how much runs vary. Repeat
      the measurement, and upload each repeat under the name of its series, the part before the
      @:</p>
    <${Command} text=${repeat_command(run, location.origin)} />
    <p>Then select the series above with all its repeats. Eight or more runs of the base's
      series also help: they show its usual spread.</p></details>`;
}

/** How certain it is, on demand: most readers want the reasons. */
function Certainty({ base, cand, summary, thresholds }) {
  return html`<details class="fold certainty"><summary>How certain: ${certainty(summary)}</summary>
    <dl class="facts verdict-facts">${evidence(summary, thresholds).map(([label, text, help]) =>
      html`<div key=${label}><dt><${Help} text=${help}>${label}<//></dt><dd>${text}</dd></div>`)}
    </dl>
    <p class="faint">${sentence(summary.verdict_text)} Lower is better.</p>
    <${MoreRepeats} base=${base} cand=${cand} summary=${summary} /></details>`;
}

/**
 * @param {{query: any, base: {runs: any[], note?: string | null}, candidate: any,
 *          thresholds: any, per: string, go: (place: any) => void}} props
 *          `go` opens a place of the waterfall
 */
export function Verdict({ query, base: { runs: base, note }, candidate, thresholds, per, go }) {
  const { summary, runs, reasons } = candidate;
  const is_alike = summary.verdict === "within noise" || summary.same_work === false;
  const tone = is_alike ? "same" : headline(summary).tone;
  const warning = hardly_comparable(summary);
  const unmarked = unmarked_side(summary, [side_name(base), side_name(runs)]);
  return html`<section class="verdict verdict-${tone}" aria-label="Verdict">
    ${summary.doubts && html`<p class="verdict-warning">
      <strong>Not fully comparable:</strong> ${sentence(summary.doubts)}</p>`}
    ${warning && html`<p class="verdict-warning">
      <strong>Hardly comparable:</strong> ${warning}</p>`}
    ${unmarked && html`<p class="verdict-warning"><strong>A step against a recording:</strong> no
      step of ${unmarked} is marked, so its whole recording counts as one.</p>`}
    <${Line} base=${base} cand=${runs} summary=${summary} per=${per} />
    ${note && html`<p class="faint">${sentence(note)}</p>`}
    <${Reasons} reasons=${reasons ?? []} summary=${summary} go=${go}
      runs=${[base[0]?.id, runs[0]?.id]} />
    <${Answers} query=${query} summary=${summary} base=${base} cand=${runs} />
    <${Certainty} base=${base} cand=${runs} summary=${summary} thresholds=${thresholds} />
  </section>`;
}
