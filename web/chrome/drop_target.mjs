// SPDX-License-Identifier: Apache-2.0
// The whole page accepts dropped files and folders; a dialog asks which run they belong to.
import { create_store, html, useEffect, useState } from "../base/ui.mjs";
import { use_store } from "../base/hooks.mjs";
import { files_of_drop, guess_run_name } from "../uploads/dropped_files.mjs";
import { may } from "../base/session.mjs";
import { enqueue } from "../uploads/uploads.mjs";
import { Dialog } from "../widgets/widgets.mjs";
import { bytes, plural } from "../base/format.mjs";

/** Files waiting for the name of their run; null if none are. */
const pending = create_store(null);

/** Asks for a run and uploads. @param {import("../uploads/dropped_files.mjs").Dropped[]} files */
export function offer_files(files) {
  if (files.length > 0) pending.set(files);
}

const has_files = (event) => event.dataTransfer?.types.includes("Files");

/**
 * Whether files are being dragged over the page.
 * @param {(files: import("../uploads/dropped_files.mjs").Dropped[]) => void} ondropped
 * @param {() => boolean} [takes] whether the page takes files now
 */
export function use_drag(ondropped, takes = () => true) {
  const [over, set_over] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    const listen = (name, action) =>
      document.addEventListener(
        name,
        (event) => {
          if (!takes() || !has_files(event)) return;
          event.preventDefault();
          action(event);
        },
        { signal: stop.signal },
      );
    listen("dragover", () => set_over(true));
    listen("dragleave", (event) => event.relatedTarget === null && set_over(false));
    listen("drop", (event) => {
      set_over(false);
      files_of_drop(event.dataTransfer).then(ondropped);
    });
    return () => stop.abort();
  }, []);
  return over;
}

/** The form's values as upload fields; tags are written "key=value", separated by spaces. */
function fields_of(form) {
  const data = new FormData(form);
  const text = (name) => String(data.get(name) ?? "").trim();
  const single = ["run", "project", "note"].filter(text).map((name) => [name, text(name)]);
  const tags = text("tags").split(/[\s,]+/).filter(Boolean).map((tag) => ["tag", tag]);
  return [...single, ...tags];
}

function UploadDialog({ files, onclose }) {
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  const submit = (event) => {
    event.preventDefault();
    enqueue(files, fields_of(event.target));
    onclose();
  };
  const field = (name, label, more) => html`<label class="field"><span>${label}</span>
    <input name=${name} autocomplete="off" spellcheck=${false} ...${more} /></label>`;
  return html`<${Dialog} title="Upload ${plural(files.length, "file")}" onclose=${onclose}>
    <form class="form" onSubmit=${submit}>
      <p class="faint">${bytes(total)}, as ranks of one run. If a run of that name exists, they
        are added to it.</p>
      ${field("run", "Run", {
        required: true, autofocus: true, value: guess_run_name(files.map((f) => f.path)) })}
      ${field("project", "Project (optional)", {})}
      ${field("tags", "Tags (optional)", { placeholder: "branch=main precision=bf16" })}
      ${field("note", "Note (optional)", {})}
      <ul class="file-list">${files.slice(0, 8).map(({ path, file }) => html`<li key=${path}>
        <span>${path}</span><span class="faint">${bytes(file.size)}</span></li>`)}
        ${files.length > 8 && html`<li class="faint">and ${files.length - 8} more</li>`}</ul>
      <p class="form-actions"><button type="submit" class="primary">Upload</button>
        <button type="button" onClick=${onclose}>Cancel</button></p>
    </form>
  <//>`;
}

export function DropTarget() {
  const over = use_drag(offer_files, () => may("upload"));
  const files = use_store(pending);
  return html`
    ${over && html`<div class="drop-veil"><p>Drop traces or folders to upload them</p></div>`}
    ${files && html`<${UploadDialog} files=${files} onclose=${() => pending.set(null)} />`}`;
}
