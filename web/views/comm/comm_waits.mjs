// SPDX-License-Identifier: Apache-2.0
// Collectives over all their ranks: how fast they are, how long they wait, how much is exposed.
import { html, useMemo } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { bytes, number, percent, plural } from "../../base/format.mjs";
import { row_at, value_at, value_counts } from "../../base/frame.mjs";
import { Scatter } from "../../charts/scatter.mjs";
import { WaitBar } from "../../charts/wait_bar.mjs";
import { Card, ExportLinks } from "../../widgets/widgets.mjs";
import { chosen_rows, waits_per_step } from "./comm_model.mjs";
import { LEAST_BYTES } from "./link_model.mjs";
import { calls_label } from "../run/lead_model.mjs";
import { RankTable } from "../run/rank_table.mjs";

const PICKS = [
  ["dimension", "Dimension", "dim"],
  ["process_group", "Process group", "group"],
  ["kind", "Collective", "kind"],
];
const NO_FILTER = { dim: "", group: "", kind: "" };

function Pick({ frame, column, label, value, onchange }) {
  const counts = value_counts(frame, column);
  return html`<label class="pick"><span>${label}</span><select value=${value}
      onChange=${(event) => onchange(event.target.value)}>
    <option value="">all</option>
    ${counts.map(([one]) => html`<option key=${one} value=${one}>${one}</option>`)}
  </select></label>`;
}

function Picks({ frame, query, change, shown }) {
  const is_filtered = Object.keys(NO_FILTER).some((key) => query[key] !== "");
  const offered = PICKS.filter(([column, , key]) =>
    query[key] !== "" || value_counts(frame, column).length > 1);
  if (offered.length === 0) return null;
  return html`<div class="filter-bar">${offered.map(([column, label, key]) => html`<${Pick}
      key=${key} frame=${frame} column=${column} label=${label} value=${query[key]}
      onchange=${(value) => change({ [key]: value })} />`)}
    ${is_filtered && html`<span class="faint" role="status">${plural(shown, "row")} of ${
      frame.length}</span><button type="button" class="link"
      onClick=${() => change(NO_FILTER)}>Show all</button>`}</div>`;
}

/** The share of what tests of the links reached, and why there is none. */
export function tested_column(frame) {
  const at = (key, row) => value_at(frame, key, row);
  const title = (row) => (at("reference_gbps", row) === null ? at("reference_basis", row)
    : `${number(at("reference_gbps", row))} GB/s in ${at("reference_basis", row)}`);
  return { key: "reference_share", label: "Of tested", kind: "share", sparse: true, priority: 2,
    width_px: 96, cell: (row) => html`<span title=${title(row)}>${
      percent(at("reference_share", row))}</span>` };
}

/** What a mean of the table is of. */
const per_rank = (whole) => `${whole ? "per" : "per step and"} recorded rank`;

const RANKS_HELP = " of the group; of all groups, where the recording names none";

function columns_of(frame, whole) {
  const at = (key, row) => value_at(frame, key, row);
  const widest = Math.max(...frame.columns.exposed_per_rank_ns, 1);
  const per = per_rank(whole) + RANKS_HELP;
  return [
    { key: "kind", label: "Collective", width_px: 128 },
    { key: "bytes", label: "Size", width_px: 84 },
    { key: "dimension", label: "Dimension", priority: 3, width_px: 92 },
    { key: "process_group", label: "Process group", className: "clip short", priority: 4,
      width_px: 110 },
    { key: "ranks", label: "Ranks", kind: "text", className: "clip short", priority: 5,
      width_px: 106 },
    { key: "group_size", label: "Group", priority: 3, width_px: 66 },
    { key: "span", label: "Span", priority: 5, width_px: 96 },
    { key: "calls_per_step", label: whole ? "Calls" : "Calls/step",
      kind: whole ? "count" : "number", priority: 3 },
    { key: "exposed_per_rank_ns", label: "Exposed", kind: "ms", className: "wait-column num",
      width_px: 190, help: `Exposed communication ${per}: waiting (hatched) and transfer.`,
      cell: (row) => html`<${WaitBar}
        wait_ns=${at("exposed_wait_per_rank_ns", row)}
        transfer_ns=${at("exposed_transfer_per_rank_ns", row)} scale_ns=${widest} />` },
    { key: "wait_per_rank_ns", label: "Wait", kind: "ms", priority: 2,
      help: `Waiting ${per}, hidden or not.` },
    { key: "transfer_per_rank_ns", label: "Transfer", kind: "ms", priority: 2, width_px: 104,
      help: `Transfer ${per}, hidden or not.` },
    { key: "skew_p95_ns", label: "Skew p95", priority: 2, width_px: 108 },
    { key: "bus_gbps", label: "Bus", priority: 2 },
    tested_column(frame),
    { key: "latest_rank", label: "Last rank", kind: "text", priority: 4,
      help: "The rank that most often starts last, and how often.", cell: (row) =>
        (at("latest_rank", row) === null ? "–" : html`${at("latest_rank", row)}${" "}<span
          class="faint">${percent(at("latest_share", row))}</span>`) },
  ];
}

