// SPDX-License-Identifier: Apache-2.0
// How traces get in: a drop zone, the curl lines, how to record.
import { html, useRef } from "../../base/ui.mjs";
import { use_title } from "../../base/hooks.mjs";
import { Card, Command } from "../../widgets/widgets.mjs";
import { offer_files } from "../../chrome/drop_target.mjs";
import { files_of_input } from "../../uploads/dropped_files.mjs";
import { RECORD } from "../docs/recording.mjs";
import { first_curl, InBrowser } from "../home/first_run.mjs";
import { RecordCard } from "./record.mjs";

const origin = () => location.origin;

/**
 * @param {{onfiles: (files: import("../../uploads/dropped_files.mjs").Dropped[]) => void,
 *          children?: any}} props
 */
export function DropZone({ onfiles, children }) {
  const files = useRef(null);
  const folder = useRef(null);
  const offer = (event) => {
    onfiles(files_of_input(event.target.files));
    event.target.value = "";
  };
  return html`<div class="drop-zone">
    <p class="drop-title">Drop trace files or folders anywhere on the page</p>
    <p class="faint">
      .json, .xplane.pb, .prv, .csv, .db, .rpd or .sqlite, also as .gz or .zst, or archives of
      them: .tar, .tar.gz, .tar.zst or .zip</p>
    <p class="form-actions">
      <button type="button" class="primary" onClick=${() => files.current.click()}>Choose files
      </button>
      <button type="button" onClick=${() => folder.current.click()}>Choose a folder</button></p>
    <input type="file" multiple hidden ref=${files} aria-label="Trace files" onChange=${offer} />
    <input type="file" webkitdirectory hidden ref=${folder} aria-label="Folder of traces"
      onChange=${offer} />
    ${children}
  </div>`;
}

function CurlLines() {
  return html`
    <h3>One rank</h3><${Command} text=${first_curl()} />
    <h3>All ranks of a run at once</h3>
    <${Command} text=${`curl -F run=my-run -F tag=branch=main \\
  $(printf -- '-F trace=@%s ' rank*.json.gz) ${origin()}/upload`} />
    <h3>A whole folder as one archive</h3>
    <${Command} text=${`tar c outputs | zstd | \\
  curl -F run=my-run -F 'trace=@-;filename=my-run.tar.zst' ${origin()}/upload`} />
    <p class="faint">All ranks of a torchtitan, Primus, NeMo or tb_logs folder. Training
      logs are read too, other files are kept as attachments; the run's Data page lists them
      all.</p>
    <h3>The log of the job</h3>
    <${Command} text=${`curl -F run=my-run -F trace=@train.log ${origin()}/upload`} />
    <p class="faint">Loss, speed and slow steps over the whole job, with or without a trace:${" "}
      <a href="/docs/recording">which logs are read</a>.</p>
    <h3>With metadata that the trace may lack</h3>
    <${Command} text=${`curl -F run=my-run@42 -F meta=commit=$(git rev-parse HEAD) \\
  -F meta=precision=bf16 -F meta=batch_size=512 -F meta=seq_len=4096 \\
  -F trace=@rank0.json.gz ${origin()}/upload`} />
    <p class="faint">Comparisons show which settings differ, and times per token where both
      sides have <code>tokens_per_step</code>, or <code>batch_size</code> and <code>seq_len</code>.
      Runs whose names agree up to the @ form a series, shown under <a href="/trends">Trends
      </a> and watched for changes.</p>
    <h3>Each rank from its own host</h3>
    <${Command} text=${`curl -T rank$RANK.json.gz \\
  ${origin()}/api/v1/runs/my-run/ranks/$RANK/trace`} />
    <h3>Wait for the analysis</h3>
    <${Command} text=${`curl -F run=my-run -F trace=@rank0.json.gz '${origin()}/upload?wait=60'`} />
    <p class="faint">The response contains the address of the run's page. The rank is taken from
      the field <code>rank=</code>, else from the trace, else from the file's name. Identical files
      are stored once.</p>`;
}

function Recording() {
  return html`<${Command} text=${RECORD} />
    <ul class="notes">
      <li>The schedule skips the first steps and records eight. Without one, steps are not marked:
        then give the name of your own annotation with <code>-F step=NAME</code>.</li>
      <li>Record on every rank when you can. Two or three ranks already show a straggler.</li>
      <li>Leave <code>with_stack</code> and <code>profile_memory</code> off for timing: they slow
        the host down and so lengthen idle time. Record them once separately to see causes.</li>
      <li>To compare, keep the schedule, the batch size and the profiler's options the same.</li>
    </ul>
    <p><a href="/docs/recording">Everything about recording: options and their costs, ranks, CUDA
      and ROCm, frameworks</a></p>`;
}

export default function Upload() {
  use_title("Upload");
  return html`<header class="page-head"><h1 tabindex="-1">Upload traces</h1></header>
    <${DropZone} onfiles=${offer_files}><${InBrowser} /><//>
    <${RecordCard} />
    <div class="columns-2">
      <${Card} title="From a shell"><${CurlLines} /><//>
      <${Card} title="Recording a trace with PyTorch"><${Recording} /><//>
    </div>`;
}
