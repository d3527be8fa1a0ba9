// SPDX-License-Identifier: Apache-2.0
// Asks before runs go to the bin. Exactly the listed runs go, however the page changes meanwhile.
import { html, useState } from "../../base/ui.mjs";
import { delete_runs, say_deleted } from "./deeds.mjs";
import { plural } from "../../base/format.mjs";
import { use_is_shown } from "../../base/hooks.mjs";
import { Dialog, ProblemNotice } from "../../widgets/widgets.mjs";

/**
 * @typedef {import("../../base/tray.mjs").Picked} Picked
 * @param {{runs: Picked[], ondeleted: (deleted: Picked[]) => void, onclose: () => void}} p
 */
export function DeleteDialog({ runs, ondeleted, onclose }) {
  const [problem, set_problem] = useState(null);
  const [busy, set_busy] = useState(false);
  const is_shown = use_is_shown();
  const remove = async () => {
    set_busy(true);
    const done = await delete_runs(runs);
    set_problem(done.problem);
    if (!done.problem && is_shown()) onclose();
    if (done.deleted.length > 0) ondeleted(done.deleted);
    say_deleted(done); // last: the focus cannot leave an open dialog
  };
  const one = runs.length === 1;
  return html`<${Dialog} title=${one ? `Delete ${runs[0].name}?`
      : `Delete ${plural(runs.length, "run")}?`} onclose=${onclose}>
    ${!one && html`<ul class="file-list">${runs.map(({ id, name }) => html`<li key=${id}>${name}
      </li>`)}</ul>`}
    <p>${one ? "The run moves" : "They move"} to the bin with all traces and results, and can be
      restored from there.</p>
    ${problem && html`<${ProblemNotice} problem=${problem} />`}
    <p class="form-actions"><button type="button" class="danger" disabled=${busy}
      onClick=${remove}>Delete</button>
      <button type="button" onClick=${onclose}>${problem ? "Close" : "Keep"}</button></p><//>`;
}
