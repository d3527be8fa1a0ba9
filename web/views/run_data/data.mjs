// SPDX-License-Identifier: Apache-2.0
// What the figures are based on: trust report, files, environment, downloads; and the run's own
// data.
import { html, useMemo, useState } from "../../base/ui.mjs";
import { api_href, use_api } from "../../base/api.mjs";
import { address, has_server } from "../../base/address.mjs";
import { may, use_session } from "../../base/session.mjs";
import { bytes, capital, plural, sentence, typeset, when } from "../../base/format.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { label_of, write_value } from "../../base/values.mjs";
import { Card, CopyButton, ExportLinks, Loaded, Segments, Status } from "../../widgets/widgets.mjs";
import { Table } from "../../widgets/table.mjs";
import { EditRun, stored_of } from "./edit_run.mjs";
import { Inputs } from "./inputs.mjs";
import { trust_groups } from "../run/trust_model.mjs";
import { settings_of } from "../run/meta_model.mjs";
import { OfRank, use_rank } from "../run/rank_data.mjs";
import { RecordedCard } from "./recorded.mjs";
import { run_api, RunFrame } from "../run/run_frame.mjs";
import { use_event_links } from "../run/event_sizes.mjs";
import { size_text } from "../run/size_model.mjs";

const BUSY_POLL_MS = 1500;

function Quality({ run, analyzed, traced }) {
  const resource = use_api(address(run_api(run, "trust"), { format: "columns" }));
  if (!traced && !(resource.data && rows_of(frame_of(resource.data)).length > 0)) return null;
  return html`<${Card} title="Trust report" flush=${true}
      note="irregularities and their effect on the numbers">
    <${Loaded} resource=${resource}>${(reply) => html`<${QualityTable} reply=${reply}
      analyzed=${analyzed} />`}<//><//>`;
}

function QualityTable({ reply, analyzed }) {
  const groups = useMemo(() => trust_groups(rows_of(frame_of(reply))), [reply]);
  const text = (name) => (row) => capital(typeset(groups[row][name]) || "–");
  return html`<${Table} caption="Trust report" frame=${frame_of(groups)} columns=${[
    { key: "severity", label: "Severity", cell: (row) =>
      html`<span class="status status-${groups[row].severity}">${groups[row].severity}</span>` },
    { key: "ranks", label: "Ranks", className: "wrap-narrow" },
    { key: "detail", label: "Observation", className: "wrap", cell: (row) => html`${
      text("detail")(row)}<span class="only-narrow below">${text("effect")(row)}</span>` },
    { key: "effect", label: "Effect on the numbers", className: "wrap", priority: 2,
      cell: text("effect") },
    { key: "count", label: "Count", kind: "count", priority: 2 },
    { key: "time_ns", label: "Time", kind: "ms", priority: 2 },
    { key: "position", label: "At byte", kind: "count", priority: 4 },
  ]} empty=${html`<p class="empty-line">${analyzed ? "Nothing unusual was found in the "
    + "recordings."
    : "Nothing has been analyzed yet."}</p>`} />`;
}

/** Why this user may not have the original bytes; "" if they may. */
function withheld({ secrets }) {
  if (secrets === 0 || may("admin")) return "";
  return secrets === null ? "the file has not been searched for secrets yet"
    : "the file seems to contain secrets";
}

function TraceName({ run, trace }) {
  const { filename, rank, error, damage } = trace;
  const href = api_href(run_api(run, `ranks/${rank}/trace`));
  const reason = withheld(trace);
  const has_rank = rank !== null && rank !== undefined;
  return html`<span class="trace-name">${has_rank && !reason
    ? html`<a href=${href} download title="Download the original bytes">${filename}</a>`
    : html`<span>${filename}</span>`}
    ${has_rank && reason && html`<span class="trace-note">No download: ${reason}, so it needs the
      scope admin.</span>`}
    ${damage && html`<span class="trace-error">The stored bytes are damaged: the file ${damage}.
      Upload it again.</span>`}
    ${error && html`<span class="trace-error">${sentence(error)}</span>`}</span>`;
}

