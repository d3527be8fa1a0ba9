// SPDX-License-Identifier: Apache-2.0
// Memory: over time, what held it at the peak, whether it leaks; and copies.
import { html, useMemo } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { bytes, count, percent, sentence, time_text } from "../../base/format.mjs";
import { value_and_unit } from "../../base/values.mjs";
import { frame_of, rows_of, sum_rows, value_at } from "../../base/frame.mjs";
import { MemoryLine } from "../../charts/memory_line.mjs";
import { points_of } from "../../charts/memory_model.mjs";
import { ShareBar } from "../../charts/share_bar.mjs";
import { Card, ExportLinks, Figure, Lead, Loaded } from "../../widgets/widgets.mjs";
import { Counters } from "./counters.mjs";
import { Snapshots } from "./snapshots.mjs";
import { Lacks } from "../run/lacks.mjs";
import { leak_verdict } from "./leak_model.mjs";
import { fullest_device } from "./memory_model.mjs";
import { use_range } from "../run/range_line.mjs";
import { rank_table_links, use_rank_table } from "../run/rank_data.mjs";
import { RankPage } from "../run/rank_page.mjs";
import { RankTable, RankTableCard } from "../run/rank_table.mjs";

/** The key figure of one column in bytes. */
function BytesFigure({ row, name, label, help, children }) {
  const [value, unit] = value_and_unit(row[name], "bytes");
  return html`<${Figure} label=${label} help=${help[name]} value=${value} unit=${unit}>${
    children}<//>`;
}

function Figures({ row, help }) {
  const verdict = leak_verdict(row);
  return html`<dl class="kpis">
    <${BytesFigure} label="Peak allocated" name="peak_allocated_bytes" row=${row} help=${help}>${
      row.capacity_bytes > 0
        ? `${percent(row.peak_allocated_bytes / row.capacity_bytes)} of ${
          bytes(row.capacity_bytes)}`
        : "capacity not recorded"}<//>
    <${BytesFigure} label="Peak reserved" name="peak_reserved_bytes" row=${row} help=${help}>${
      row.capacity_bytes > 0 && row.peak_reserved_bytes !== null
        && `${percent(row.peak_reserved_bytes / row.capacity_bytes)} of ${
          bytes(row.capacity_bytes)}`}<//>
    <${BytesFigure} label="Fragmentation at the peak" name="fragmentation_bytes" row=${row}
      help=${help}>${row.fragmentation_share !== null
        && `${percent(row.fragmentation_share)} of reserved`}<//>
    <${Figure} label="Leak" help=${help.leak_bytes_per_step} value=${verdict.word}
      tone=${verdict.tone}>${verdict.text}<//>
  </dl>`;
}

function peak_text(row) {
  const at = row.peak_ns === null ? "" : ` at ${time_text(row.peak_ns, 4)}`;
  const step = row.peak_step === null ? "" : `, step ${row.peak_step}`;
  const by = row.peak_op ? `, allocated by ${row.peak_op}` : "";
  const module = row.peak_module ? ` in ${row.peak_module}` : "";
  return `Most allocated: ${bytes(row.peak_allocated_bytes)}${at}${step}${by}${module}`;
}

function Timeline({ run, rank, row, pick }) {
  const resource = use_rank_table(run, "memory_timeline", rank);
  const points = useMemo(() => (resource.data
    ? points_of(rows_of(frame_of(resource.data)), row.device) : []), [resource.data, row.device]);
  const label = row.peak_op ? `peak ${bytes(row.peak_allocated_bytes)}, ${row.peak_op}`
    : `peak ${bytes(row.peak_allocated_bytes)}`;
  return html`<${Loaded} resource=${resource}>${() => (points.length === 0
    ? html`<p class="empty-line">No allocation was recorded.</p>`
    : html`<${MemoryLine} points=${points} capacity_bytes=${row.capacity_bytes}
        peak_label=${label} caption=${peak_text(row)} actions=${pick} />`)}<//>`;
}

function allocated_by(row, frame) {
  const op = value_at(frame, "op", row);
  return op ? html`<span class="mono">${op}</span>` : "before the recording";
}

const PEAK = {
  id: "peak",
  caption: "Alive at the peak",
  sort: "-bytes",
  search: ["op", "module"],
  limit: 20,
  foot: (frame, rows) => `${bytes(sum_rows(frame, "bytes", rows))} in ${
    count(sum_rows(frame, "allocations", rows))} allocations, ${
    percent(sum_rows(frame, "peak_share", rows))} of the peak`,
  columns: [
    { key: "op", label: "Allocated by", width_px: 260, cell: allocated_by },
    { key: "module", label: "Module", className: "mono clip", width_px: 260, priority: 2 },
    { key: "allocations", label: "Allocations", width_px: 100, priority: 3 },
    { key: "bytes", label: "Size" },
    { key: "peak_share", label: "Share of peak", kind: "text", className: "share-column",
      width_px: 200, cell: (row, frame) =>
        html`<${ShareBar} share=${value_at(frame, "peak_share", row)} />` },
  ],
};

