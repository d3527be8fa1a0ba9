// SPDX-License-Identifier: Apache-2.0
// Records jobs that run now: agents on their nodes have all processes record the same steps.
import { html, useState } from "../../base/ui.mjs";
import { announce } from "../../base/announce.mjs";
import { api_send, use_api } from "../../base/api.mjs";
import { run_path } from "../../base/address.mjs";
import { plural } from "../../base/format.mjs";
import { may } from "../../base/session.mjs";
import { Card, ProblemNotice } from "../../widgets/widgets.mjs";
import { job_name, jobs_of } from "./record_model.mjs";

const POLL_MS = 5000;

function Sent({ run, nodes }) {
  return html`<p role="status">${nodes > 0 ? html`Asked ${plural(nodes, "node")} to record; <a
    href=${run_path(run)}>${run}</a> appears when the first trace arrives.`
    : "No process of this job is responding, so nothing is recorded."}</p>`;
}

/** @param {{job: import("./record_model.mjs").RunningJob}} props */
function Job({ job }) {
  const [answer, set_answer] = useState(null);
  const record = async (event) => {
    event.preventDefault();
    const fields = new FormData(event.target);
    const run = String(fields.get("run")).trim();
    const body = { run, steps: Number(fields.get("steps")), job: job.job };
    try {
      const { nodes } = await api_send("POST", "/captures", { body });
      set_answer({ run, nodes });
      announce("Recording requested");
    } catch (problem) {
      set_answer({ problem });
    }
  };
  return html`<li><strong>${job_name(job)}</strong> <span class="faint">${
      plural(job.processes, "process", "processes")} on ${job.nodes.length === 1 ? job.nodes[0]
        : plural(job.nodes.length, "node")}${job.busy > 0 && `, ${job.busy} recording`}</span>
    <form class="form-actions" onSubmit=${record}>
      <label>Run <input name="run" required maxlength="200" autocomplete="off"
        defaultValue=${job.job === "0" ? "" : `job-${job.job}`} /></label>
      <label>Steps <input name="steps" type="number" required min="1" max="100"
        defaultValue="4" /></label>
      <button type="submit" class="primary" aria-label="Record ${job_name(job)}">Record</button>
    </form>
    ${answer?.problem && html`<${ProblemNotice} problem=${answer.problem} />`}
    ${answer && !answer.problem && html`<${Sent} ...${answer} />`}</li>`;
}

/** Jobs that can be recorded now; nothing where there is no agent. */
export function RecordCard() {
  const { data } = use_api(may("write") ? "/agents" : null, () => POLL_MS);
  if (!data?.nodes?.length) return null;
  const jobs = jobs_of(data);
  return html`<${Card} title="Record a running job"
      note=${plural(data.nodes.length, "node with an agent", "nodes with an agent")}>
    ${jobs.length === 0 ? html`<p>Nothing can be recorded now. PyTorch programs appear here if they
        were started with <code>KINETO_USE_DAEMON=1</code>.</p>`
      : html`<ul class="notes">${jobs.map((job) => html`<${Job} key=${job.job} job=${job} />`)}
      </ul><p class="faint">Each optimizer call counts as a step, so a job with two optimizers
        records half as many.</p>`}<//>`;
}
