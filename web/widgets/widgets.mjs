// SPDX-License-Identifier: Apache-2.0
// Small building blocks of every page: cards, notices, badges, figures, buttons.
import { html, useEffect, useId, useLayoutEffect, useRef, useState } from "../base/ui.mjs";
import { announce } from "../base/announce.mjs";
import { api_href } from "../base/api.mjs";
import { copy_text } from "../base/clipboard.mjs";
import { sentence } from "../base/format.mjs";
import { with_token } from "../base/session.mjs";

/** A titled section. `href` makes the title a link to the full page. */
export function Card({ title, note, href, actions, flush, className = "", children }) {
  const id = useId();
  return html`<section class="card ${className}" aria-labelledby=${id}>
    <header class="card-head">
      <h2 id=${id}>${href ? html`<a href=${href}>${title}</a>` : title}</h2>
      ${note && html`<p class="card-note">${note}</p>`}
      ${actions && html`<div class="card-actions">${actions}</div>`}
    </header>
    <div class=${flush ? "card-body flush" : "card-body"}>${children}</div>
  </section>`;
}

const NOTICE_MARK = { info: "i", warning: "!", error: "×" };

/** A message that stays: what is wrong and what can be done. */
export function Notice({ kind = "info", title, fix, foot, children, role }) {
  return html`<div class="notice notice-${kind}" role=${role}>
    <span class="notice-mark" aria-hidden="true">${NOTICE_MARK[kind]}</span>
    <div class="notice-text">
      ${title && html`<p class="notice-title">${title}</p>`}
      ${children}
      ${fix && html`<p class="notice-fix"><span>What helps: </span>${fix_text(fix)}</p>`}
      ${foot && html`<p class="notice-foot">${foot}</p>`}
    </div>
  </div>`;
}

function fix_text(fix) {
  return /^(curl|stepscope) /.test(fix) ? html`<code>${fix}</code>` : sentence(fix);
}

/** A problem reply as a notice, with a way to retry, or to move on from what does not exist. */
export function ProblemNotice({ problem, retry }) {
  const is_missing = problem.status === 404; // then the fix is advice for programs
  const foot = html`${problem.status > 0 && html`<span>HTTP ${problem.status}</span>`}
    ${problem.request_id && html`<span>request <code>${problem.request_id}</code></span>`}
    ${is_missing && html`<a href="/">All runs</a>`}
    ${retry && !is_missing && html`<button type="button" class="link"
      onClick=${retry}>Try again</button>`}
    ${problem.status === 401 && location.pathname !== "/login" && html`<a href="/login"
      target="_blank">Sign in (new page)</a>`}`;
  return html`<${Notice} kind="error" role="alert" title=${problem.title}
      fix=${is_missing ? "" : problem.fix} foot=${foot}>
    ${problem.detail && problem.detail !== problem.title
      && html`<p>${sentence(problem.detail)}</p>`}
  <//>`;
}

/** A resource's data once it is there; before that its problem, or a loading indicator. */
export function Loaded({ resource, children }) {
  const { data, problem, loading, reload } = resource;
  if (data === null && problem) {
    return html`<${ProblemNotice} problem=${problem} retry=${reload} />`;
  }
  if (data === null) return loading ? html`<${Loading} />` : null;
  return html`${problem && html`<${ProblemNotice} problem=${problem} retry=${reload} />`}
    ${children(data)}`;
}

/** Shown only if the wait is long enough to be noticed. */
export function Loading() {
  return html`<p class="loading" role="status">Loading…</p>`;
}

export function Empty({ title, children }) {
  return html`<div class="empty"><p class="empty-title">${title}</p>${children}</div>`;
}

/** A label whose definition shows on hover and is announced as its description. */
export function Help({ text, children }) {
  const id = useId();
  if (!text) return children;
  return html`<span class="help" title=${text} aria-describedby=${id}>${children}<span
    class="visually-hidden" id=${id}>${text}</span></span>`;
}

/** One key figure: label, value with unit, and a line of context. */
export function Figure({ label, help, value, unit, tone, children }) {
  return html`<div class="kpi ${tone ? `kpi-${tone}` : ""}">
    <dt><${Help} text=${help}>${label}<//></dt>
    <dd><span class="kpi-value">${value}${unit && html`<span class="kpi-unit">${unit}</span>`}
      </span>
      <span class="kpi-more">${children}</span></dd>
  </div>`;
}

/**
 * Copies a text; confirms at the button and to screen readers, which also hear `what` it copies:
 * pages have several such buttons.
 */
