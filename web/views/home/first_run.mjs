// SPDX-License-Identifier: Apache-2.0
// What a service without runs shows: one command to copy, and what becomes of the first upload.
import { html } from "../../base/ui.mjs";
import { use_api } from "../../base/api.mjs";
import { run_path } from "../../base/address.mjs";
import { sentence } from "../../base/format.mjs";
import { use_session } from "../../base/session.mjs";
import { Command, Empty } from "../../widgets/widgets.mjs";

const POLL_MS = 1000;

/** The line that uploads one file to this server. */
export function first_curl() {
  return `curl -F run=my-run -F trace=@rank0.json.gz ${location.origin}/upload`;
}

/** Where this service has the page that analyzes without it. */
export function InBrowser() {
  return use_session().standalone && html`<p>
    <a href="/standalone/index.html">Analyze in this browser</a>: nothing is uploaded.</p>`;
}

function Progress({ run }) {
  const share = run.progress ?? 0;
  if (run.status === "failed") {
    return html`<p class="run-error">${run.name} could not be read. ${sentence(run.error)} <a
      href=${run_path(run.id, "data")}>See its files</a></p>`;
  }
  if (run.status === "done" || run.status === "partial") {
    return html`<p><a class="button primary" href=${run_path(run.id)}>Open ${run.name}</a></p>`;
  }
  return html`<p><label>Analyzing ${run.name} <progress max="1" value=${share}></progress>${" "}
    ${Math.floor(share * 100)} %</label></p>`;
}

/** The first upload as it arrives; looks for it every second. */
export function FirstRun() {
  const { data } = use_api("/runs?sort=-created&limit=1", () => POLL_MS);
  const run = data?.items?.[0];
  return html`<${Empty} title="No runs yet">
    <p>A run is what one job recorded: upload the trace of one rank, or drop files anywhere on this
      page. The run then shows where each step’s time goes.</p>
    <${Command} text=${first_curl()} />
    <div class="first-upload" role="status">${run ? html`<${Progress} run=${run} />`
      : html`<p class="faint"><span class="live-dot" aria-hidden="true"></span> Waiting for the
        first upload. It will appear here.</p>`}</div>
    <p><a href="/upload">More ways to upload, and how to record a trace</a></p>
    <${InBrowser} /><//>`;
}
