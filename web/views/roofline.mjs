// SPDX-License-Identifier: Apache-2.0
// Work against what the device could do: the roofline, utilization, and what each shape loses.
import { html, useMemo } from "../ui.mjs";
import { use_query } from "../router.mjs";
import { ms, plural } from "../format.mjs";
import { frame_of, rows_of, sum_rows, value_at, value_counts } from "../frame.mjs";
import { Roofline } from "../charts/roofline.mjs";
import { mark_of, roofline_points } from "../charts/roofline_model.mjs";
import { Card, ExportLinks, Loaded } from "../widgets.mjs";
import { Lacks } from "./lacks.mjs";
import { MetricFigures } from "./metric_figures.mjs";
import { rank_table_links, RankPick, use_rank, use_rank_table } from "./rank_data.mjs";
import { RankTable } from "./rank_table.mjs";
import { RunFrame } from "./run_frame.mjs";

const LEADING = ["mfu", "hfu", "tokens_per_second", "achieved_tflops", "gemm_efficiency",
  "roofline_efficiency"];

const VIEW = {
  caption: "Work",
  sort: "-lost_ns",
  search: ["op", "problem", "kind", "precision", "module", "kernel"],
  opens: true,
  swatch: (frame, row) => `bar-${mark_of(value_at(frame, "kind", row)).part}`,
  foot: (frame, rows) => `${rows.length < frame.length ? `${rows.length} of ` : ""}${
    plural(frame.length, "row")} · ${ms(sum_rows(frame, "busy_ns", rows))} ms measured, ${
    ms(sum_rows(frame, "lost_ns", rows))} ms above the roofline`,
  columns: [
    { key: "op", label: "Operator", width_px: 210 },
    { key: "problem", label: "Problem", className: "mono clip", width_px: 250 },
    { key: "precision", label: "Precision", priority: 2, width_px: 84 },
    { key: "calls", label: "Calls", priority: 2 },
    { key: "busy_ns", label: "Time" },
    { key: "lost_ns", label: "Lost" },
    { key: "efficiency", label: "Efficiency", width_px: 92 },
    { key: "bound", label: "Bound", width_px: 84 },
    { key: "tflops", label: "Speed", priority: 2, width_px: 110 },
    { key: "tbps", label: "Traffic", priority: 2, width_px: 100 },
    { key: "intensity", label: "Intensity", priority: 3, width_px: 116 },
    { key: "median_ns", label: "p50", priority: 3 },
  ],
};

function KindPick({ frame, kind, onchange }) {
  const kinds = useMemo(() => value_counts(frame, "kind"), [frame]);
  return html`<label class="pick"><span>Kind</span><select value=${kind}
      onChange=${(event) => onchange(event.target.value)}><option value="">all</option>
    ${kinds.map(([name, n]) => html`<option key=${name} value=${name}>${
      name.replaceAll("_", " ")} (${n})</option>`)}</select></label>`;
}

function caption_of(rows) {
  const { points } = roofline_points(rows);
  const lost = rows.reduce((sum, row) => sum + (row.lost_ns ?? 0), 0);
  const busy = rows.reduce((sum, row) => sum + (row.busy_ns ?? 0), 0);
  return `${plural(points.length, "shape")}: ${ms(busy)} ms measured, of which ${
    ms(lost)} ms lie above the roofline`;
}

function Work({ reply, run, rank }) {
  const [{ kind }, change] = use_query({ kind: "" });
  const frame = useMemo(() => frame_of(reply), [reply]);
  const rows = useMemo(() => rows_of(frame), [frame]);
  const drawn = useMemo(() => (kind ? rows.filter((row) => row.kind === kind) : rows),
    [rows, kind]);
  const view = useMemo(() => ({
    ...VIEW,
    keep: kind ? (all, row) => value_at(all, "kind", row) === kind : undefined,
    extra: html`<${KindPick} frame=${frame} kind=${kind}
      onchange=${(next) => change({ kind: next })} />`,
  }), [frame, kind]);
  if (frame.length === 0) {
    return html`<${Card} title="Roofline"><${Lacks} run=${run} rank=${rank} items=${["shapes"]}
      title="No operator with known work was recorded" /><//>`;
  }
  const no_point = roofline_points(drawn).points.length === 0;
  return html`${no_point ? html`<${Card} title="Roofline"><p class="empty-line">None of these
      operators has both its operations and its bytes known.</p><//>`
    : html`<${Card} title="Roofline"><${Roofline} rows=${drawn} caption=${caption_of(drawn)} />
      <//>`}
    <${Card} title="Work by operator and shape" flush=${true}
      note="lost: measured time above what the roofline allows"
      actions=${html`<${ExportLinks} links=${rank_table_links(run, "work", rank)} />`}>
      <${RankTable} frame=${frame} view=${view} /><//>`;
}

function Content({ run, rank }) {
  const resource = use_rank_table(run, "work", rank);
  return html`<${MetricFigures} run=${run} rank=${rank} wanted=${LEADING} />
    <${Loaded} resource=${resource}>${(reply) => html`<${Work} reply=${reply} run=${run}
      rank=${rank} />`}<//>`;
}

export default function RooflinePage({ route }) {
  const [rank, set_rank] = use_rank();
  return html`<${RunFrame} route=${route} title="Roofline">${(data, run) => html`
    <${RankPick} run=${run} summary=${data.summary} rank=${rank} onchange=${set_rank} />
    <${Content} run=${run} rank=${rank} />`}<//>`;
}
