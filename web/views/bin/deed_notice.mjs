// SPDX-License-Identifier: Apache-2.0
// What was done last, with an undo; it stays until it is closed or something else is done.
import { html, useEffect, useRef } from "../../base/ui.mjs";
import { forget_deed, last_deed, restore_runs, take_focus } from "./deeds.mjs";
import { use_store } from "../../base/hooks.mjs";
import { may } from "../../base/session.mjs";

const sentence_of = ({ title, detail, fix }) =>
  [detail || title, fix].filter(Boolean).join(". ");

export function DeedNotice() {
  const deed = use_store(last_deed);
  const box = useRef(null);
  useEffect(() => { // the focused element is gone
    if (deed && take_focus(deed)) box.current?.querySelector("button, a")?.focus();
  }, [deed]);
  if (!deed) return null;
  const { text, note, deleted, link, problem } = deed;
  return html`<div class="deed" role="region" aria-label="Last action" ref=${box}>
    <p class="deed-text"><strong>${text}</strong>${note && html`<span class="faint"> · ${note}
      </span>`}${problem && html`<span class="deed-problem">${sentence_of(problem)}</span>`}</p>
    <span class="form-actions">
      ${deleted && may("admin") && html`<button type="button" class="small"
        onClick=${() => restore_runs(deleted)}>${problem ? "Try again" : "Undo"}</button>`}
      ${deleted && html`<a href="/settings/bin">Show the bin</a>`}
      ${link && html`<a href=${link[1]}>${link[0]}</a>`}
      <button type="button" class="icon" aria-label="Close" onClick=${forget_deed}>×</button>
    </span></div>`;
}
