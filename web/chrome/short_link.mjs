// SPDX-License-Identifier: Apache-2.0
// A button on every page that makes a short link to it, with everything it shows, and copies it.
import { html, useEffect, useRef, useState } from "../base/ui.mjs";
import { announce } from "../base/announce.mjs";
import { api_send } from "../base/api.mjs";
import { copy_text } from "../base/clipboard.mjs";
import { may } from "../base/session.mjs";

const SHOWN_MS = 2500;

/** A link that could not be copied, chosen so that a key does it. */
function LinkField({ link, onclose }) {
  const field = useRef(null);
  useEffect(() => field.current.select(), [link]);
  return html`<input class="short-link" readonly aria-label="Short link to this page" size="30"
      value=${link} ref=${field} onFocus=${(event) => event.target.select()} /><button
      type="button" class="icon" aria-label="Close the link" onClick=${onclose}>×</button>`;
}

const NOTHING = { text: "" };
const NONE = { link: "", address: "" };
const here = () => location.pathname + location.search;

export function ShortLink() {
  const [said, set_said] = useState(NOTHING); // an object, as the same may be said twice
  const [left, set_left] = useState(NONE); // a link that could not be copied, and to what
  useEffect(() => {
    const timer = setTimeout(() => set_said(NOTHING), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  if (!may("write")) return null;
  const say = (text) => {
    set_said({ text });
    announce(text);
  };
  const make = async () => {
    try {
      const body = { address: here() };
      const { url } = await api_send("POST", "/views", { body, shown: false });
      const link = location.origin + url;
      const copied = await copy_text(link);
      set_left(copied ? NONE : { link, address: body.address });
      if (copied) say(`Copied ${url}`);
      else announce("The link could not be copied: copy it from the field");
    } catch (problem) {
      say(problem.message);
    }
  };
  if (left.link && left.address === here()) {
    return html`<${LinkField} link=${left.link} onclose=${() => set_left(NONE)} />`;
  }
  return html`${said.text && html`<span class="faint short-link">${
      said.text}</span>`}<button type="button" class="small"
    aria-label="Link: copy a short link to this page"
    title="Copy a short link to this page, with everything it shows" onClick=${make}>Link</button>`;
}
