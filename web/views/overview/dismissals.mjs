// SPDX-License-Identifier: Apache-2.0
// Dismissing a finding with a reason, and undoing that.
import { html, useId, useState } from "../../base/ui.mjs";
import { announce } from "../../base/announce.mjs";
import { api_send, use_api } from "../../base/api.mjs";
import { may } from "../../base/session.mjs";
import { ago } from "../../base/format.mjs";
import { use_now } from "../../base/hooks.mjs";
import { ProblemNotice } from "../../widgets/widgets.mjs";
import { run_api } from "../run/run_frame.mjs";

const LONGEST = 4000;

/** The dismissed findings; an empty list until known. @param {string} run */
export function use_dismissals(run) {
  const resource = use_api(run_api(run, "dismissals"));
  return { resource, items: resource.data?.items ?? [] };
}

const path_of = (run, id) => run_api(run, `dismissals/${encodeURIComponent(id)}`);

/** Sends a change, and reports the outcome. */
function use_change() {
  const [problem, set_problem] = useState(null);
  const change = async (said, ...request) => {
    try {
      await api_send(...request);
      announce(said);
    } catch (error) {
      set_problem(error);
    }
  };
  return [problem, change];
}

/** A button that opens a field for the reason. @param {{run: string, finding: any}} props */
export function Dismiss({ run, finding }) {
  const [open, set_open] = useState(false);
  const [reason, set_reason] = useState("");
  const [problem, change] = use_change();
  const id = useId();
  if (!finding.id || !may("write")) return null;
  const submit = (event) => {
    event.preventDefault();
    const body = { reason: reason.trim() };
    change("Finding dismissed", "PUT", path_of(run, finding.id), { body });
  };
  if (!open) {
    return html`<p><button type="button" class="small" onClick=${() => set_open(true)}
      aria-label="Dismiss: ${finding.title}">Dismiss…</button></p>`;
  }
  return html`<form class="dismiss" onSubmit=${submit}>
    <label for=${id}>Why does it not matter here?</label>
    <div class="dismiss-row"><input id=${id} value=${reason} maxlength=${LONGEST} required
        autocomplete="off" autofocus onInput=${(event) => set_reason(event.target.value)} />
      <button type="submit" class="primary" disabled=${reason.trim() === ""}>Dismiss</button>
      <button type="button" onClick=${() => set_open(false)}>Keep</button></div>
    ${problem && html`<${ProblemNotice} problem=${problem} />`}
  </form>`;
}

/** Why a finding was dismissed, and how to undo that. @param {{run: string, finding: any}} props */
export function Dismissed({ run, finding }) {
  const now = use_now();
  const [problem, change] = use_change();
  const { reason, created } = finding.dismissal;
  const undo = () => change("Finding restored", "DELETE", path_of(run, finding.id));
  return html`<div class="dismissed"><p><span class="faint">Dismissed ${
    ago(created, now)}: </span>${reason} ${
      may("write") && html`<button type="button" class="link"
        aria-label="Undo dismissing: ${finding.title}" onClick=${undo}>Undo</button>`}</p>
    ${problem && html`<${ProblemNotice} problem=${problem} />`}</div>`;
}