// A row's detail shows sums and means side by side.
const labels_of = (whole) => ({
  total_ns: "Sum of times",
  wait_ns: "Sum of waits",
  transfer_ns: "Sum of transfers",
  exposed_wait_ns: "Sum of exposed waits",
  exposed_transfer_ns: "Sum of exposed transfers",
  wait_per_rank_ns: `Wait ${per_rank(whole)}`,
  transfer_per_rank_ns: `Transfer ${per_rank(whole)}`,
  exposed_per_rank_ns: `Exposed ${per_rank(whole)}`,
  exposed_wait_per_rank_ns: `Exposed wait ${per_rank(whole)}`,
  exposed_transfer_per_rank_ns: `Exposed transfer ${per_rank(whole)}`,
  calls_per_step: calls_label(whole),
  algo_gbps: "Algorithm bandwidth",
  bus_gbps: "Bus bandwidth",
  latest_share: "Last rank's share",
  reference_gbps: "Tested bus bandwidth",
  reference_share: "Of tested",
  reference_basis: "Tested by",
});

const VIEW = {
  id: "waits",
  caption: "Collectives over all ranks",
  sort: "-exposed_per_rank_ns",
  opens: true,
  prose: true,
  limit: 200,
  short: (name) => (name === "–" ? "not described" : name),
};

/** Message size against bus bandwidth for rows that have both. */
export function Bandwidths({ points, note, actions }) {
  if (points.length === 0) return null;
  const best = points.reduce((a, b) => (b.bus_gbps > a.bus_gbps ? b : a));
  const caption = `Best bus bandwidth ${best.bus_gbps.toFixed(1)} GB/s, ${best.name} of ${
    bytes(best.bytes)}${note}; messages below ${bytes(LEAST_BYTES)} are not drawn`;
  return html`<${Card} title="Message size and bus bandwidth">${actions}
    <${Scatter} rows=${points} caption=${caption} /><//>`;
}

/** @param {any[]} rows @param {(row: any) => any} more fields of the chart */
export const bandwidth_points = (rows, more) => rows
  .filter((row) => row.bytes >= LEAST_BYTES && row.bus_gbps > 0)
  .map((row) => ({ ...row, ...more(row) }));

const of_group = ({ process_group, dimension }) =>
  [dimension, process_group].filter(Boolean).join(" ");

/**
 * @param {{frame: import("../../base/frame.mjs").Frame, steps: number, ranks: number[],
 *          whole: boolean, links: any}} props the table comm_waits; `ranks` are those recorded
 */
export function CommWaits({ frame, steps, ranks, whole, links }) {
  const [query, change] = use_query(NO_FILTER);
  const own = useMemo(() => waits_per_step(frame, steps, ranks), [frame, steps, ranks]);
  const rows = useMemo(() => chosen_rows(own, { dimension: query.dim,
    process_group: query.group, kind: query.kind }), [own, query.dim, query.group, query.kind]);
  const points = useMemo(() => bandwidth_points(rows.map((row) => row_at(own, row)), (row) =>
    ({ name: row.kind ?? "not described", median_ns: row.transfer_median_ns,
      where: of_group(row) })), [own, rows]);
  const shown = useMemo(() => new Set(rows), [rows]);
  const view = useMemo(() => ({ ...VIEW, labels: labels_of(whole),
    columns: columns_of(own, whole), keep: (_, row) => shown.has(row) }), [own, shown, whole]);
  const picks = html`<${Picks} frame=${own} query=${query} change=${change}
    shown=${rows.length} />`;
  const has_points = points.length > 0;
  return html`<${Bandwidths} points=${points} actions=${picks}
      note=", by the median transfer without waiting" />
    <${Card} title="Collectives over all ranks" flush=${true}
        note="means ${per_rank(whole)}" actions=${html`<${ExportLinks}
          links=${links} />`}>${!has_points && picks}
      <${RankTable} frame=${own} view=${view} />
      <ul class="legend"><li><span class="swatch bar-exposed_wait"></span>Exposed wait</li>
        <li><span class="swatch bar-exposed_transfer"></span>Exposed transfer</li></ul><//>`;
}

