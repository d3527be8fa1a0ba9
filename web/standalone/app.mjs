// SPDX-License-Identifier: Apache-2.0
// The page that needs no server: files are dropped, analyzed by the module, and shown by the pages
// of the service.
import { create_store, html, render, useEffect, useErrorBoundary, useState }
  from "../base/ui.mjs";
import { answer_with } from "../base/api.mjs";
import { forget_runs } from "../base/kernel_labels.mjs";
import { use_store, use_title } from "../base/hooks.mjs";
import { navigate, start_router, use_route } from "../base/router.mjs";
import { load_session } from "../base/session.mjs";
import { run_path } from "../base/address.mjs";
import { bytes, plural } from "../base/format.mjs";
import { HelpDialog } from "../chrome/help_dialog.mjs";
import { start_shortcuts } from "../chrome/shortcuts.mjs";
import { Mark, ThemeButton } from "../chrome/top_bar.mjs";
import { use_drag } from "../chrome/drop_target.mjs";
import { Notice } from "../widgets/widgets.mjs";
import { DropZone } from "../views/runs/upload.mjs";
import { start_analyzer } from "./analyzer.mjs";
import { save_links } from "./saved.mjs";
import { overview, findings } from "../pages/first.mjs";
import * as work from "../pages/work.mjs";
import { idle, timeline } from "../pages/timeline.mjs";
import * as comm from "../pages/comm.mjs";
import { data, memory } from "../pages/run.mjs";

const PAGES = { overview, findings, ...work, timeline, idle, ...comm, memory, data };
const RUN = run_path("r_1"); // the only one

const analyzer = start_analyzer();

/** What happens to the files: nothing yet, being read, shown, or refused. */
const state = create_store({ files: [], loading: false, busy: false, ready: false, said: "" });

/** @param {import("../uploads/dropped_files.mjs").Dropped[]} files */
async function analyze(files) {
  if (files.length === 0 || state.get().busy) return;
  state.set({ files, loading: false, busy: true, ready: false, said: "" });
  const { ok, said } = await analyzer.open(files)
    .catch((error) => ({ ok: false, said: error.message }));
  if (ok) {
    answer_with(analyzer.answer);
    forget_runs();
    await load_session();
  }
  state.set({ files, loading: false, busy: false, ready: ok, said });
  if (ok) navigate(RUN);
}

const DEMO = "demo.json.zst";

/** A recording that comes with the page. */
async function open_demo() {
  if (state.get().loading) return;
  state.set({ ...state.get(), loading: true, said: "" });
  try {
    const reply = await fetch(new URL(DEMO, document.baseURI));
    if (!reply.ok) throw new Error(`${reply.status} ${reply.statusText}`);
    if (!state.get().loading) return; // other files were dropped meanwhile
    await analyze([{ path: DEMO, file: new File([await reply.blob()], DEMO) }]);
  } catch (error) {
    const said = `${DEMO} could not be loaded: ${error.message}`;
    if (state.get().loading) state.set({ ...state.get(), loading: false, ready: false, said });
  }
}

/** What the command would print about files, without its own name. */
const plain = (said) => said.replace(/^stepscope analyze: /gm, "").trim();

function Busy({ files }) {
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  return html`<p class="loading" role="status">Analyzing ${plural(files.length, "file")}
    of ${bytes(total)} in this browser…</p>`;
}

function Start() {
  use_title("Analyze in this browser");
  const { loading, busy, files, ready, said } = use_store(state);
  return html`<header class="page-head">
      <h1 tabindex="-1">Analyze traces in this browser</h1></header>
    <p class="lead">Nothing is uploaded: the analysis runs on this computer, and what is shown is
      gone when the page is closed.</p>
    ${!busy && !ready && said && html`<${Notice} kind="error" title="No trace could be read"
      role="alert"><p>${plain(said)}</p><//>`}
    ${busy ? html`<${Busy} files=${files} />` : html`<${DropZone} onfiles=${analyze} />
      <p class="form-actions">
        <button type="button" onClick=${open_demo}>${
          loading ? "Loading the demo trace…" : "Open the demo trace"}</button>
        <span class="faint">Four steps of a small GPT on an H100 that reads its loss back 40 times a
          step.</span></p>`}
    ${ready && html`<p><a href=${RUN}>Back to ${files[0].path}</a></p>`}
    <p class="faint">Several files become the ranks of one run. Comparisons, replays, training logs
      and trends need the service.</p>`;
}

/** What could not be read, beside what could. */
function Unread() {
  const { ready, said } = use_store(state);
  return ready && said && html`<${Notice} kind="warning" title="Notes on the files">
    <p>${plain(said)}</p><//>`;
}

function Page({ route }) {
  const { ready } = use_store(state);
  const [error] = useErrorBoundary();
  if (error) {
    return html`<h1 tabindex="-1">This page could not be shown</h1>
      <${Notice} kind="error" role="alert"><p>${String(error.message ?? error)}</p><//>`;
  }
  const View = ready ? PAGES[route.page] : null;
  return View ? html`<${Unread} /><${View} key=${route.run} route=${route} />`
    : html`<${Start} />`;
}

function App() {
  const route = use_route();
  const over = use_drag(analyze);
  const { ready } = use_store(state);
  const [help, set_help] = useState(false);
  useEffect(() => start_shortcuts({ help: () => set_help(true) }), []);
  return html`
    <a class="skip" href="#main">Skip to content</a>
    <header class="top-bar"><a class="brand" href="/"><${Mark} />stepscope</a>
      ${ready && html`<nav aria-label="Main"><ul><li><a href="/">Analyze other files</a></li></ul>
      </nav>`}
      <div class="top-actions"><${ThemeButton} />
        <button type="button" class="icon" aria-label="Help" title="Help (?)"
          onClick=${() => set_help(true)}>?</button></div></header>
    <main id="main" tabindex="-1"><${Page} key=${route.page} route=${route} /></main>
    ${over && html`<div class="drop-veil"><p>Drop traces to analyze them here</p></div>`}
    ${help && html`<${HelpDialog} onclose=${() => set_help(false)} />`}`;
}

answer_with(analyzer.answer);
save_links(analyzer.answer);
start_router();
render(html`<${App} />`, document.getElementById("app"));
