// SPDX-License-Identifier: Apache-2.0
// The head of the pages about who may do what, and who did.
import { html } from "../../base/ui.mjs";

const TABS = [["tokens", "Tokens"], ["audit", "Audit log"]];

/** @param {{page: "tokens"|"audit", note: string}} props */
export function AccessHead({ page, note }) {
  const title = TABS.find(([key]) => key === page)[1];
  return html`<header class="page-head"><h1 tabindex="-1">${title}</h1>
      <p class="page-note">${note}</p></header>
    <nav class="tabs access-tabs" aria-label="Access"><div class="tab-groups"><ul>
      ${TABS.map(([key, text]) => html`<li key=${key}><a href="/settings/${key}"
        aria-current=${key === page ? "page" : undefined}>${text}</a></li>`)}</ul></div></nav>`;
}
