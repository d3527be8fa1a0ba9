// SPDX-License-Identifier: Apache-2.0
// A button for what cannot be undone: it asks in place before it acts.
import { html, useState } from "../base/ui.mjs";
import { focus_once } from "../base/hooks.mjs";

/**
 * @param {{text: string, label?: string, question: string, deed: string, ondo: () => void}} props
 * `text` and `label` are of the button that asks, `deed` of the one that does it
 */
export function AskFirst({ text, label, question, deed, ondo }) {
  const [state, set_state] = useState("new");
  if (state !== "asks") {
    return html`<button type="button" class="link" aria-label=${label}
      ref=${state === "kept" ? focus_once : null} onClick=${() => set_state("asks")}>${
      text}</button>`;
  }
  const act = () => {
    set_state("kept");
    ondo();
  };
  return html`<span role="group" aria-label=${question}>${question} <button type="button"
      class="small danger" onClick=${act}>${deed}</button> <button type="button" class="small"
      ref=${focus_once} onClick=${() => set_state("kept")}>Keep</button></span>`;
}
