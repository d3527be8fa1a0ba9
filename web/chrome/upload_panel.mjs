// SPDX-License-Identifier: Apache-2.0
// The uploads of this page, in a corner: progress, failures, a link to the run.
import { html, useEffect, useState } from "../base/ui.mjs";
import { use_store } from "../base/hooks.mjs";
import { clear_finished, retry, stop, uploads } from "../uploads/uploads.mjs";
import { bytes, plural } from "../base/format.mjs";
import { run_path } from "../base/address.mjs";

const is_over = ({ state }) => state !== "waiting" && state !== "sending";

/** Leaving the page pauses uploads until the files are chosen again, so the browser asks first. */
function use_leave_guard(busy) {
  useEffect(() => {
    if (!busy) return undefined;
    const ask = (event) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [busy]);
}

function state_text(upload) {
  const { state, sent, file, halted_until } = upload;
  if (halted_until !== null) return "paused";
  if (state === "sending") return `${bytes(sent)} of ${bytes(file.size)}`;
  if (state === "waiting") return "waiting";
  if (state === "stopped") return "stopped";
  if (state === "failed") return "failed";
  const trace = upload.reply?.traces?.[0];
  return trace?.rank === null || trace?.rank === undefined ? "received" : `rank ${trace.rank}`;
}

/** Explains a pause, with a countdown. */
function Halt({ until_ms }) {
  const [now_ms, set_now] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => set_now(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(1, Math.ceil((until_ms - now_ms) / 1000));
  return html`<p class="upload-note faint">The server is unreachable or busy; uploaded data is
    kept. Resuming in ${seconds} s.</p>`;
}

function Item({ upload }) {
  const { state, problem, path, file, sent, halted_until } = upload;
  return html`<li class="upload upload-${state}">
    <span class="upload-name" title=${path}>${path}</span>
    <span class="upload-state">${state_text(upload)}</span>
    ${!is_over(upload) && html`<progress aria-label=${path} max=${Math.max(1, file.size)}
      value=${sent}></progress>`}
    ${halted_until !== null && html`<${Halt} until_ms=${halted_until} />`}
    ${problem && html`<p class="upload-problem" role="alert">${problem.detail || problem.title}
      ${problem.fix && html`<span> ${problem.fix}</span>`}</p>`}
    ${!is_over(upload) && html`<button type="button" class="link"
      aria-label="Stop ${path}" onClick=${() => stop(upload)}>Stop</button>`}
    ${(state === "failed" || state === "stopped") && html`<button type="button" class="link"
      aria-label="Try again: ${path}" onClick=${() => retry(upload)}>Try again</button>`}
  </li>`;
}

/** The runs that received something, once each. */
function runs_of(list) {
  const found = new Map();
  for (const { reply } of list) if (reply?.run) found.set(reply.run, reply.run_name ?? reply.run);
  return [...found];
}

export function UploadPanel() {
  const list = use_store(uploads);
  const left = list.filter((upload) => !is_over(upload)).length;
  use_leave_guard(left > 0);
  if (list.length === 0) return null;
  const failed = list.filter(({ state }) => state === "failed").length;
  const title = left > 0 ? `Uploading ${plural(left, "file")}` : plural(list.length, "upload");
  return html`<aside class="upload-panel" aria-label="Uploads">
    <header><h2>${title}</h2>
      <span class="faint" role="status">${failed > 0 ? `${failed} failed`
        : left === 0 ? "all sent" : ""}</span>
      ${left === 0 && html`<button type="button" class="icon" aria-label="Clear the list"
        onClick=${clear_finished}>×</button>`}</header>
    <ul>${list.map((upload) => html`<${Item} key=${upload.id} upload=${upload} />`)}</ul>
    ${runs_of(list).map(([id, name]) => html`<p key=${id} class="upload-open">
      <a href=${run_path(id)}>Open ${name}</a></p>`)}
  </aside>`;
}
