// SPDX-License-Identifier: Apache-2.0
// Shows on every page that stored data is damaged, and what to do; nothing while it is intact.
import { html } from "../base/ui.mjs";
import { storage, use_api } from "../base/api.mjs";
import { run_path } from "../base/address.mjs";
import { plural, sentence } from "../base/format.mjs";
import { use_store } from "../base/hooks.mjs";
import { may, use_session } from "../base/session.mjs";
import { Notice } from "../widgets/widgets.mjs";

const POLL_MS = 30000; // only while something is damaged
const FILES_SHOWN = 3;
const FILES_FIX = "upload the same files again: they replace the damaged ones. Figures computed " +
  "earlier remain valid";

function Disk({ why }) {
  return html`<${Notice} kind="error" title="The server's disk failed: nothing more is saved"
      fix="check the disk, then restart stepscope, which checks what was saved">
    ${why && html`<p>${sentence(why)}</p>`}<//>`;
}

function Database({ damage }) {
  return html`<${Notice} kind="error"
      title="The database is damaged: figures may be wrong or missing"
      fix="restore the newest backup, as deploy/README.md says">
    ${damage && html`<p>${sentence(damage)}</p>`}<//>`;
}

const File = ({ filename, run }) => (run
  ? html`<li><a href=${run_path(run, "data")}>${filename || "an unnamed file"}</a></li>`
  : html`<li>${filename || "a file that belongs to no run"}</li>`);

function Files({ files }) {
  const shown = files.slice(0, FILES_SHOWN);
  const more = files.length - shown.length;
  const what = files.length ? plural(files.length, "stored file") : "Stored files";
  return html`<${Notice} kind="warning" fix=${FILES_FIX}
      title="${what} ${files.length === 1 ? "is" : "are"} damaged on the server's disk">
    ${shown.length > 0 && html`<ul class="strip-files">${shown.map((file) => html`<${File}
      key=${file.sha256} ...${file} />`)}${more > 0 && html`<li>and ${more} more</li>`}</ul>`}<//>`;
}

/** The details, fetched only once something is damaged. */
function Details({ word }) {
  const { data } = use_api(may("read") ? "/storage" : null, () => POLL_MS);
  const files = data?.damaged_files ?? [];
  return html`<section class="storage-strip" aria-label="Storage">
    ${(word === "disk" || data?.disk_fault) && html`<${Disk} why=${data?.disk_fault} />`}
    ${(word === "database" || data?.database.damage) && html`<${Database}
      damage=${data?.database.damage} />`}
    ${(word === "files" || files.length > 0) && html`<${Files} files=${files} />`}
  </section>`;
}

export function StorageStrip() {
  const word = use_store(storage);
  const { kind } = use_session();
  return word === "sound" || kind === "nobody" ? null : html`<${Details} word=${word} />`;
}
