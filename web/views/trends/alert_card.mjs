// SPDX-License-Identifier: Apache-2.0
// One alert: what changed between which runs, comments on it, and its status.
import { html, useState } from "../../base/ui.mjs";
import { api_send } from "../../base/api.mjs";
import { may } from "../../base/session.mjs";
import { announce } from "../../base/announce.mjs";
import { run_path } from "../../base/address.mjs";
import { focus_once } from "../../base/hooks.mjs";
import { ago, when } from "../../base/format.mjs";
import { ProblemNotice } from "../../widgets/widgets.mjs";
import { AlertWhy } from "./alert_why.mjs";
import { actions_of, alert_head, alert_text, status_of } from "./alerts_model.mjs";
import { compare_runs, series_path } from "./trends_model.mjs";
import { shown_project } from "../run/run_frame.mjs";

function CommentForm({ alert, onsave, onclose }) {
  const save = (event) => {
    event.preventDefault();
    onsave({ comment: String(new FormData(event.target).get("comment") ?? "").trim() }, "Saved");
  };
  return html`<form class="alert-comment-form" onSubmit=${save}>
    <input name="comment" defaultValue=${alert.comment ?? ""} aria-label="Comment" maxlength="1000"
      autocomplete="off" placeholder="Notes"
      ref=${focus_once} />
    <button type="submit" class="primary">Save</button>
    <button type="button" onClick=${onclose}>Cancel</button></form>`;
}

/** The head of an alert; on the page of its series it ranks below a card's head. */
function Where({ alert, shows_series }) {
  const head = alert_head(alert);
  const level = shows_series ? "h2" : "h3";
  return html`<${level} class="alert-head"><strong class=${head.tone}>${head.words}</strong>
    ${shows_series && html` in <a href=${series_path(alert.project, alert.series)}>${
      alert.series}</a>`}
    ${shows_series && shown_project(alert) && html`<span class="faint"> · ${alert.project}</span>`}
  <//>`;
}

/**
 * @param {{alert: import("./alerts_model.mjs").Alert, now: number, shows_series?: boolean,
 *          explains?: boolean}} props `explains` costs a request or two
 */
export function AlertCard({ alert, now, shows_series = true, explains = true }) {
  const [problem, set_problem] = useState(null);
  const [writes, set_writes] = useState(false);
  const status = status_of(alert.status);
  const save = async (body, said, from) => {
    try {
      await api_send("PATCH", `/alerts/${encodeURIComponent(alert.id)}`, { body });
      // The button goes, and perhaps the card: the next Tab leads to the next alert.
      if (from === document.activeElement) from.closest(".alerts-list")?.focus();
      set_problem(null);
      if (!from) set_writes(false); // else a comment may be being written
      announce(said);
    } catch (error) {
      set_problem(error);
    }
  };
  return html`<li class="alert alert-${alert_head(alert).tone}">
    <div class="alert-main"><${Where} alert=${alert} shows_series=${shows_series} />
      <p>${alert_text(alert)}</p>
      <p class="alert-runs">${alert.kind === "outlier" ? "at" : "since"}${" "}
        <a href=${run_path(alert.run)}>${alert.run_name ?? alert.run}</a> · <time
          datetime=${alert.created} title=${when(alert.created)}>${ago(alert.created, now)}</time>
        ${alert.previous_run && !explains && html` · <a href=${compare_runs(alert.previous_run,
          alert.run)}>Compare with the previous run</a>`}</p>
      ${explains && html`<${AlertWhy} alert=${alert} />`}
      ${alert.comment && !writes && html`<p class="alert-comment">${alert.comment}</p>`}
      ${writes && html`<${CommentForm} alert=${alert} onsave=${save}
        onclose=${() => set_writes(false)} />`}
      ${problem && html`<${ProblemNotice} problem=${problem} />`}</div>
    <div class="alert-side"><span class="status status-${status.tone}" title=${status.help}>${
        status.word}</span>
      ${may("write") && html`<div class="alert-actions" role="group"
        aria-label="Classify the alert">
        ${actions_of(alert.status).map(({ key, action, help, done }) => html`<button type="button"
          key=${key} class="small" title=${help} onClick=${(event) => save({ status: key }, done,
            event.currentTarget)}>${action}</button>`)}
        <button type="button" class="small" aria-expanded=${writes}
          onClick=${() => set_writes(!writes)}>${alert.comment ? "Edit comment" : "Comment"}
        </button></div>`}</div>
  </li>`;
}
