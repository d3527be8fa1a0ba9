// SPDX-License-Identifier: Apache-2.0
// Editing a run's name, tags, metadata and steps, analyzing it again, deleting it.
import { html, useState } from "../../base/ui.mjs";
import { api_send } from "../../base/api.mjs";
import { announce } from "../../base/announce.mjs";
import { use_is_shown } from "../../base/hooks.mjs";
import { may } from "../../base/session.mjs";
import { navigate } from "../../base/router.mjs";
import { run_path } from "../../base/address.mjs";
import { Card, ProblemNotice } from "../../widgets/widgets.mjs";
import { DeleteDialog } from "../bin/delete_dialog.mjs";
import { MetaFields, meta_rows } from "./meta_fields.mjs";
import { meta_patch } from "../run/meta_model.mjs";
import { run_api } from "../run/run_frame.mjs";
import { tags_patch, tags_text } from "./tags.mjs";

function patch_of(run, form, meta) {
  const data = new FormData(form);
  const text = (name) => String(data.get(name) ?? "").trim();
  const patch = { tags: tags_patch(run.tags, text("tags")) };
  const settings = meta_patch(run.meta, meta);
  if (Object.keys(settings).length > 0) patch.meta = settings;
  for (const name of ["name", "project", "note"]) {
    if (text(name) !== (run[name] ?? "")) patch[name] = text(name);
  }
  const step = text("step") || null;
  if (step !== run.step) patch.step = step;
  const warmup = text("warmup") === "" ? null : Number(text("warmup"));
  if (warmup !== run.warmup) patch.warmup = warmup;
  return patch;
}

/**
 * What the form begins with: what is typed stays until that changes. An analysis alone changes the
 * ETag as well. The metadata is a part of it, or a key that an upload added would count as removed.
 */
export const stored_of = ({ name, project, tags, meta, note, step, warmup }) =>
  JSON.stringify([name, project, tags, meta, note, step, warmup]);

/** @param {{run: any, etag: string}} props keyed by `stored_of` */
export function EditRun({ run, etag }) {
  const [problem, set_problem] = useState(null);
  const [deleting, set_deleting] = useState(false);
  const is_shown = use_is_shown();
  const [meta, set_meta] = useState(() => meta_rows(run.meta));
  const attempt = async (action, said) => {
    try {
      await action();
      set_problem(null);
      announce(said);
    } catch (error) {
      set_problem(error);
    }
  };
  const save = (event) => {
    event.preventDefault();
    const body = patch_of(run, event.target, meta);
    const type = "application/merge-patch+json";
    const said = "step" in body || "warmup" in body ? "Saved, analysis started" : "Saved";
    attempt(() => api_send("PATCH", run_api(run.id), { body, etag, type }), said).then(() => {
      if (body.name && is_shown()) navigate(run_path(run.id, "data"), { replace: true });
    });
  };
  const again = () =>
    attempt(() => api_send("POST", `${run_api(run.id)}/reanalyze`), "Analysis started");
  if (!may("write")) return null;
  const field = (name, label, value, more = {}) => html`<label class="field"><span>${label}</span>
    <input name=${name} defaultValue=${value ?? ""} autocomplete="off" spellcheck=${false}
      ...${more} /></label>`;
  const leave = () => is_shown() && navigate("/"); // which offers the undo
  return html`<${Card} title="This run">
    <form class="form form-grid" onSubmit=${save}>
      ${field("name", "Name", run.name)}
      ${field("project", "Project", run.project)}
      ${field("tags", "Tags, as key=value", tags_text(run.tags))}
      ${field("note", "Note", run.note)}
      ${field("step", "Annotation that marks a step", run.step,
        { placeholder: "ProfilerStep, else found" })}
      ${field("warmup", "Leading steps to exclude", run.warmup,
        { type: "number", min: 0, step: 1, placeholder: "those that differ" })}
      <${MetaFields} rows=${meta} onchange=${set_meta} />
      <p class="faint form-note">An annotation is the name given to <code>record_function</code>;
        a trailing * matches any ending. Changing the steps reanalyzes the run.</p>
      ${problem && html`<${ProblemNotice} problem=${problem} />`}
      <p class="form-actions"><button type="submit" class="primary">Save</button>
        <button type="button" onClick=${again}>Reanalyze</button>
        ${may("admin") && html`<button type="button" class="danger-link"
          onClick=${() => set_deleting(true)}>Delete…</button>`}
      </p>
    </form>
    ${deleting && html`<${DeleteDialog} runs=${[run]} ondeleted=${leave}
      onclose=${() => set_deleting(false)} />`}<//>`;
}