function Files({ run, traces }) {
  const frame = useMemo(() => frame_of(traces), [traces]);
  const at = (row) => traces[row];
  return html`<${Card} title="Files" flush=${true}
      note="as uploaded; links download the original bytes">
    <${Table} caption="Files" frame=${frame} columns=${[
      { key: "filename", label: "File", className: "wrap", cell: (row) =>
        html`<${TraceName} run=${run} trace=${at(row)} />` },
      { key: "rank", label: "Rank", kind: "count", cell: (row) =>
        at(row).rank ?? (at(row).status === "failed" ? "–" : "pending") },
      { key: "rank_from", label: "Rank from", priority: 2 },
      ...traces.some((trace) => trace.role) ? [{ key: "role", label: "Role", cell: (row) =>
        at(row).role ?? "–" }] : [],
      { key: "status", label: "State", cell: (row) =>
        html`<${Status} status=${at(row).status} progress=${at(row).progress} />` },
      { key: "bytes", label: "Size", kind: "bytes" },
      { key: "uploaded", label: "Uploaded", priority: 2, cell: (row) => when(at(row).uploaded) },
      { key: "sha256", label: "SHA-256", priority: 4, cell: (row) => html`<code
        title=${at(row).sha256}>${String(at(row).sha256 ?? "").slice(0, 12)}</code>${" "}
        <${CopyButton} text=${at(row).sha256 ?? ""} className="link" />` },
    ]} empty=${html`<p class="empty-line">No trace belongs to this run.</p>`} /><//>`;
}

function Environment({ run, meta, traced }) {
  const resource = use_api(address(run_api(run, "environment"), { format: "columns" }));
  if (!traced && Object.keys(meta ?? {}).length === 0) return null;
  return html`<${Card} title="Environment" flush=${true}
      note="metadata given with the run, and values from the recordings">
    <${Loaded} resource=${resource}>${(reply) => html`<${Settings} meta=${meta}
      reply=${reply} />`}<//><//>`;
}

function Settings({ meta, reply }) {
  const rows = useMemo(() => settings_of(meta, rows_of(frame_of(reply))), [meta, reply]);
  const frame = useMemo(() => frame_of(rows), [rows]);
  return html`<${Table} caption="Environment" frame=${frame} columns=${[
    { key: "key", label: "Setting" },
    { key: "value", label: "Value", className: "wrap", cell: (row) => html`<span class="mono">${
      rows[row].value}</span>${rows[row].traced && html`<span class="faint traced">the trace says ${
      rows[row].traced}</span>`}` },
    { key: "source", label: "From", cell: (row) =>
      html`<span class=${rows[row].source === "given" ? "chip source-given" : "faint"}>${
        rows[row].source}</span>` },
    { key: "ranks", label: "Ranks", kind: "count" },
  ]} empty=${html`<p class="empty-line">The recordings contain no settings.</p>`} />`;
}

function Launches({ run, rank }) {
  const resource = use_api(address(run_api(run, "launches"), { rank, limit: "all" }));
  return html`<${Card} title="Launch links" flush=${true}
      note="how device work links to its launch on the host">
    <${Loaded} resource=${resource}>${(reply) => html`<${LaunchTable}
      frame=${frame_of(reply)} />`}<//><//>`;
}

function LaunchTable({ frame }) {
  const rows = rows_of(frame);
  return html`<${Table} caption="Launch links" frame=${frame} columns=${[
    { key: "metric", label: "Figure", cell: (row) =>
      html`<span title=${rows[row].help}>${label_of(String(rows[row].metric))}</span>` },
    { key: "value", label: "Value", kind: "count", cell: (row) =>
      write_value(rows[row].value, rows[row].unit) },
    { key: "help", label: "Description", className: "wrap faint", priority: 2 },
  ]} />`;
}

const OF_RUN = ["summary", "breakdown", "steps", "step_stats", "kernels", "collectives",
  "classes", "findings", "trust", "environment", "ranks", "parts", "short_kernels", "launches",
  "comm_waits", "lateness", "rank_steps", "clocks", "efficiency", "strategy", "pipeline",
  "figures", "rank_ranges", "roles", "role_steps"];
const DETAILS = ["operators", "op_shapes", "op_tree", "modules", "ranges", "categories",
  "uncategorized", "kernel_shapes", "phases", "roofline", "utilization", "idle_causes",
  "idle_gaps", "stream_idle", "queues", "launch_delays", "memory", "memory_timeline",
  "memory_peak", "copies", "process_groups", "comm_sizes", "recording", "counters",
  "counter_steps", "counter_series", "critical_path", "ready_changes", "devices",
  "busy_series"];
const TREES = ["op_tree", "modules", "ranges"];
// Tables of files other than traces.
const OF_FILES = ["logs", "log_steps", "log_curve", "log_events", "log_slow_steps", "host_phases",
  "job_settings",
  "monitors", "monitor_series", "rank_monitors", "rank_monitor_series", "link_curves",
  "link_tests", "link_topology", "link_ports", "link_records",
  "link_communicators", "kernel_profiles"];

const FORMATS = [["csv", "CSV"], ["json", "JSON"], ["arrow", "Arrow"], ["parquet", "Parquet"],
  ...(has_server ? [["xlsx", "XLSX"]] : [])];
const FLAME_GRAPHS = [["speedscope", "speedscope"], ["pprof", "pprof"]];

