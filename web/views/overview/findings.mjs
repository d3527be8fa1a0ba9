// SPDX-License-Identifier: Apache-2.0
// All findings of a run; those below half a percent of the step are folded, as are dismissed ones.
import { html, useMemo } from "../../base/ui.mjs";
import { api_href, table_links, use_api } from "../../base/api.mjs";
import { address, has_server, run_path } from "../../base/address.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { percent, plural, time_text } from "../../base/format.mjs";
import { Card, ExportLinks, Loaded, ProblemNotice } from "../../widgets/widgets.mjs";
import { use_dismissals } from "./dismissals.mjs";
import { FindingList } from "./finding_card.mjs";
import { use_gains } from "./finding_gains.mjs";
import { changes_of, part_findings, saving_of, unjudged } from "./finding_model.mjs";
import { GUIDE } from "../run/lacks.mjs";
import { is_whole } from "../run/lead_model.mjs";
import { use_rank_table } from "../run/rank_data.mjs";
import { NoResult } from "../run/rank_page.mjs";
import { run_api, RunFrame } from "../run/run_frame.mjs";

function Saving({ findings, whole }) {
  const { ns, share } = saving_of(findings);
  if (ns === 0) return null;
  return html`<section class="verdict" aria-label="Total cost of the findings">
    <p class="verdict-line">${findings.length > 1 ? "Together these" : "This"} could save up to ${
      time_text(ns)}${whole ? "" : " per step"} (${percent(share)})</p>
    <p class="faint">Time that several findings explain counts once, for the costliest. Every cost
      is an upper bound: the gain if nothing else fills the time.</p></section>`;
}

function Fold({ label, ...props }) {
  if (props.findings.length === 0) return null;
  return html`<details class="fold"><summary>${label}</summary>
    <${FindingList} ...${props} /></details>`;
}

/** What no rule could examine, so that silence is not taken for health. */
function Unjudged({ run }) {
  const { data } = use_rank_table(run, "recording", "");
  const gaps = unjudged(rows_of(frame_of(data)));
  if (gaps.length === 0) return null;
  return html`<${Card} title="Not judged" note="missing from this recording">
    <ul class="notes">${gaps.map(({ item, text, how }) => html`<li key=${item}>${text}${
      how && html` <span class="lacks-how">${how}</span>`}</li>`)}</ul>
    <p><a href=${GUIDE}>How to record it</a></p><//>`;
}

function AllFindings({ run, data, reply, dismissals, links }) {
  const about = data.run;
  const whole = Boolean(data.summary) && is_whole(data);
  const { items, resource } = dismissals;
  const found = use_gains(run, useMemo(() => rows_of(frame_of(reply)), [reply]));
  const { large, small, dismissed } = part_findings(found, items);
  const all = [...large, ...small, ...dismissed];
  if (all.length === 0 && about.received === 0) return html`<${NoResult} run=${about} />`;
  const of = { run, all, whole, can_dismiss: true };
  const nothing = all.length > 0 ? "Nothing else is worth fixing." : undefined;
  return html`<${Saving} findings=${[...large, ...small]} whole=${whole} />
    ${resource.problem && html`<${ProblemNotice} problem=${resource.problem}
      retry=${resource.reload} />`}
    <${Card} title="Findings" note="most severe first, then most to gain" actions=${links}>
      <${FindingList} findings=${large} open_first=${true} nothing=${nothing} ...${of} />
      <${Fold} label="${plural(small.length, "finding")} below 0.5 % of the ${
          whole ? "recording" : "step"}"
        findings=${small} ...${of} />
      <${Fold} label="${plural(dismissed.length, "dismissed finding")}" findings=${dismissed}
        ...${of} />
      ${has_server && changes_of(all).length > 1 && html`<p class="all-advice"><a
        href=${run_path(run, "whatif")}>Simulate all of this advice, each change on top of the
        others</a></p>`}<//>
    <${Unjudged} run=${run} />`;
}

function Content({ run, data }) {
  const path = run_api(run, "findings");
  const resource = use_api(address(path, { limit: "all" }));
  const dismissals = use_dismissals(run);
  const href = (format) => api_href(address(path, { format }));
  const links = html`<${ExportLinks} links=${table_links(href)} />`;
  // Dismissed findings must not flash up; failing to load them must not hide the others.
  const waiting = dismissals.resource.loading ? dismissals.resource : resource;
  return html`<${Loaded} resource=${waiting}>${() => resource.data && html`<${AllFindings}
    run=${run} data=${data} reply=${resource.data} dismissals=${dismissals}
    links=${links} />`}<//>`;
}

export default function Findings({ route }) {
  return html`<${RunFrame} route=${route} title="Findings">${(data, run) =>
    html`<${Content} run=${run} data=${data} />`}<//>`;
}
