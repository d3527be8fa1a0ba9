// SPDX-License-Identifier: Apache-2.0
// The dashboard's frame: top bar, the page for the address, uploads, help.
import { html, render, useEffect, useErrorBoundary, useState } from "./base/ui.mjs";
import { start_router, use_route } from "./base/router.mjs";
import { TopBar } from "./chrome/top_bar.mjs";
import { HelpDialog } from "./chrome/help_dialog.mjs";
import { StorageStrip } from "./chrome/storage_strip.mjs";
import { UploadPanel } from "./chrome/upload_panel.mjs";
import { DropTarget } from "./chrome/drop_target.mjs";
import { load_session, may, use_session } from "./base/session.mjs";
import { start_shortcuts } from "./chrome/shortcuts.mjs";
import { Loading, Notice } from "./widgets/widgets.mjs";
import Refused from "./chrome/refused.mjs";

/** Pages are loaded when first visited. */
const PAGES = {
  runs: () => import("./views/runs/runs.mjs"),
  upload: () => import("./views/runs/upload.mjs"),
  compare: () => import("./views/compare/compare.mjs"),
  trends: () => import("./views/trends/trends.mjs"),
  alerts: () => import("./views/trends/alerts.mjs"),
  login: () => import("./views/access/login.mjs"),
  tokens: () => import("./views/access/tokens.mjs"),
  audit: () => import("./views/access/audit.mjs"),
  bin: () => import("./views/bin/bin.mjs"),
  plan: () => import("./views/plan/plan.mjs"),
  api: () => import("./views/docs/api_docs.mjs"),
  recording: () => import("./views/docs/recording.mjs"),
  agents: () => import("./views/docs/agents.mjs"),
  overview: () => import("./views/overview/overview.mjs"),
  kernels: () => import("./views/work/kernels.mjs"),
  operators: () => import("./views/work/operators.mjs"),
  modules: () => import("./views/work/modules.mjs"),
  ranges: () => import("./views/work/ranges.mjs"),
  roofline: () => import("./views/work/roofline.mjs"),
  timeline: () => import("./views/timeline/timeline.mjs"),
  idle: () => import("./views/timeline/idle.mjs"),
  memory: () => import("./views/memory/memory.mjs"),
  collectives: () => import("./views/comm/collectives.mjs"),
  ranks: () => import("./views/ranks/ranks.mjs"),
  findings: () => import("./views/overview/findings.mjs"),
  whatif: () => import("./views/whatif/whatif.mjs"),
  training: () => import("./views/training/training.mjs"),
  data: () => import("./views/run_data/data.mjs"),
  none: () => import("./chrome/not_found.mjs"),
};

/** The scopes that pages need; null: none. All others show runs. */
const NEEDS = { upload: "upload", tokens: "admin", audit: "admin", login: null, api: null,
  recording: null, none: null };

/** The scope a page needs and the user lacks. @param {string} page @returns {string|null} */
function use_missing_scope(page) {
  const { kind } = use_session();
  const scope = page in NEEDS ? NEEDS[page] : "read";
  return scope === null || kind === "nobody" || may(scope) ? null : scope;
}

/** A page's module once loaded; a failure (a server restarted with newer files) is shown. */
function use_page(page) {
  const [state, set_state] = useState({ page: "", View: null, failed: false });
  useEffect(() => {
    let left = false;
    const done = (next) => !left && set_state({ page, View: null, failed: false, ...next });
    PAGES[page]().then(
      (module) => done({ View: module.default }),
      () => done({ failed: true }),
    );
    return () => {
      left = true;
    };
  }, [page]);
  return state;
}

function Failure({ children }) {
  return html`<h1 tabindex="-1">This page could not be shown</h1>
    <${Notice} kind="error" role="alert">${children}
      <p><button type="button" onClick=${() => location.reload()}>Reload</button></p><//>`;
}

function Page({ route }) {
  const { page, View, failed } = use_page(route.page);
  const [error] = useErrorBoundary();
  if (error) return html`<${Failure}><p>${String(error.message ?? error)}</p><//>`;
  if (failed) {
    return html`<${Failure}><p>The server may have been updated since this page was opened.</p>
      <//>`;
  }
  // The previous page stays until the next one is there, unless nothing was shown yet.
  return View ? html`<${View} key=${route.run ?? page} route=${route} />` : html`<${Loading} />`;
}

function App() {
  const route = use_route();
  const missing = use_missing_scope(route.page);
  const [help, set_help] = useState(false);
  useEffect(() => start_shortcuts({ help: () => set_help(true) }), []);
  return html`
    <a class="skip" href="#main">Skip to content</a>
    <${TopBar} route=${route} onhelp=${() => set_help(true)} />
    <${StorageStrip} />
    <main id="main" tabindex="-1">${missing ? html`<${Refused} scope=${missing} />`
      : html`<${Page} key=${route.page} route=${route} />`}</main>
    <${UploadPanel} />
    <${DropTarget} />
    ${help && html`<${HelpDialog} onclose=${() => set_help(false)} />`}`;
}

start_router();
await load_session();
render(html`<${App} />`, document.getElementById("app"));