/** Sizes of every table in the chosen format, and of trees as flame graphs: by format and name. */
function use_table_sizes(run, rank, chosen) {
  const sizes_in = (format) => use_api(has_server
    ? address(run_api(run, "tables/sizes"), { rank, format }) : null).data;
  const answers = [sizes_in(chosen), ...FLAME_GRAPHS.map(([format]) => sizes_in(format))];
  return new Map(answers.filter(Boolean).flatMap(({ format, tables }) =>
    tables.map((size) => [`${format} ${size.table}`, size])));
}

/** A table in the chosen format; trees are flame graphs, too. */
function TableLinks({ run, rank, name, chosen, sizes }) {
  const of_rank = DETAILS.includes(name) ? rank : "";
  const href = (format) =>
    api_href(address(run_api(run, name), { rank: of_rank, format, limit: "all" }));
  const formats = [FORMATS.find(([key]) => key === chosen),
    ...(TREES.includes(name) ? FLAME_GRAPHS : [])];
  const links = name === "summary" ? [["JSON", api_href(run_api(run, name))]]
    : formats.map(([key, label]) => [label, href(key), size_text(sizes.get(`${key} ${name}`))]);
  return html`<li><span>${name.replaceAll("_", " ")}</span><${ExportLinks} links=${links} /></li>`;
}

const ALL_RANKS = { ranks: "all" };

function WholeRun({ run, analyzed }) {
  const events = use_event_links(run, ALL_RANKS, analyzed ? ALL_RANKS : null);
  return html`<p class="whole-run">${analyzed && html`<span>The whole run, all ranks on one
      clock:</span><${ExportLinks} links=${events} />`}
    <span>All tables:</span><${ExportLinks} links=${[["XLSX",
      api_href(run_api(run, "workbook"))]]} /></p>`;
}

function Downloads({ run, rank, evidence, analyzed }) {
  const [chosen, set_chosen] = useState("csv");
  const sizes = use_table_sizes(run, rank, chosen);
  const names = [...analyzed ? [...OF_RUN, ...DETAILS] : ["figures", "trust"],
    ...evidence > 0 ? OF_FILES : []];
  const example = analyzed ? "kernels" : evidence > 0 ? "logs" : "trust";
  const line = `pandas.read_csv("${location.origin}${
    api_href(run_api(run, example))}?format=csv"${use_session().required
    ? ', storage_options={"Authorization": "Bearer TOKEN"}' : ""})`;
  return html`<${Card} title="Downloads" note="every table of this run" actions=${html`<${Segments}
      label="Format" value=${chosen} options=${FORMATS} onchange=${set_chosen} />`}>
    ${has_server && html`<${WholeRun} run=${run} analyzed=${analyzed} />`}
    <ul class="downloads">${names.map((name) => html`<${TableLinks} key=${name} run=${run}
      rank=${rank} name=${name} chosen=${chosen} sizes=${sizes} />`)}</ul>
    ${has_server && html`<p class="notebook">In a notebook: <code>${line}</code>
      <${CopyButton} text=${line} /></p>`}<//>`;
}

/** What only traces have is left out of a run that has none. */
function Basis({ run, full, summary, rank }) {
  const traces = full.traces ?? [];
  const traced = traces.length > 0 || full.evidence === 0;
  return html`${traced && html`<${Files} run=${run} traces=${traces} />`}
    <${Inputs} run=${run} id=${full.id} />
    <div class=${summary ? "columns-2" : ""}><${Environment} run=${run} meta=${full.meta}
      traced=${traced} />${summary && html`<${Launches} run=${run}
      rank=${rank || summary.headline_rank} />`}</div>`;
}

export default function Data({ route }) {
  const own = use_api(run_api(route.run), (run) =>
    run && (run.status === "running" || run.status === "pending") ? BUSY_POLL_MS : null);
  const [rank, set_rank] = use_rank();
  return html`<${RunFrame} route=${route} title="Data">${(data, run) => html`
    <${Quality} run=${run} analyzed=${data.summary !== null}
      traced=${data.run.received > 0 || data.run.evidence === 0} />
    ${data.summary && html`<${OfRank} run=${run} summary=${data.summary} rank=${rank}
      onchange=${set_rank} what="Recording and launch links"><${RecordedCard} run=${run}
        rank=${rank} /><//>`}
    <${Loaded} resource=${own}>${(full) => html`
      <${Basis} run=${run} full=${full} summary=${data.summary} rank=${rank} />
      <${Downloads} run=${run} rank=${rank} evidence=${full.evidence}
        analyzed=${data.summary !== null} />
      <${EditRun} key=${stored_of(full)} run=${full} etag=${own.etag} />
      ${has_server && full.traces?.length > 0 && html`<p class="footnote">${
        bytes(full.traces.reduce((sum, t) => sum + (t.bytes ?? 0), 0))}
        ${" "}in ${plural(full.traces.length, "file")}, kept on this server only.</p>`}`}
    <//>`}
  <//>`;
}
