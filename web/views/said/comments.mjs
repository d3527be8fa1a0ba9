// SPDX-License-Identifier: Apache-2.0
// Comments with names, on a run, a finding or a row of a table.
import { html, useState } from "../../base/ui.mjs";
import { has_server } from "../../base/address.mjs";
import { announce } from "../../base/announce.mjs";
import { api_send, use_api } from "../../base/api.mjs";
import { ago, plural, when } from "../../base/format.mjs";
import { use_now } from "../../base/hooks.mjs";
import { may, use_session } from "../../base/session.mjs";
import { AskFirst } from "../../widgets/ask_first.mjs";
import { Card, ProblemNotice } from "../../widgets/widgets.mjs";

const LONGEST = 4000;
const NAME_KEY = "comment-name";

const path_of = (run, rest = "") => `/runs/${encodeURIComponent(run)}/comments${rest}`;

/** All comments of a run; none until known. @param {string} run */
export function use_comments(run) {
  return use_api(has_server ? path_of(run) : null).data?.items ?? [];
}

/** The name that was last given on this computer; "" without one. */
export function known_name() {
  try {
    return localStorage.getItem(NAME_KEY) ?? "";
  } catch {
    return "";
  }
}

function keep_name(name) {
  try {
    localStorage.setItem(NAME_KEY, name);
  } catch {
    // Without storage it is asked again.
  }
}

/** Where nobody signs in, people say who they are. */
function Form({ run, place, label }) {
  const { kind } = use_session();
  const [problem, set_problem] = useState(null);
  const send = async (event) => {
    event.preventDefault();
    const form = event.target;
    const fields = new FormData(form);
    const author = String(fields.get("author") ?? "").trim();
    if (author) keep_name(author);
    const body = { text: String(fields.get("text")).trim(), place, ...(author && { author }) };
    try {
      await api_send("POST", path_of(run), { body });
      // Unless the next one is being written.
      if (String(new FormData(form).get("text")).trim() === body.text) form.reset();
      set_problem(null);
      announce("Comment added");
    } catch (error) {
      set_problem(error);
    }
  };
  return html`<form class="comment-form" onSubmit=${send}>
      <input name="text" required maxlength=${LONGEST} autocomplete="off" aria-label=${label}
        placeholder=${label} />
      ${kind === "local" && html`<input name="author" maxlength="200" autocomplete="name"
        aria-label="Your name" placeholder="Your name" defaultValue=${known_name()} />`}
      <button type="submit">Comment</button></form>
    ${problem && html`<${ProblemNotice} problem=${problem} />`}`;
}

function One({ run, comment, now }) {
  const [problem, set_problem] = useState(null);
  const remove = () => api_send("DELETE", path_of(run, `/${comment.id}`)).then(
    () => announce("Comment removed"), set_problem);
  return html`<li><p>${comment.text}</p>
    <span class="faint"><strong>${comment.author}</strong> · <time datetime=${comment.created}
      title=${when(comment.created)}>${ago(comment.created, now)}</time></span>
    ${may("write") && html` <${AskFirst} text="Remove" question="Remove this comment?" deed="Remove"
      label="Remove the comment of ${comment.author}" ondo=${remove} />`}
    ${problem && html`<${ProblemNotice} problem=${problem} />`}</li>`;
}

/**
 * What was said about one thing, and a field to say more.
 * @param {{run: string, comments: any[], place?: string, label?: string, folded?: boolean}} props
 *   `comments` are all of the run; `place` as in the API; `folded`: the field opens by a button
 */
export function Comments({ run, comments, place = "", label = "Comment on this run", folded }) {
  const now = use_now();
  const [open, set_open] = useState(!folded);
  const here = comments.filter((comment) => comment.place === place);
  return html`${here.length > 0 && html`<ul class="comments" aria-label="Comments">${here.map(
      (one) => html`<${One} key=${one.id} run=${run} comment=${one} now=${now} />`)}</ul>`}
    ${may("write") && (open ? html`<${Form} run=${run} place=${place} label=${label} />`
      : html`<p><button type="button" class="small" onClick=${() => set_open(true)}
        aria-label=${label}>Comment</button></p>`)}`;
}

/** The comments on one row of a table. @param {{run: string, place: string}} props */
export function RowComments({ run, place }) {
  return html`<${Comments} run=${run} comments=${use_comments(run)} place=${place}
    label="Comment on this row" folded=${true} />`;
}

/** The comments on a run as a whole. @param {{run: string}} props */
export function CommentsCard({ run }) {
  const comments = use_comments(run);
  const elsewhere = comments.filter(({ place }) => place !== "").length;
  if (comments.length === 0 && !may("write")) return null;
  return html`<${Card} title="Comments" note=${elsewhere > 0
      ? `and ${plural(elsewhere, "comment")} on its findings and rows` : ""}>
    <${Comments} run=${run} comments=${comments} /><//>`;
}
