// SPDX-License-Identifier: Apache-2.0
// One kernel, copy or memset: what its name says, how long its calls took, who launched it.
import { html, useMemo } from "../../base/ui.mjs";
import { address, kernel_path, run_path } from "../../base/address.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { count, number, percent, plural, short_kernel, time_text } from "../../base/format.mjs";
import { bar_of } from "../../base/parts.mjs";
import { Card, CopyButton, Empty, Figure, Lead, Loaded } from "../../widgets/widgets.mjs";
import { KernelLabels, KernelText, OpLink } from "../../widgets/kernel_text.mjs";
import { use_rank_table } from "../run/rank_data.mjs";
import { RankPage } from "../run/rank_page.mjs";
import { ByRanks, BySteps, Distribution, LongestCalls, use_calls } from "./call_cards.mjs";
import { fit_time, sum_parts } from "./call_model.mjs";
import { Counterpart } from "./counterpart.mjs";
import { Facts, FirstRows, shape_line, use_rows_of, WorkCard } from "./name_cards.mjs";
import { NameHistory } from "./name_history.mjs";

const word = (v) => v;

const SAYS = [
  ["Library", "library", word],
  ["Operation", "operation", word],
  ["Type", "dtype", word],
  ["Architecture", "arch", word],
  ["Tile", "tile", (v) => v.replaceAll("x", " × ")],
  ["Layout", "layout", word],
  ["Alignment", "alignment", (v) => plural(v, "element")],
  ["Marks", "marks", word],
];
const LAUNCHED = [
  ["Grid", "grid", word],
  ["Block", "block", word],
  ["Registers per thread", "registers", count],
  ["Shared memory", "shared_bytes", (v) => `${count(v)} bytes`],
  ["Estimated occupancy", "occupancy_percent", (v) => `${v} %`],
];

/** "softmax fwd bf16 takes 262 ms per step, 24.3 % of the time: 120 calls, median 2.17 ms." */
function lead_of({ name, label, per_step_ns, total_ns, window_share, calls, median_ns }) {
  const time = per_step_ns === null ? `${time_text(total_ns)} in all`
    : `${time_text(per_step_ns)} per step`;
  const each = calls === 1 ? "one call"
    : `${count(calls)} calls, median ${fit_time(median_ns)}`;
  return `${label || short_kernel(name)} takes ${time}, ${
    percent(window_share)} of the time: ${each}.`;
}

function Head({ row, help, run, rank }) {
  const part = bar_of(row.category, row.class);
  return html`<${Lead} text=${lead_of(row)} />
    <${Card} title="Kernel" className="name-card">
    <p class="name-label"><span class="swatch bar-${part}" aria-hidden="true"></span>
      <${KernelText} name=${row.name} label=${row.label} /></p>
    <dl class="kpis">
      <${Figure} label="Total" help=${help.total_ns} value=${time_text(row.total_ns)}>${
        percent(row.window_share)} of the whole time<//>
      <${Figure} label="Per step" help=${help.per_step_ns} value=${row.per_step_ns === null ? "–"
        : time_text(row.per_step_ns)}>${row.calls_per_step === null ? ""
        : `${number(row.calls_per_step)} calls`}<//>
      <${Figure} label="Calls" help=${help.calls} value=${count(row.calls)}>${row.category}<//>
      <${Figure} label="Median call" help=${help.median_ns} value=${fit_time(row.median_ns)}>${
        fit_time(row.min_ns)} to ${fit_time(row.max_ns)}<//>
      ${row.exposed_ns > 0 && html`<${Figure} label="Exposed" help=${help.exposed_ns}
        value=${time_text(row.exposed_ns)}>not hidden by compute<//>`}</dl>
    <h3 class="sub-head">What its name says</h3>
    <p class="kernel-full"><code>${row.name}</code><${CopyButton} text=${row.name}
      label="Copy name" /></p>
    ${SAYS.some(([, key]) => row[key]) ? html`<${Facts} row=${row} help=${help} facts=${SAYS} />`
      : html`<p class="faint">Names of this family carry no details.</p>`}
    <h3 class="sub-head">How it is launched</h3>
    <${Facts} row=${row} help=${help} facts=${LAUNCHED}><div><dt>Launched by</dt><dd><${OpLink}
      run=${run} name=${row.op} rank=${rank} none="no operator" /></dd></div><//><//>`;
}

