// SPDX-License-Identifier: Apache-2.0
// Answers that were kept as promises, and what the next run of the series says about them.
import { html, useState } from "../../base/ui.mjs";
import { announce } from "../../base/announce.mjs";
import { api_send, use_api } from "../../base/api.mjs";
import { has_server, run_path } from "../../base/address.mjs";
import { ago, when } from "../../base/format.mjs";
import { use_now } from "../../base/hooks.mjs";
import { may, use_session } from "../../base/session.mjs";
import { AskFirst } from "../../widgets/ask_first.mjs";
import { Card, ProblemNotice } from "../../widgets/widgets.mjs";
import { known_name } from "./comments.mjs";
import { came_text, change_label, outcome_of, promised_text } from "./promise_model.mjs";

const path_of = (run, rest = "") => `/runs/${encodeURIComponent(run)}/promises${rest}`;

/** Promises of a run, and those whose outcome it is; none until known. @param {string} run */
const use_promises = (run) => use_api(has_server ? path_of(run) : null).data
  ?? { items: [], due: null };

/** Keeps what the chosen changes would bring. */
export function KeepPromise({ run, changes, counterpart }) {
  const [problem, set_problem] = useState(null);
  const { kind } = use_session();
  if (!may("write") || changes.length === 0) return null;
  const keep = () => {
    const author = kind === "local" && known_name();
    const body = { changes, ...(counterpart && { counterpart }), ...(author && { author }) };
    return api_send("POST", path_of(run), { body }).then(
      () => { set_problem(null); announce("Promise kept"); }, set_problem);
  };
  return html`<p class="promise-keep"><button type="button" class="small" onClick=${keep}>Keep as a
    promise</button> <span class="faint">The next run of the series will show whether it
    holds.</span></p>${problem && html`<${ProblemNotice} problem=${problem} />`}`;
}

const OUTCOMES = { kept: "kept", better: "better than promised", missed: "not kept" };

function One({ run, promise, now }) {
  const [problem, set_problem] = useState(null);
  const outcome = outcome_of(promise);
  const remove = () => api_send("DELETE", path_of(run, `/${promise.id}`)).then(
    () => announce("Promise removed"), set_problem);
  const names = promise.changes.map(change_label).join("; ");
  const other = promise.counterpart;
  return html`<li><p><strong>${names}</strong>${other && html` (times of <a href=${run_path(
    other.run)}>${other.name}</a>)`}: ${promised_text(promise)}</p>
    <p>${came_text(promise)}${promise.receipt && html`, in <a href=${run_path(
      promise.receipt.run)}>${promise.receipt.name}</a>`}${outcome
        && html`<span class="chip chip-${outcome}">${OUTCOMES[outcome]}</span>`}</p>
    <span class="faint">${promise.author} · <time datetime=${promise.created}
      title=${when(promise.created)}>${ago(promise.created, now)}</time></span>
    ${run && may("write") && html` <${AskFirst} text="Remove" question="Remove this promise?"
      deed="Remove" label="Remove the promise ${names}" ondo=${remove} />`}
    ${problem && html`<${ProblemNotice} problem=${problem} />`}</li>`;
}

const List = ({ run, items, now }) => html`<ul class="promises">${items.map((promise) =>
  html`<${One} key=${promise.id} run=${run} promise=${promise} now=${now} />`)}</ul>`;

/** What was promised with the previous run, on the pages of the run that shows what came. */
export function Due({ run }) {
  const { due } = use_promises(run);
  const now = use_now();
  if (!due || due.items.length === 0) return null;
  return html`<${Card} title="What was promised" note=${html`with <a href=${run_path(due.run,
    "whatif")}>${due.name}</a>, the previous run`}><${List} items=${due.items} now=${now} /><//>`;
}

/** @param {{run: string}} props promises that were kept with the run */
export function Promises({ run }) {
  const { items } = use_promises(run);
  const now = use_now();
  if (items.length === 0) return null;
  return html`<${Card} title="Promises" note="and what the next run of the series says about them">
    <${List} run=${run} items=${items} now=${now} /><//>`;
}
