// SPDX-License-Identifier: Apache-2.0
// A button on every page that makes a short link to it, with everything it shows, and copies it.
import { html, useState } from "../base/ui.mjs";
import { announce } from "../base/announce.mjs";
import { api_send } from "../base/api.mjs";
import { copy_text } from "../base/clipboard.mjs";
import { may } from "../base/session.mjs";

const SHOWN_MS = 2500;

export function ShortLink() {
  const [said, set_said] = useState("");
  if (!may("write")) return null;
  const say = (text) => {
    set_said(text);
    announce(text);
    setTimeout(() => set_said(""), SHOWN_MS);
  };
  const make = async () => {
    try {
      const body = { address: location.pathname + location.search };
      const { url } = await api_send("POST", "/views", { body, shown: false });
      const link = location.origin + url;
      say(await copy_text(link) ? `Copied ${url}` : link);
    } catch (problem) {
      say(problem.message);
    }
  };
  return html`${said && html`<span class="faint short-link">${said}</span>`}<button type="button"
    class="small" aria-label="Link: copy a short link to this page"
    title="Copy a short link to this page, with all that it shows" onClick=${make}>Link</button>`;
}
