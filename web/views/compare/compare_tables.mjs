// SPDX-License-Identifier: Apache-2.0
// Communication, ranks, memory and findings of two sides, each as a table of pairs.
import { html, useMemo } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { bytes, capital, count, ms, number, typeset } from "../../base/format.mjs";
import { frame_of, row_at, sort_rows } from "../../base/frame.mjs";
import { Delta, DeltaCell, tone_of } from "../../charts/delta.mjs";
import { Card, ExportLinks, Loaded } from "../../widgets/widgets.mjs";
import { Table } from "../../widgets/table.mjs";
import { calls_label } from "../run/lead_model.mjs";
import { use_compare_table } from "./compare_data.mjs";
import { counted_states, group_text, pair_text, rank_statistics, rank_text, ranked_findings,
  shown_ranks, with_size } from "./pair_model.mjs";

const all_rows = (frame) => Array.from({ length: frame.length }, (_, i) => i);

/** A card with one of the comparison's tables; its sort order is in the address. */
function PairCard({ title, table, query, note, sort, prepare, columns, empty, head, floor_ns,
  whole }) {
  const key = `${table}_sort`;
  const [view, change] = use_query({ [key]: sort });
  const { resource, rows, links, frame: raw } = use_compare_table(query, table);
  const frame = useMemo(() => ({ ...frame_of(prepare ? prepare(rows) : rows), help: raw.help }),
    [rows, raw]);
  const order = useMemo(() => sort_rows(frame, all_rows(frame), view[key]), [frame, view[key]]);
  return html`<${Card} title=${title} flush=${true} note=${note}
      actions=${html`<${ExportLinks} links=${links} />`}>
    <${Loaded} resource=${resource}>${() => html`${head?.(rows)}<${Table} caption=${title}
      frame=${frame} rows=${order} columns=${columns(frame, floor_ns, whole)} sort=${view[key]}
      onsort=${(next) => change({ [key]: next })}
      empty=${html`<p class="empty-line">${empty}</p>`} />`}<//><//>`;
}

const largest = (frame, key) => Math.max(0, ...(frame.columns[key] ?? []).map(Math.abs));

function comm_columns(frame, floor_ns, whole) {
  const at = (row) => row_at(frame, row);
  const scale_ns = largest(frame, "delta_exposed_ns");
  const pair = (key, write) => (row) => pair_text(at(row)[`base_${key}`], at(row)[`cand_${key}`],
    write);
  return [
    { key: "kind", label: "Collective", width_px: 150, cell: (row) => at(row).kind ?? "unnamed" },
    { key: "group_size", label: "Group", width_px: 130, cell: (row) => group_text(at(row)) },
    { key: "dtype", label: "Type", priority: 4 },
    { key: "size_class", label: "Size", priority: 2, sort: false },
    { key: "base_calls", label: calls_label(whole), kind: "number", priority: 3, width_px: 130,
      cell: pair("calls", count) },
    { key: "base_ns", label: "Total", kind: "ms", priority: 4, width_px: 150,
      cell: pair("ns", ms) },
    { key: "base_exposed_ns", label: "Exposed", kind: "ms", width_px: 150, priority: 2,
      cell: pair("exposed_ns", ms) },
    { key: "base_bus_gbps", label: "Bus", kind: "number", unit: "GB/s", priority: 4,
      width_px: 150, cell: pair("bus_gbps", number) },
    { key: "size_ns", label: "Exposed, difference", kind: "ms", width_px: 230, cell: (row) =>
      html`<${DeltaCell} ns=${at(row).delta_exposed_ns ?? 0} scale_ns=${scale_ns}
        floor_ns=${floor_ns} />` },
  ];
}

/** @param {{query: any, floor_ns: number, whole: boolean}} props with the chosen candidate only */
export const Communication = ({ query, floor_ns, whole }) => html`<${PairCard}
  title="Communication" table="collectives" query=${query} sort="-size_ns" columns=${comm_columns}
  floor_ns=${floor_ns} whole=${whole}
  note="of each run's typical rank; exposed is not hidden by compute"
  prepare=${(rows) => rows.map((row) => with_size(row, row.delta_exposed_ns))}
  empty="Neither side communicated." />`;

