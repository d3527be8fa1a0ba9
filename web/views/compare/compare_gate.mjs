// SPDX-License-Identifier: Apache-2.0
// The same question for a CI job, as a line to copy; and the history of both series.
import { html } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { address } from "../../base/address.mjs";
import { Card, Command } from "../../widgets/widgets.mjs";
import { per_step } from "../run/lead_model.mjs";
import { gate_command, LIMITS } from "./gate_model.mjs";

const DEFAULTS = { limit: "0.03", undecided: "pass" };

function Pick({ label, value, options, onpick }) {
  return html`<label class="pick"><span>${label}</span><select value=${value}
    onChange=${(event) => onpick(event.target.value)}>${options.map(([key, text]) =>
      html`<option key=${key} value=${key}>${text}</option>`)}</select></label>`;
}

/** @param {{query: any, whole: boolean}} props with the chosen candidate only */
export function Gate({ query, whole }) {
  const [view, change] = use_query(DEFAULTS);
  const { base, cand, per, rank } = query;
  const command = gate_command({ base, cand: cand[0], limit: view.limit,
    undecided: view.undecided, per: per === "step" ? null : per,
    rank: rank === "headline" ? null : rank }, location.origin);
  return html`<${Card} title="Gate for CI" note="returns 200 or 409 and three lines that say why">
    <div class="filter-bar">
      <${Pick} label="Allowed slowdown${per_step(whole)}" value=${view.limit} options=${LIMITS}
        onpick=${(limit) => change({ limit })} />
      <${Pick} label="With too few runs to tell" value=${view.undecided}
        options=${[["pass", "pass with a warning"], ["fail", "fail"]]}
        onpick=${(undecided) => change({ undecided })} /></div>
    <${Command} text=${command} />
    <p class="chart-foot">In a CI job, give <code>@baseline:main</code> or${" "}
      <code>series~latest</code> as the base and the run that the job uploaded as the
      candidate.</p><//>`;
}

/** Links to the trend of each series involved. @param {{sides: any[][]}} props runs */
export function Histories({ sides }) {
  const series = new Map();
  for (const { series: name, project } of sides.flat()) {
    if (name) series.set(`${project}/${name}`, { name, project });
  }
  if (series.size === 0) return null;
  return html`<p class="footnote">History of ${[...series].map(([key, { name, project }], i) =>
    html`${i > 0 && ", "}<a key=${key} href=${address("/trends", { project, series: name })}>${
      name}</a>`)}</p>`;
}
