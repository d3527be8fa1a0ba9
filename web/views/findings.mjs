// SPDX-License-Identifier: Apache-2.0
// All findings of a run; those below half a percent of the step fold away.
import { html } from "../ui.mjs";
import { api_href, use_api } from "../api.mjs";
import { address } from "../address.mjs";
import { frame_of, rows_of } from "../frame.mjs";
import { plural } from "../format.mjs";
import { Card, ExportLinks, Loaded } from "../widgets.mjs";
import { FindingList } from "./finding_card.mjs";
import { run_api, RunFrame } from "./run_frame.mjs";

const SMALL_SHARE = 0.005;

function by_cost(a, b) {
  return (b.cost_ns ?? 0) - (a.cost_ns ?? 0);
}

function AllFindings({ run, reply }) {
  const findings = rows_of(frame_of(reply)).sort(by_cost);
  const is_small = ({ cost_share, severity }) =>
    (cost_share ?? 0) < SMALL_SHARE && severity !== "high";
  const large = findings.filter((finding) => !is_small(finding));
  const small = findings.filter(is_small);
  return html`<${FindingList} run=${run} findings=${large} open=${true} />
    ${small.length > 0 && html`<details class="fold"><summary>${
      plural(small.length, "finding")} below 0.5 % of the step</summary>
      <${FindingList} run=${run} findings=${small} /></details>`}`;
}

export default function Findings({ route }) {
  const path = run_api(route.run, "findings");
  const resource = use_api(address(path, { limit: "all" }));
  const href = (format) => api_href(address(path, { format }));
  return html`<${RunFrame} route=${route} title="Findings">${(data, run) => html`
    <${Card} title="Findings" note="costs are upper bounds and may overlap"
        actions=${html`<${ExportLinks} links=${[["CSV", href("csv")], ["JSON", href("json")]]} />`}>
      <${Loaded} resource=${resource}>${(reply) =>
        html`<${AllFindings} run=${run} reply=${reply} />`}<//><//>`}<//>`;
}
