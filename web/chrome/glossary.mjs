// SPDX-License-Identifier: Apache-2.0
// Terms and their meanings, fetched when someone asks.
import { html, useEffect, useMemo, useState } from "../base/ui.mjs";
import { has_server } from "../base/address.mjs";
import { found_terms, meaning_parts, terms_of } from "./glossary_model.mjs";

const GLOSSARY = has_server ? "/client/glossary.md" : "client/glossary.md";
const MOST = 6;
const LONGEST = 40; // of a selected text that may be a term

/** What is selected on the page, if it may be a term. */
function selected_text() {
  const text = String(globalThis.getSelection?.() ?? "").trim();
  return text.length <= LONGEST ? text : "";
}

async function fetch_terms() {
  const response = await fetch(GLOSSARY);
  return response.ok ? terms_of(await response.text()) : [];
}

const Meaning = ({ text }) => meaning_parts(text).map((part, i) =>
  (i % 2 ? html`<code key=${i}>${part}</code>` : part));

/**
 * Shows what a selected word means, or any that is looked up. No search field: there the first Esc
 * would empty it instead of closing the dialog.
 */
export function Glossary() {
  const [terms, set_terms] = useState(null);
  const [asked, set_asked] = useState(selected_text);
  useEffect(() => {
    fetch_terms().then(set_terms, () => set_terms([]));
  }, []);
  const found = useMemo(() => found_terms(terms ?? [], asked), [terms, asked]);
  const shown = asked ? found.slice(0, MOST) : [];
  if (terms?.length === 0) return null;
  return html`<h3>What does it mean?</h3>
    <input class="search" aria-label="Look up a term" value=${asked} autocomplete="off"
      placeholder="typical rank, exposed communication, bridge …"
      onInput=${(event) => set_asked(event.target.value)} />
    <div role="status">${shown.length > 0 && html`<dl class="definitions">${shown.map(
      ({ term, meaning }) => html`<div key=${term}><dt>${term}</dt><dd><${Meaning}
        text=${meaning} /></dd></div>`)}</dl>`}
      ${asked && terms && shown.length === 0 && html`<p class="faint">No such term.</p>`}
      ${!asked && html`<p class="faint">Or select a word on a page, then press ?.</p>`}</div>`;
}
