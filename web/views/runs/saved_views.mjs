// SPDX-License-Identifier: Apache-2.0
// Saved views of the list of runs: opened, saved under a name, removed; shared by everybody.
import { html, useState } from "../../base/ui.mjs";
import { announce } from "../../base/announce.mjs";
import { api_send, use_api } from "../../base/api.mjs";
import { next_page } from "../../base/address.mjs";
import { focus_once, use_is_shown } from "../../base/hooks.mjs";
import { navigate } from "../../base/router.mjs";
import { may } from "../../base/session.mjs";
import { AskFirst } from "../../widgets/ask_first.mjs";
import { ProblemNotice } from "../../widgets/widgets.mjs";

const here = () => location.pathname + location.search;

function SaveForm({ onclose }) {
  const [problem, set_problem] = useState(null);
  const is_shown = use_is_shown();
  const save = async (event) => {
    event.preventDefault();
    const name = String(new FormData(event.target).get("name") ?? "").trim();
    try {
      await api_send("POST", "/views", { body: { name, address: here() } });
      announce(`Saved as ${name}`);
      if (is_shown()) onclose();
    } catch (error) {
      set_problem(error);
    }
  };
  return html`<form class="tag-form" onSubmit=${save}><input name="name" required maxlength="200"
      autocomplete="off" aria-label="Name of the view" placeholder="Name of the view"
      ref=${focus_once} />
    <button type="submit">Save</button>
    <button type="button" onClick=${onclose}>Cancel</button>
    ${problem && html`<${ProblemNotice} problem=${problem} />`}</form>`;
}

export function SavedViews() {
  const views = use_api("/views").data?.items ?? [];
  const [saving, set_saving] = useState(false);
  const current = views.find(({ address }) => address === here());
  const open = (id) => {
    const view = views.find((one) => one.id === id);
    navigate(view ? next_page(view.address, location.origin) : "/");
  };
  const remove = () => api_send("DELETE", `/views/${current.id}`).then(
    () => announce(`Removed ${current.name}`), (problem) => announce(problem.message));
  if (saving) return html`<${SaveForm} onclose=${() => set_saving(false)} />`;
  return html`${views.length > 0 && html`<label class="pick">View <select
      value=${current?.id ?? ""} onChange=${(event) => open(event.target.value)}>
      <option value="">${current ? "All runs" : "not saved"}</option>
      ${views.map(({ id, name }) => html`<option key=${id} value=${id}>${name}</option>`)}
    </select></label>`}
    ${may("write") && (current
      ? html`<${AskFirst} key=${current.id} text="Remove view" deed="Remove"
        question="Remove it for everyone?" ondo=${remove} />`
      : html`<button type="button" class="link" onClick=${() => set_saving(true)}>Save
        view…</button>`)}`;
}