export function CopyButton({ text, label = "Copy", what = "", className = "small" }) {
  const [done, set_done] = useState(false);
  useEffect(() => {
    if (!done) return undefined;
    const timer = setTimeout(() => set_done(false), 1600);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => {
    const copied = await copy_text(text);
    announce(copied ? "Copied" : "The text could not be copied");
    set_done(copied);
  };
  return html`<button type="button" class=${className} onClick=${copy}
    aria-label=${what && !done ? `${label} ${what}` : undefined}>
    ${done ? "Copied" : label}</button>`;
}

/** A command to paste into a terminal. */
export function Command({ text }) {
  const line = with_token(text);
  return html`<div class="command">
    <pre tabindex="0" role="group" aria-label="Command"><code>${line}</code></pre>
    <${CopyButton} text=${line} what="the command" />
  </div>`;
}

const STATUS = {
  empty: ["neutral", "empty"],
  pending: ["running", "waiting"],
  queued: ["running", "queued"],
  running: ["running", "analyzing"],
  done: ["good", "done"],
  partial: ["warn", "partial"],
  failed: ["bad", "failed"],
};

/** The state of a run or trace, as a shape and a word. */
export function Status({ status, progress }) {
  const [tone, word] = STATUS[status] ?? ["neutral", status];
  const share = tone === "running" && progress > 0 ? ` ${Math.floor(progress * 100)} %` : "";
  return html`<span class="status status-${tone}">${word}${share}</span>`;
}

export function Tags({ tags }) {
  const entries = Object.entries(tags ?? {});
  if (entries.length === 0) return null;
  return html`<ul class="tags" aria-label="Tags">
    ${entries.map(([key, value]) => html`<li key=${key}><span>${key}</span>${value}</li>`)}
  </ul>`;
}

/** A choice of one among few, as a row of buttons. */
export function Segments({ label, value, options, onchange }) {
  return html`<div class="segments" role="group" aria-label=${label}>
    ${options.map(([key, text]) => html`<button type="button" key=${key}
      aria-pressed=${key === value} onClick=${() => onchange(key)}>${text}</button>`)}
  </div>`;
}

/** A modal dialog; the browser traps the focus and restores it. */
export function Dialog({ title, onclose, children, className = "" }) {
  const ref = useRef(null);
  const id = useId();
  useLayoutEffect(() => { // at once: the next key is the dialog's
    const dialog = ref.current;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  const on_backdrop = (event) => {
    if (event.target === ref.current) onclose();
  };
  // A dialog taken from the page hears of its end a frame later, when the next may be open.
  const on_close = (event) => event.target.isConnected && onclose();
  return html`<dialog ref=${ref} class=${className} aria-labelledby=${id} onClose=${on_close}
      onClick=${on_backdrop}>
    <header><h2 id=${id}>${title}</h2>
      <button type="button" class="icon" aria-label="Close" onClick=${onclose}>×</button></header>
    <div class="dialog-body">${children}</div>
  </dialog>`;
}

/** A search field that reports while typing and on Enter. `data-search` is where "/" goes. */
export function SearchBox({ label, value, placeholder, oninput, oncommit }) {
  return html`<input type="search" class="search" data-search aria-label=${label} value=${value}
    placeholder=${placeholder} autocomplete="off" spellcheck=${false}
    onInput=${(event) => oninput(event.target.value)}
    onChange=${(event) => oncommit?.(event.target.value)} />`;
}

/**
 * The report of some runs, as a page and as files.
 * @param {{sides: string[]}} props keys of runs; repeats joined by commas
 */
export function ReportLinks({ sides }) {
  const runs = sides.map((side) => `run=${encodeURIComponent(side)}`).join("&");
  const href = (format) => api_href(`/report?${runs}&format=${format}`);
  return html`<span class="exports" role="group" aria-label="Report">
    <a href=${href("html")} target="_blank" rel="noopener">Report</a>
    <a href=${href("md")} download>Markdown</a>
    <a href=${href("xlsx")} download>XLSX</a></span>`;
}

/** A page in one plain sentence with its number. @param {{text: string}} props */
export const Lead = ({ text }) => text && html`<p class="lead">${text}</p>`;

/**
 * Links to the same rows in other formats.
 * @param {{links: [text: string, href: string, size?: string][]}} props
 */
export function ExportLinks({ links }) {
  return html`<span class="exports" role="group" aria-label="These rows as data">
    ${links.map(([text, href, size]) => html`<a key=${text} href=${href} download>${text}${size
      && html` <small>${size}</small>`}</a>`)}
  </span>`;
}
