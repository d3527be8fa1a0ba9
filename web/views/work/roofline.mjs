// SPDX-License-Identifier: Apache-2.0
// Work against the device's limits: the roofline, utilization, and what each shape loses.
import { html, useMemo } from "../../base/ui.mjs";
import { operator_path } from "../../base/address.mjs";
import { use_query } from "../../base/router.mjs";
import { plural, time_text } from "../../base/format.mjs";
import { frame_of, rows_of, sum_rows, value_at, value_counts } from "../../base/frame.mjs";
import { Roofline } from "../../charts/roofline.mjs";
import { mark_of, measured_points, roofline_points } from "../../charts/roofline_model.mjs";
import { KernelLabels } from "../../widgets/kernel_text.mjs";
import { Card, ExportLinks, Loaded } from "../../widgets/widgets.mjs";
import { Lacks } from "../run/lacks.mjs";
import { use_kernel_profiles } from "./kernel_profiles.mjs";
import { MetricFigures, MetricLead } from "./metric_figures.mjs";
import { rank_table_links, use_rank_table } from "../run/rank_data.mjs";
import { use_range } from "../run/range_line.mjs";
import { range_note, range_params } from "../run/range_model.mjs";
import { RankPage } from "../run/rank_page.mjs";
import { RankTable } from "../run/rank_table.mjs";
import { ThroughputFact } from "./throughput.mjs";
import { WORK_COLUMNS } from "./work_columns.mjs";

function foot_of(all, rows) {
  const some = rows.length < all.length ? `${rows.length} of ` : "";
  const lost = sum_rows(all, "lost_ns", rows);
  const above = lost > 0 ? `, ${time_text(lost)} lost against the roofline` : "";
  const busy = time_text(sum_rows(all, "busy_ns", rows));
  return `${some}${plural(all.length, "row")} · ${busy} measured${above}`;
}

/** Work of unknown kind may be anything, including communication. */
const swatch_of = (kind) =>
  (!kind || kind === "other" ? "bar-none" : `bar-${mark_of(kind).part}`);

const VIEW = {
  caption: "Work",
  sort: "-lost_ns",
  search: ["op", "problem", "dims", "kind", "precision", "module", "kernel"],
  opens: true,
  swatch: (all, row) => swatch_of(value_at(all, "kind", row)),
  foot: foot_of,
  page: (all, row, run, rank) => operator_path(run, value_at(all, "op", row), rank),
  columns: WORK_COLUMNS,
};

function KindPick({ frame, kind, onchange }) {
  const kinds = useMemo(() => value_counts(frame, "kind"), [frame]);
  return html`<label class="pick"><span>Kind</span><select value=${kind}
      onChange=${(event) => onchange(event.target.value)}><option value="">all</option>
    ${kinds.map(([name, n]) => html`<option key=${name} value=${name}>${
      name.replaceAll("_", " ")} (${n})</option>`)}</select></label>`;
}

const sum_of = (rows, key) => rows.reduce((sum, row) => sum + (row[key] ?? 0), 0);

const has_peaks = (rows) => rows.some(({ peak_tflops, peak_tbps }) => peak_tflops || peak_tbps);

function caption_of(rows, points) {
  const known = `${plural(points.length, "shape")} with known operations: ${
    time_text(sum_of(points, "busy_ns"))} of ${time_text(sum_of(rows, "busy_ns"))} measured`;
  if (!has_peaks(rows)) return known;
  return `${known}; ${time_text(sum_of(rows, "lost_ns"))} lost against the roofline`;
}

function Chart({ rows, run, rank, profiles }) {
  const { points } = useMemo(() => roofline_points(rows), [rows]);
  const measured = useMemo(() => measured_points(profiles), [profiles]);
  return html`<${Card} title="Roofline">
    ${!has_peaks(rows) && html`<${Lacks} run=${run} rank=${rank} items=${["device"]}
      title="The peak of this device is unknown, so there is no roof" />`}
    ${points.length + measured.length > 0
      ? html`<${Roofline} rows=${rows} measured=${measured} caption=${caption_of(rows, points)} />`
      : html`<p class="empty-line">None of these operators has both operations and bytes
          known.</p>`}<//>`;
}

function Work({ reply, run, rank, range, profiles }) {
  const [{ kind }, change] = use_query({ kind: "" });
  const frame = useMemo(() => frame_of(reply), [reply]);
  const drawn = useMemo(() => rows_of(frame).filter((row) => !kind || row.kind === kind),
    [frame, kind]);
  const view = useMemo(() => ({
    ...VIEW,
    keep: kind ? (all, row) => value_at(all, "kind", row) === kind : undefined,
    extra: html`<${KindPick} frame=${frame} kind=${kind}
      onchange=${(next) => change({ kind: next })} />`,
  }), [frame, kind]);
  if (frame.length === 0 && range !== "") {
    return html`<${Card} title="Roofline" note=${range_note("roofline", range)}><p
      class="empty-line">No operator with known work within the range.</p><//>`;
  }
  if (frame.length === 0) {
    return html`<${Card} title="Roofline"><${Lacks} run=${run} rank=${rank}
      items=${["shapes", "operators"]} title="No operator with known work was recorded" /><//>`;
  }
  return html`<${Chart} rows=${drawn} run=${run} rank=${rank} profiles=${profiles} />
    <${Card} title="Work by operator and shape" flush=${true}
      note=${range_note("roofline", range, "lost: measured time beyond what the roofline allows")}
      actions=${html`<${ExportLinks} links=${rank_table_links(run, "roofline", rank,
        range_params("roofline", range))} />`}>
      <${RankTable} frame=${frame} view=${view} run=${run} rank=${rank} /><//>`;
}

function Content({ run, rank, throughput, evidence }) {
  const profiles = use_kernel_profiles(run, evidence > 0);
  const [range] = use_range();
  const resource = use_rank_table(run, "roofline", rank, range_params("roofline", range));
  return html`<${KernelLabels} runs=${[run]} />
    <${MetricFigures} run=${run} rank=${rank} range=${range}>${range === ""
      && html`<${ThroughputFact} run=${run} throughput=${throughput} />`}<//>
    <${Loaded} resource=${resource}>${(reply) => html`<${Work} reply=${reply} run=${run}
      rank=${rank} range=${range} profiles=${profiles.rows} />`}<//>`;
}

export default function RooflinePage({ route }) {
  return html`<${RankPage} route=${route} title="Roofline" by_range=${true}
    lead=${(run, rank) => html`<${MetricLead} run=${run} rank=${rank} />`}>${(run, rank, data) =>
    html`<${Content} run=${run} rank=${rank} throughput=${data.throughput}
      evidence=${data.run.evidence} />`}<//>`;
}
