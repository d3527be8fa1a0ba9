// SPDX-License-Identifier: Apache-2.0
// What fixing a finding of a run brings, replayed with all ranks: the analysis of a run has no
// graph, so the service is asked.
import { use_api } from "../../base/api.mjs";
import { address, has_server } from "../../base/address.mjs";
import { run_api } from "../run/run_frame.mjs";
import { questions_of, with_gains } from "./finding_model.mjs";

/** Findings with the gains that their tables lack, once these are known. @param {any[]} findings */
export function use_gains(run, findings) {
  const changes = questions_of(findings);
  const { data } = use_api(has_server && changes.length > 0
    ? address(run_api(run, "whatif"), { change: changes, order: "gain" }) : null);
  return with_gains(findings, data?.changes ?? []);
}
