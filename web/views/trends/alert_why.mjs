// SPDX-License-Identifier: Apache-2.0
// Why an alert may have been raised: the commits between, and what of the step changed most.
import { html } from "../../base/ui.mjs";
import { use_api } from "../../base/api.mjs";
import { address, run_path } from "../../base/address.mjs";
import { plural, sentence, short_commit, time_text, typeset } from "../../base/format.mjs";
import { reason_shapes, reason_title, times_text } from "../compare/reason_model.mjs";
import { alert_commits, alert_sides, is_of_step, main_reason } from "./alerts_model.mjs";
import { compare_runs } from "./trends_model.mjs";
import { per_step } from "../run/lead_model.mjs";
import { use_points } from "./trends_data.mjs";

const Commit = ({ point }) => html`<a href=${run_path(point.run)} title="commit ${point.commit}, ${
  point.name}"><code>${short_commit(point.commit)}</code></a>`;

function Commits({ points, alert }) {
  const range = alert_commits(points, alert);
  if (!range) return null;
  const [from, to] = range;
  return html`<p class="alert-runs">${from.commit === to.commit
    ? html`same commit, <${Commit} point=${to} />: something else changed`
    : html`commits <${Commit} point=${from} /> to <${Commit} point=${to} />`}</p>`;
}

function Reason({ alert, sides }) {
  const path = address("/compare/reasons", { base: sides.base[0], cand: sides.cand[0] });
  const { data } = use_api(sides.base.length > 0 ? path : null);
  const reason = main_reason(data?.items ?? [], alert);
  if (!reason) return null;
  const shapes = reason_shapes(reason);
  return html`<p class="alert-why">Mostly <strong>${reason_title(reason)}</strong>${
    shapes && ` ${shapes}`}: ${times_text(reason.base_ns, reason.cand_ns)}${
    per_step(alert.no_steps)}${
    reason.why ? html` · ${typeset(sentence(reason.why))}` : ""}</p>`;
}

/**
 * @param {{alert: import("./alerts_model.mjs").Alert}} props
 */
export function AlertWhy({ alert }) {
  const { points } = use_points(alert.project, alert.series);
  const sides = alert_sides(points, alert);
  if (sides.base.length === 0) return null;
  const { base, cand } = sides;
  const of_step = is_of_step(alert);
  const with_what = alert.kind === "outlier" ? "this one" : `${plural(cand.length, "run")} after`;
  return html`${of_step && html`<${Reason} alert=${alert}
      sides=${{ base: base.slice(-1), cand: cand.slice(0, 1) }} />`}
    <${Commits} points=${points} alert=${alert} />
    <p class="alert-runs"><a href=${compare_runs(base.join(","), cand.join(","))}>Compare ${
      plural(base.length, "run")} before with ${with_what}</a>${of_step && ` · ${time_text(
      alert.after_ns - alert.before_ns)}${per_step(alert.no_steps)} between them`}</p>`;
}
