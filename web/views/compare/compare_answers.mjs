// SPDX-License-Identifier: Apache-2.0
// Below the reasons: what to fix first, which rank moved, whether the work is the same, and what
// limits the figures.
import { html } from "../../base/ui.mjs";
import { address, run_path } from "../../base/address.mjs";
import { use_api } from "../../base/api.mjs";
import { percent, plural, sentence, typeset } from "../../base/format.mjs";
import { use_dismissals } from "../overview/dismissals.mjs";
import { part_findings } from "../overview/finding_model.mjs";
import { run_api } from "../run/run_frame.mjs";
import { doubted, rank_answer } from "./answer_model.mjs";
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

/** What the run's overview says first: one order, whichever page is asked. */
function Fix({ run }) {
  const { data } = use_api(address(run_api(run, "findings"), { limit: "all" }));
  const { items, resource } = use_dismissals(run);
  const [first] = resource.loading ? [] : part_findings(data?.items ?? [], items).large;
  return first && html`<${Answer} label="Fix first"><a href=${run_path(run, "findings")}>${
    sentence(typeset(first.title))}</a><//>`;
}

/** @param {{query: any, summary: any, base: any[], cand: any[]}} props of the chosen candidate */
export function Answers({ query, summary, base, cand }) {
  const rank = rank_answer(use_compare_table(query, "ranks").rows);
  const limits = doubted([...base, ...cand]);
  return html`<div class="verdict-answers">
    ${cand.length > 0 && html`<${Fix} run=${cand[0].id} />`}
    ${rank && html`<${Answer} label="Which rank"><a href="#ranks">${rank}</a><//>`}
    ${summary.same_work_share > 0 && html`<${Answer} label="Same work">${
      percent(summary.same_work_share)} of device time<//>`}
    <${Answer} label="Limits"><${Limits} runs=${limits} /><//>
  </div>`;
}
