// SPDX-License-Identifier: Apache-2.0
// That the job hung and who to look at, on every page of its run.
import { html } from "../../base/ui.mjs";
import { run_path } from "../../base/address.mjs";
import { Notice } from "../../widgets/widgets.mjs";
import { use_table } from "./run_table.mjs";

/** Nothing without Flight Recorder dumps. @param {{run: string, page: string}} props */
export function HangNotice({ run, page }) {
  const { rows } = use_table(run, "hang_verdict", { limit: "all" });
  const [first] = rows.filter(({ kind }) => kind !== "none");
  return first && page !== "training" && html`<${Notice} kind="warning" title="The job hung">
    <p>${first.verdict} <a href=${run_path(run, "training")}>Show the process groups</a></p><//>`;
}
