// SPDX-License-Identifier: Apache-2.0
// One operator: its time on the device and the host, its shapes, kernels and callers.
import { html, useMemo } from "../../base/ui.mjs";
import { use_api } from "../../base/api.mjs";
import { address, operator_path, run_path } from "../../base/address.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { count, percent, plural, time_text } from "../../base/format.mjs";
import { bar_of } from "../../base/parts.mjs";
import { shapes_text, types_text } from "../../base/shapes_text.mjs";
import { Card, CopyButton, Empty, Figure, Lead, Loaded } from "../../widgets/widgets.mjs";
import { KernelLabels, KernelLink, OpLink } from "../../widgets/kernel_text.mjs";
import { use_rank_table } from "../run/rank_data.mjs";
import { RankPage } from "../run/rank_page.mjs";
import { run_api } from "../run/run_frame.mjs";
import { ByRanks, BySteps, Distribution, LongestCalls, use_calls } from "./call_cards.mjs";
import { callers_of, fit_time, sum_parts } from "./call_model.mjs";
import { Counterpart } from "./counterpart.mjs";
import { FirstRows, use_rows_of, WorkCard } from "./name_cards.mjs";
import { NameHistory } from "./name_history.mjs";

const MOST_NODES = "100"; // of the operator in the call tree, by time
const MOST_PARENTS = 30; // that are looked up: a request has at most 32 filters

function Head({ row, help }) {
  const part = row.category ? bar_of(row.category) : "none";
  return html`<${Lead} text="${row.name} takes ${time_text(row.owned_ns)} of device time, ${
      percent(row.busy_share)} of the busy time, in ${plural(row.calls, "call")}." />
    <${Card} title="Operator" className="name-card">
    <p class="name-label"><span class="swatch bar-${part}" aria-hidden="true"></span><code>${
      row.name}</code><${CopyButton} text=${row.name} label="Copy name" /></p>
    <dl class="kpis">
      <${Figure} label="Device time" help=${help.owned_ns} value=${time_text(row.owned_ns)}>${
        percent(row.busy_share)} of the busy time<//>
      <${Figure} label="With nested operators" help=${help.total_ns}
        value=${time_text(row.total_ns)}>${time_text(row.self_ns)} launched directly<//>
      <${Figure} label="Calls" help=${help.calls} value=${count(row.calls)}>${
        plural(row.kernels, "kernel launch", "kernel launches")}<//>
      <${Figure} label="Median call" help=${help.median_ns} value=${fit_time(row.median_ns)}>${
        row.median_ns === null ? "launches nothing directly" : "on the device, directly"}<//>
      <${Figure} label="On the host" help=${help.host_ns} value=${time_text(row.host_ns)}>${
        [row.category, row.direction].filter(Boolean).join(", ")}<//>
      ${row.recompute_ns > 0 && html`<${Figure} label="Recomputed" help=${help.recompute_ns}
        value=${time_text(row.recompute_ns)}>for checkpointing<//>`}</dl><//>`;
}

function Shapes({ run, rank, rows }) {
  if (rows.length === 0) return null;
  return html`<${Card} title="Shapes" flush=${true} note="what it launched directly">
    <${FirstRows} label="Shapes" head=${["Shapes", "Types", "Module", "Kernel with most time",
      "Calls", "Time", "p50", "p95"]} rows=${rows} texts=${4} line=${(row) => [
      html`<span class="mono">${shapes_text(row.dims) || "–"}</span>`,
      types_text(row.types) || "–",
      html`<span class="mono cut" title=${row.module}>${row.module || "–"}</span>`,
      html`<${KernelLink} run=${run} name=${row.kernel} rank=${rank} />`,
      count(row.launching_calls), time_text(row.owned_ns), fit_time(row.median_ns),
      fit_time(row.p95_ns)]} /><//>`;
}

function Kernels({ run, rank, kernels }) {
  if (kernels.length === 0) return null;
  const all_ns = kernels.reduce((sum, { owned_ns }) => sum + owned_ns, 0);
  return html`<${Card} title="Kernels it launches" flush=${true} note="in steady steps">
    <${FirstRows} label="Kernels it launches" head=${["Kernel", "Calls", "Time", "Per call",
      "Share"]} rows=${kernels} line=${(row) => [
      html`<${KernelLink} run=${run} name=${row.kernel} rank=${rank} />`, count(row.calls),
      time_text(row.owned_ns), fit_time(row.owned_ns / Math.max(1, row.calls)),
      percent(row.owned_ns / (all_ns || 1))]} /><//>`;
}

