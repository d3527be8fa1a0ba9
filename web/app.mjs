// SPDX-License-Identifier: Apache-2.0
// The dashboard's frame: top bar, the page for the address, uploads, help.
import { html, render, useEffect, useErrorBoundary, useState } from "./base/ui.mjs";
import { start_router, use_route } from "./base/router.mjs";
import { TopBar } from "./chrome/top_bar.mjs";
import { HelpDialog } from "./chrome/help_dialog.mjs";
import { SignedOut } from "./chrome/signed_out.mjs";
import { StorageStrip } from "./chrome/storage_strip.mjs";
import { UploadPanel } from "./chrome/upload_panel.mjs";
import { DropTarget } from "./chrome/drop_target.mjs";
import { load_session, may, use_session } from "./base/session.mjs";
import { start_shortcuts } from "./chrome/shortcuts.mjs";
import { Loading, Notice } from "./widgets/widgets.mjs";
import Refused from "./chrome/refused.mjs";
import * as first from "./pages/first.mjs";

/** The pages whose code is here, by name. */
const ready = { ...first };

const BUNDLES = {
  compare: () => import("./pages/compare.mjs"),
  timeline: () => import("./pages/timeline.mjs"),
  work: () => import("./pages/work.mjs"),
  run: () => import("./pages/run.mjs"),
  comm: () => import("./pages/comm.mjs"),
  over: () => import("./pages/over.mjs"),
  desk: () => import("./pages/desk.mjs"),
};
const TIMELINE = ["timeline", "compare_timeline", "idle"];
const WORK = ["kernels", "operators", "kernel", "operator", "modules", "ranges", "roofline",
  "flame"];
const COMM = ["collectives", "ranks"];
const OVER = ["trends", "alerts", "upload"];

/** The module that has a page. */
function bundle_of({ page, run }) {
  if (page === "compare") return "compare";
  if (OVER.includes(page)) return "over";
  if (TIMELINE.includes(page)) return "timeline";
  if (WORK.includes(page)) return "work";
  if (COMM.includes(page)) return "comm";
  return run === undefined ? "desk" : "run";
}

/** Fetches a page that does not come with the frame, and those that come with it. */
async function fetch_page(route) {
  Object.assign(ready, await BUNDLES[bundle_of(route)]());
}

/** The scopes that pages need; null: none. All others show runs. */
const NEEDS = { upload: "upload", tokens: "admin", audit: "admin", login: null, api: null,
  recording: null, none: null };

/** The scope a page needs and the user lacks. @param {string} page @returns {string|null} */
function use_missing_scope(page) {
  const { kind } = use_session();
  const scope = page in NEEDS ? NEEDS[page] : "read";
  return scope === null || kind === "nobody" || may(scope) ? null : scope;
}

/** Why a page's code is missing: a server that answers may have been restarted with newer files. */
const why_missing = () => fetch("/healthz", { cache: "no-store" }).then(
  () => "The server may have been updated since this page was opened.",
  () => "The server is not responding.");

/** A page's component once it is here, or why it is not. */
function use_page(route) {
  const [, set_there] = useState(route.page in ready);
  const [failed, set_failed] = useState("");
  useEffect(() => {
    if (route.page in ready) return;
    fetch_page(route).then(() => set_there(true), () => why_missing().then(set_failed));
  }, []);
  return { View: ready[route.page], failed };
}

function Failure({ children }) {
  return html`<h1 tabindex="-1">This page could not be shown</h1>
    <${Notice} kind="error" role="alert">${children}
      <p><button type="button" onClick=${() => location.reload()}>Reload</button></p><//>`;
}

function Page({ route }) {
  const { View, failed } = use_page(route);
  const [error] = useErrorBoundary();
  if (error) return html`<${Failure}><p>${String(error.message ?? error)}</p><//>`;
  if (failed) return html`<${Failure}><p>${failed}</p><//>`;
  return View ? html`<${View} key=${route.run ?? route.page} route=${route} />`
    : html`<${Loading} />`;
}

const MAIN_VIEW = "#main :is([role=application], [role=treegrid], figure, table)";

/** Past navigation and filters: to the first chart or table. */
function focus_main_view() {
  const shown = [...document.querySelectorAll(MAIN_VIEW)]
    .find((one) => one.getClientRects().length > 0) ?? document.querySelector("#main");
  // A figure's chart listens to keys.
  const view = shown.querySelector("figure [role=application]") ?? shown;
  if (!view.hasAttribute("tabindex")) view.tabIndex = -1;
  view.focus();
  view.scrollIntoView({ block: "nearest" });
}

function App() {
  const route = use_route();
  const missing = use_missing_scope(route.page);
  const [help, set_help] = useState(false);
  useEffect(() => start_shortcuts({ help: () => set_help(true) }), []);
  return html`
    <a class="skip" href="#main">Skip to content</a>
    <button type="button" class="skip" onClick=${focus_main_view}>Skip to the main view</button>
    <${TopBar} route=${route} onhelp=${() => set_help(true)} />
    <${SignedOut} />
    <${StorageStrip} />
    <main id="main" tabindex="-1">${missing ? html`<${Refused} scope=${missing} />`
      : html`<${Page} key=${route.page} route=${route} />`}</main>
    <${UploadPanel} />
    <${DropTarget} />
    ${help && html`<${HelpDialog} onclose=${() => set_help(false)} />`}`;
}

start_router();
await load_session();
const place = document.getElementById("app");
place.replaceChildren(); // what the page shows until now
render(html`<${App} />`, place);
delete document.documentElement.dataset.signing;