function Shapes({ run, rank, parts }) {
  const all_ns = parts.reduce((sum, { owned_ns }) => sum + owned_ns, 0);
  const rows = useMemo(() => sum_parts(parts, ({ op, dims, types, module }) =>
    JSON.stringify([op, dims, types, module])), [parts]);
  if (rows.length === 0) return null;
  return html`<${Card} title="Callers and shapes" flush=${true}
      note="in steady steps, by operator, its inputs and module">
    <${FirstRows} label="Callers and shapes" head=${["Operator", "Shapes", "Types", "Module",
      "Calls", "Time", "Share"]} rows=${rows} texts=${4}
      line=${shape_line({ run, rank, of_kernel: true, all_ns })} /><//>`;
}

function Grids({ rows }) {
  if (rows.length < 2) return null;
  return html`<${Card} title="Launch shapes" flush=${true} note="grid and block">
    <${FirstRows} label="Launch shapes" head=${["Grid", "Block", "Calls", "Total", "p50"]}
      rows=${rows} texts=${2} line=${(row) => [html`<span class="mono">${row.grid || "–"}</span>`,
        row.block || "–", count(row.calls), time_text(row.total_ns),
        fit_time(row.median_ns)]} /><//>`;
}

/** The operator at the shapes where the kernel has most time, and all its kernels there. */
function Elsewhere({ run, rank, parts }) {
  const [row] = useMemo(() => sum_parts(parts.filter(({ op }) => op), ({ op, dims }) =>
    JSON.stringify([op, dims])), [parts]);
  const of_op = use_rows_of(run.id, "parts", rank, { op: row?.op ?? "-", limit: "all" });
  const own = useMemo(() => sum_parts(of_op.filter(({ dims }) => dims === row?.dims),
    ({ kernel }) => kernel), [of_op, row]);
  return row && own.length > 0 ? html`<${Counterpart} run=${run} row=${row} own=${own} />` : null;
}

function Content({ run, rank, name, data }) {
  const table = use_rank_table(run, "kernels", rank, { name });
  const parts = use_rows_of(run, "parts", rank, { kernel: name, limit: "all" });
  const work = use_rows_of(run, "roofline", rank, { kernel: name, sort: "-busy_ns", limit: "all" });
  const grids = use_rows_of(run, "kernel_shapes", rank, { name, sort: "-total_ns", limit: "all" });
  const frame = useMemo(() => frame_of(table.data), [table.data]);
  const [row] = rows_of(frame);
  const calls = use_calls(run, "kernel", name, rank, Boolean(row));
  return html`<${KernelLabels} runs=${[run]} />
    <${Loaded} resource=${table}>${() => (row
      ? html`<${Head} row=${row} help=${frame.help} run=${run} rank=${rank} />`
      : html`<${Empty} title="No such kernel"><p>${rank === "" ? "This run" : `Rank ${rank}`} has no
          kernel of this name. <a href=${address(run_path(run, "kernels"), { rank })}>All
          kernels</a></p><p><code>${name}</code></p><//>`)}<//>
    ${row && html`<${Loaded} resource=${calls}>${(reply) => html`
      <div class="card-pair"><${Distribution} calls=${reply} /><${BySteps} calls=${reply} /></div>
      <${ByRanks} calls=${reply} href=${(one) => kernel_path(run, name, one)} />
      <${Shapes} run=${run} rank=${rank} parts=${parts} />
      <${Grids} rows=${grids} />
      <${WorkCard} run=${run} rank=${rank} rows=${work} of_kernel=${true} />
      <${Elsewhere} run=${data.run} rank=${rank} parts=${parts} />
      <${NameHistory} run=${data.run} table="kernels" name=${name} figure="per_step_ns"
        what="Time per step" path=${kernel_path} />
      <${LongestCalls} run=${run} calls=${reply} />`}<//>`}`;
}

export default function KernelPage({ route }) {
  return html`<${RankPage} route=${route} title="Kernel" above=${["kernels", "Kernels"]}>${
    (run, rank, data) => html`<${Content} run=${run} rank=${rank} name=${route.name}
      data=${data} />`}<//>`;
}