/** The nodes above those of a name, with the calls and time that they make of it. */
function use_callers(run, rank, name) {
  const { data } = use_rank_table(run, "op_tree", rank, { name, kind: "op",
    sort: "-total_owned_ns", limit: MOST_NODES });
  const nodes = useMemo(() => rows_of(frame_of(data)), [data]);
  const ids = nodes.map(({ parent }) => parent).filter((id) => id !== null);
  const above = use_api(ids.length === 0 ? null : address(run_api(run, "op_tree"), { rank,
    id: [...new Set(ids)].slice(0, MOST_PARENTS), format: "columns", limit: "all" }));
  return useMemo(() => callers_of({ name, nodes, total: data?.total ?? nodes.length,
    parents: rows_of(frame_of(above.data)) }), [name, nodes, above.data]);
}

function Callers({ run, rank, name }) {
  const { callers, left } = use_callers(run, rank, name);
  if (callers.length === 0) return null;
  const rest = left === 0 ? ""
    : `; without ${plural(left, "place")} of the call tree with less time`;
  return html`<${Card} title="Called by" flush=${true}
      note="operators around it, over the whole recording${rest}">
    <${FirstRows} label="Called by" head=${["Operator", "Calls", "Time"]} rows=${callers}
      line=${(row) => [row.kind === "root" ? "no other operator"
        : html`<${OpLink} run=${run} name=${row.caller} rank=${rank} />`,
        count(row.calls), time_text(row.owned_ns)]} /><//>`;
}

/** The shapes with most time, and the kernels there. */
function Elsewhere({ run, parts }) {
  const [row] = useMemo(() => sum_parts(parts, ({ dims }) => dims), [parts]);
  const own = useMemo(() => sum_parts(parts.filter(({ dims }) => dims === row?.dims),
    ({ kernel }) => kernel), [parts, row]);
  return row ? html`<${Counterpart} run=${run} row=${row} own=${own} />` : null;
}

function Content({ run, rank, name, data }) {
  const table = use_rank_table(run, "operators", rank, { name });
  const parts = use_rows_of(run, "parts", rank, { op: name, limit: "all" });
  const shapes = use_rows_of(run, "op_shapes", rank, { name, sort: "-owned_ns", limit: "all" });
  const work = use_rows_of(run, "roofline", rank, { op: name, sort: "-busy_ns", limit: "all" });
  const kernels = useMemo(() => sum_parts(parts, ({ kernel }) => kernel), [parts]);
  const frame = useMemo(() => frame_of(table.data), [table.data]);
  const [row] = rows_of(frame);
  const calls = use_calls(run, "operator", name, rank, Boolean(row));
  return html`<${KernelLabels} runs=${[run]} />
    <${Loaded} resource=${table}>${() => (row ? html`<${Head} row=${row} help=${frame.help} />`
      : html`<${Empty} title="No such operator"><p>${rank === "" ? "This run" : `Rank ${rank}`} has
          no operator of this name. <a href=${address(run_path(run, "operators"), { rank })}>All
          operators</a></p><p><code>${name}</code></p><//>`)}<//>
    ${row && html`<${Loaded} resource=${calls}>${(reply) => html`
      <div class="card-pair"><${Distribution} calls=${reply} /><${BySteps} calls=${reply} /></div>
      <${ByRanks} calls=${reply} href=${(one) => operator_path(run, name, one)} />
      <${Kernels} run=${run} rank=${rank} kernels=${kernels} />
      <${Shapes} run=${run} rank=${rank} rows=${shapes} />
      <${Callers} run=${run} rank=${rank} name=${name} />
      <${WorkCard} run=${run} rank=${rank} rows=${work} of_kernel=${false} />
      <${Elsewhere} run=${data.run} parts=${parts} />
      <${NameHistory} run=${data.run} table="operators" name=${name} figure="owned_ns"
        by_steps=${true} what="Device time per step" path=${operator_path} />
      <${LongestCalls} run=${run} calls=${reply} />`}<//>`}`;
}

export default function OperatorPage({ route }) {
  return html`<${RankPage} route=${route} title="Operator" above=${["operators", "Operators"]}
    needs_device=${false}>${(run, rank, data) => html`<${Content} run=${run} rank=${rank}
      name=${route.name} data=${data} />`}<//>`;
}
