// SPDX-License-Identifier: Apache-2.0
// Below the reasons: what to fix next, which rank moved, whether the work is the same, and what
// limits the figures.
import { html } from "../../base/ui.mjs";
import { run_path } from "../../base/address.mjs";
import { percent, plural, sentence, typeset } from "../../base/format.mjs";
import { doubted, next_fix, rank_answer } from "./answer_model.mjs";
import { use_compare_table } from "./compare_data.mjs";

const MOST_NAMED = 2;

const Answer = ({ label, children }) =>
  html`<p><span class="faint">${label}</span> ${children}</p>`;

/** Links to trust reports with warnings or errors. */
function Limits({ runs }) {
  if (runs.length === 0) return "none in the trust reports";
  const more = runs.length - MOST_NAMED;
  return html`${runs.slice(0, MOST_NAMED).map((run, i) => html`${i > 0 && ", "}<a key=${run.id}
    href=${run_path(run.id, "data")}>trust report of ${run.name}</a>`)}${
    more > 0 && ` and ${plural(more, "more run")}`}`;
}

/** @param {{query: any, summary: any, base: any[], cand: any[]}} props of the chosen candidate */
export function Answers({ query, summary, base, cand }) {
  const fix = next_fix(use_compare_table(query, "findings").rows);
  const rank = rank_answer(use_compare_table(query, "ranks").rows);
  const limits = doubted([...base, ...cand]);
  return html`<div class="verdict-answers">
    ${fix && html`<${Answer} label="Fix next"><a href=${run_path(cand[0].id, "findings")}>${
      sentence(typeset(fix.title))}</a><//>`}
    ${rank && html`<${Answer} label="Which rank"><a href="#ranks">${rank}</a><//>`}
    ${summary.same_work_share > 0 && html`<${Answer} label="Same work">${
      percent(summary.same_work_share)} of device time<//>`}
    <${Answer} label="Limits"><${Limits} runs=${limits} /><//>
  </div>`;
}