function rank_columns(frame, floor_ns) {
  const at = (row) => row_at(frame, row);
  const scale_ns = largest(frame, "delta_ns");
  const late = (row) => pair_text(at(row).base_lateness_ns, at(row).cand_lateness_ns, ms);
  return [
    { key: "rank", label: "Rank", width_px: 110, cell: (row) => rank_text(at(row)) },
    { key: "base_step_ns", label: "Base", kind: "ms" },
    { key: "cand_step_ns", label: "Candidate", kind: "ms" },
    { key: "base_lateness_ns", label: "Keeps others waiting", kind: "ms", priority: 2,
      width_px: 180, cell: late },
    { key: "size_ns", label: "Difference", kind: "ms", width_px: 230, cell: (row) =>
      html`<${DeltaCell} ns=${at(row).delta_ns ?? 0} scale_ns=${scale_ns}
        floor_ns=${floor_ns} />` },
  ];
}

const RankStatistics = (rows) => {
  const statistics = rank_statistics(rows);
  return statistics && html`<p class="card-line">${statistics}</p>`;
};

/** @param {{query: any, floor_ns: number, whole: boolean}} props */
export const Ranks = ({ query, floor_ns, whole }) => html`<${PairCard} title="Ranks" table="ranks"
  query=${query} sort="-size_ns" columns=${rank_columns} floor_ns=${floor_ns}
  note=${whole ? "all that each rank recorded" : "median steady step of each rank"}
  head=${RankStatistics}
  prepare=${(rows) => shown_ranks(rows).map((row) => with_size(row, row.delta_ns))}
  empty="No ranks to compare." />`;

/** More memory is worse only near the capacity; it is still colored as a change. */
function BytesDelta({ value }) {
  if (value === null || value === undefined) return html`<span class="faint">–</span>`;
  if (value === 0) return "0";
  return html`<span class="delta ${tone_of(value)}"><span aria-hidden="true">${
    value > 0 ? "▲" : "▼"} </span>${bytes(Math.abs(value))}<span class="visually-hidden"> ${
    value > 0 ? "more" : "less"}</span></span>`;
}

function memory_columns(frame) {
  const at = (row) => row_at(frame, row);
  const pair = (of) => (row) =>
    pair_text(at(row)[`base_${of}_bytes`], at(row)[`cand_${of}_bytes`], bytes);
  const delta = (key) => (row) => html`<${BytesDelta} value=${at(row)[key]} />`;
  return [
    { key: "device", label: "Device" },
    { key: "cand_allocated_bytes", label: "Allocated", kind: "bytes", cell: pair("allocated") },
    { key: "delta_allocated_bytes", label: "Difference", kind: "bytes",
      cell: delta("delta_allocated_bytes") },
    { key: "cand_reserved_bytes", label: "Reserved", kind: "bytes", priority: 2,
      cell: pair("reserved") },
    { key: "delta_reserved_bytes", label: "Difference", kind: "bytes", priority: 2,
      cell: delta("delta_reserved_bytes") },
  ];
}

/** @param {{query: any}} props */
export const Memory = ({ query }) => html`<${PairCard} title="Memory" table="memory"
  query=${query} sort="-cand_allocated_bytes" columns=${memory_columns}
  note="peaks; lower leaves room for a larger batch"
  empty="Neither side has recorded memory: PyTorch’s profiler needs profile_memory=True." />`;

function finding_columns(frame) {
  const at = (row) => row_at(frame, row);
  return [
    { key: "order", label: "Finding", className: "wrap", width_px: 560, cell: (row) => html`<span
      class="chip chip-state chip-${at(row).state}">${at(row).state}</span> ${
      capital(typeset(at(row).title))}` },
    { key: "base_cost_ns", label: "Base, up to", kind: "ms", priority: 2 },
    { key: "cand_cost_ns", label: "Candidate, up to", kind: "ms", priority: 2 },
    { key: "size_ns", label: "Difference", kind: "ms",
      cell: (row) => html`<${Delta} ns=${at(row).delta_cost_ns ?? 0} />` },
  ];
}

const StateCounts = (rows) => rows.length > 0 && html`<p class="card-line">${
  counted_states(rows).map(([state, n]) => `${count(n)} ${state}`).join(" · ")}</p>`;

/** @param {{query: any}} props */
export const Findings = ({ query }) => html`<${PairCard} title="Findings" table="findings"
  query=${query} sort="order" columns=${finding_columns} prepare=${ranked_findings}
  head=${StateCounts} note="fixed and introduced by the candidate"
  empty="No rule found anything on either side." />`;
