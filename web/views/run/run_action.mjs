// SPDX-License-Identifier: Apache-2.0
// Cancelling the analysis of a run, and restarting it, from where its state is shown.
import { html, useState } from "../../base/ui.mjs";
import { api_send } from "../../base/api.mjs";
import { announce } from "../../base/announce.mjs";
import { may } from "../../base/session.mjs";
import { ProblemNotice } from "../../widgets/widgets.mjs";

const ACTIONS = {
  cancel: { label: "Cancel the analysis", said: "Analysis cancelled" },
  reanalyze: { label: "Analyze again", said: "Analysis started" },
};

/**
 * A button with any failure next to it; nothing for users without the right.
 * @param {{run: {id: string}, action: "cancel" | "reanalyze"}} props
 */
export function RunAction({ run, action }) {
  const [state, set_state] = useState({ busy: false, problem: null });
  if (!may("write")) return null;
  const { label, said } = ACTIONS[action];
  const act = async () => {
    set_state({ busy: true, problem: null });
    try {
      await api_send("POST", `/runs/${encodeURIComponent(run.id)}/${action}`);
      set_state({ busy: false, problem: null });
      announce(said);
    } catch (problem) {
      set_state({ busy: false, problem });
    }
  };
  return html`<p class="form-actions">
      <button type="button" disabled=${state.busy} onClick=${act}>${label}</button></p>
    ${state.problem && html`<${ProblemNotice} problem=${state.problem} />`}`;
}