function Peak({ run, rank, device }) {
  const resource = use_rank_table(run, "memory_peak", rank);
  const frame = useMemo(() => frame_of(resource.data), [resource.data]);
  const view = useMemo(() => ({ ...PEAK,
    keep: (all, row) => value_at(all, "device", row) === device }), [device]);
  return html`<${Card} title="Alive at the peak" flush=${true}
      note="by the operator that allocated it; the rows sum to the peak"
      actions=${html`<${ExportLinks} links=${rank_table_links(run, "memory_peak", rank)} />`}>
    <${Loaded} resource=${resource}>${() => html`<${RankTable} frame=${frame} view=${view} />`}<//>
  <//>`;
}

const COPIES = {
  id: "copies",
  caption: "Copies",
  sort: "-total_ns",
  opens: true,
  prose: true,
  empty: html`<p class="empty-line">No copies or memsets were recorded.</p>`,
  columns: [
    { key: "direction", label: "Direction" },
    { key: "host_memory", label: "Host memory", priority: 3 },
    { key: "blocking", label: "Blocking", kind: "flag", priority: 2 },
    { key: "calls", label: "Calls", priority: 2 },
    { key: "bytes", label: "Size" },
    { key: "total_ns", label: "Total" },
    { key: "exposed_ns", label: "Exposed" },
    { key: "gbps", label: "Speed", priority: 2 },
    { key: "median_ns", label: "p50", priority: 2 },
    { key: "p95_ns", label: "p95", priority: 4 },
    { key: "max_ns", label: "Max", priority: 4 },
    { key: "host_ns", label: "Host", priority: 2 },
  ],
};

const OF_RANGE = {
  id: "range_memory",
  caption: "Memory within the range",
  sort: "-peak_allocated_bytes",
  opens: true,
  empty: html`<p class="empty-line">No allocation was recorded within the range.</p>`,
  columns: [
    { key: "device", label: "Device", className: "mono" },
    { key: "events", label: "Allocations and releases", priority: 2 },
    { key: "begin_bytes", label: "Before the first" },
    { key: "peak_allocated_bytes", label: "Peak" },
    { key: "end_bytes", label: "After the last" },
    { key: "peak_reserved_bytes", label: "Reserved", priority: 2 },
    { key: "peak_op", label: "Peak allocated by", className: "mono clip", priority: 3 },
    { key: "peak_step", label: "Step", priority: 4 },
  ],
};

function DevicePick({ rows, device, onchange }) {
  if (rows.length < 2) return null;
  return html`<label class="pick"><span>Device</span><select value=${device}
    onChange=${(event) => onchange(event.target.value)}>${rows.map((row) => html`<option
    key=${row.device} value=${row.device}>${row.device}</option>`)}</select></label>`;
}

function Memory({ reply, run, rank }) {
  const [query, change] = use_query({ device: "" });
  const frame = useMemo(() => frame_of(reply), [reply]);
  const rows = useMemo(() => rows_of(frame).filter((row) => row.events > 0), [frame]);
  if (rows.length === 0) {
    return html`<${Card} title="Memory"><${Lacks} run=${run} rank=${rank} items=${["memory"]}
      title="Allocations were not recorded" /><//>`;
  }
  const row = rows.find(({ device }) => device === query.device) ?? fullest_device(rows)
    ?? rows[0];
  const pick = html`<${DevicePick} rows=${rows} device=${row.device}
    onchange=${(device) => change({ device })} />`;
  const noted = row.leak === null; // the verdict on the leak includes the note
  return html`<${Figures} row=${row} help=${frame.help} />
    <${Card} title="Memory over time" note=${rows.length > 1 ? row.device : ""}>
      <${Timeline} run=${run} rank=${rank} row=${row} pick=${pick} />
      ${row.note && !noted && html`<p class="readout">${sentence(row.note)}</p>`}<//>
    <${Peak} run=${run} rank=${rank} device=${row.device} />`;
}

function Content({ run, rank }) {
  const resource = use_rank_table(run, "memory", rank);
  const [range] = use_range();
  return html`${range !== "" && html`<${RankTableCard} run=${run} rank=${rank} name="memory"
      title="Allocations" view=${OF_RANGE} />`}
    <${Loaded} resource=${resource}>${(reply) => html`<${Memory} reply=${reply}
      run=${run} rank=${rank} />`}<//>
    <${Snapshots} run=${run} rank=${rank} />
    <${RankTableCard} run=${run} rank=${rank} name="copies" title="Copies"
      note="by direction and kind of host memory" view=${COPIES} />
    <${Counters} run=${run} rank=${rank} />`;
}

/** "Tensors hold up to 2.71 GB, 3.2 % of the GPU's 85.0 GB." */
function Most({ run, rank }) {
  const { data } = use_rank_table(run, "memory", rank);
  const row = data && fullest_device(rows_of(frame_of(data)).filter(({ events }) => events > 0));
  if (!row) return null;
  return html`<${Lead} text="Tensors hold up to ${bytes(row.peak_allocated_bytes)}${
    row.capacity_bytes > 0 ? `, ${percent(row.peak_allocated_bytes / row.capacity_bytes)
    } of the GPU's ${bytes(row.capacity_bytes)}` : ""}." />`;
}

export default function MemoryPage({ route }) {
  return html`<${RankPage} route=${route} title="Memory" needs_device=${false}
    lead=${(run, rank) => html`<${Most} run=${run} rank=${rank} />`}
    by_range="Filters the allocations and the copies, and nothing else on this page."
    untraced=${(run) => html`<${Snapshots} run=${run} alone=${true} />`}>${(run, rank) =>
    html`<${Content} run=${run} rank=${rank} />`}<//>`;
}
