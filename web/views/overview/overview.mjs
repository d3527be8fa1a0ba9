// SPDX-License-Identifier: Apache-2.0
// A run at a glance: key figures, where a step goes, what to fix first, ranks, top kernels.
import { html } from "../../base/ui.mjs";
import { use_api } from "../../base/api.mjs";
import { navigate, use_query } from "../../base/router.mjs";
import { address, run_path, timeline_path } from "../../base/address.mjs";
import { bytes, count, percent, plural, sentence, time_text, typeset }
  from "../../base/format.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { StepColumns } from "../../charts/step_columns.mjs";
import { StepStack } from "../../charts/stack.mjs";
import { headline_row } from "../../base/parts.mjs";
import { chosen_metric, known_metrics, outlier_sentence } from "../ranks/outlier_model.mjs";
import { use_rows } from "../../base/rows.mjs";
import { timed, value_and_unit } from "../../base/values.mjs";
import { Card, Empty, Figure, Lead, Loaded, Segments } from "../../widgets/widgets.mjs";
import { use_dismissals } from "./dismissals.mjs";
import { CommentsCard } from "../said/comments.mjs";
import { Due } from "../said/promises.mjs";
import { FindingList } from "./finding_card.mjs";
import { affected_text, first_findings, part_findings } from "./finding_model.mjs";
import { KernelRows } from "../work/kernel_rows.mjs";
import { fullest_device } from "../memory/memory_model.mjs";
import { snapshot_choices, snapshot_lead } from "../memory/snapshot_model.mjs";
import { ends_early } from "../run/trust_model.mjs";
import { use_rank_table } from "../run/rank_data.mjs";
import { Phases } from "./phases.mjs";
import { NoResult } from "../run/rank_page.mjs";
import { LogOverview } from "../run/log_figures.mjs";
import { RankRows } from "../ranks/rank_rows.mjs";
import { is_whole } from "../run/lead_model.mjs";
import { run_api, RunFrame } from "../run/run_frame.mjs";
import { use_table } from "../run/run_table.mjs";
import { ThroughputFigure } from "../work/throughput.mjs";

const ALIKE = 0.005; // of the step; ranks that differ less wait for each other
const UNRECORDED_TOLD = 0.01; // of the window

function stat(step_stats, metric) {
  return step_stats?.find((row) => row.metric === metric);
}

function StepFigure({ data, stability }) {
  const { summary } = data;
  if (is_whole(data)) {
    return html`<${Figure} label="Recording" ...${timed(summary.step_median_ns, 4)}
      help="All of it, warm-up included">no step is marked<//>`;
  }
  const { step_median_ns, step_ci_low_ns, step_ci_high_ns, steady_steps, step_count } = summary;
  const half = (step_ci_high_ns - step_ci_low_ns) / 2;
  const known = step_ci_low_ns !== null && step_ci_low_ns !== undefined;
  const spread = known ? `±${time_text(half, 2)}, p95 ${time_text(stability?.p95_ns, 4)}, ` : "";
  return html`<${Figure} label="Step p50" ...${timed(step_median_ns, 4)}
    help="Median time of a steady step of the typical rank, with the 95 % interval of the median
      (if steps are independent)">
    ${step_count === 1 ? "of the only step"
      : `${spread}${count(steady_steps)} of ${plural(step_count ?? 0, "step")}`}<//>`;
}

/** The most memory tensors held on the typical rank; nothing if that was not recorded. */
function PeakFigure({ run }) {
  const { data } = use_rank_table(run, "memory", "");
  const row = data && fullest_device(rows_of(frame_of(data)));
  if (!row) return null;
  const [value, unit] = value_and_unit(row.peak_allocated_bytes, "bytes");
  return html`<${Figure} label="Peak memory" value=${value} unit=${unit}
    help="Peak memory held by tensors on the typical rank's device">
    ${row.capacity_bytes > 0
      ? `${percent(row.peak_allocated_bytes / row.capacity_bytes)} of ${bytes(row.capacity_bytes)}`
      : "capacity not recorded"}<//>`;
}

/** Whether there are ranks to compare. */
const has_spread = ({ ranks }) => ranks > 1;

function SpreadFigure({ summary, ranks, whole }) {
  if (!has_spread(summary)) return null;
  const medians = frame_of(ranks.data).columns.step_median_ns;
  if (medians && medians.filter((ns) => ns !== null).length < 2) {
    return html`<${Figure} label="Rank spread" value="–">fewer than two ranks have steps<//>`;
  }
  return html`<${Figure} label="Rank spread" value=${percent(summary.rank_spread_share)}
    help="How much longer the slowest rank's ${whole ? "recording" : "median step"} is than the ${
      ""}typical rank's">
    ${summary.rank_spread_share < ALIKE ? (whole ? "equally long" : "steps end together")
      : `slowest: rank ${summary.slowest_rank}`}<//>`;
}

const has_comm = (row) => row?.overlap_share !== null && row?.overlap_share !== undefined;

function Figures({ data, run, ranks }) {
  const { summary, breakdown, step_stats, throughput } = data;
  const row = headline_row(breakdown);
  const per_step = (name) => (row ? row[name] / Math.max(1, row.steps || 1) : null);
  const stability = stat(step_stats, "step");
  const [step, steps, per] = is_whole(data) ? ["the recording", "the recording", ""]
    : ["the step", "the steady steps", " per step"];
  const whole = row?.unrecorded_ns > 0 ? "recorded time" : step;
  const many = summary.devices > 1;
  const [idle, idle_unit] = value_and_unit(per_step("idle_ns") - per_step("unrecorded_ns"), "ns");
  return html`<dl class="kpis">
    <${StepFigure} data=${data} stability=${stability} />
    <${ThroughputFigure} throughput=${throughput} />
    <${Figure} label="GPU busy" value=${percent(summary.busy_share)}
      help="Share of the recorded time of ${steps} in which anything ran on ${many
        ? "at least one of the rank's GPUs; the breakdown table lists each" : "the device"}">
      of ${row?.unrecorded_ns > 0 ? whole : steps}${many
        && `, any of ${count(summary.devices)} GPUs`}<//>
    ${has_comm(row) && html`<${Figure} label="Exposed comm"
      ...${timed(per_step("exposed_comm_ns"))}
      help="Communication${per} while no compute kernel ran">
      ${percent(summary.exposed_comm_share)} of ${whole}, ${
        percent(row.overlap_share)} overlapped<//>`}
    <${Figure} label="Idle" value=${idle} unit=${idle_unit}
      help="Time${per} in which nothing ran on ${many ? "any of the rank's GPUs" : "the device"}, ${
        ""}excluding unrecorded work">
      ${percent(summary.idle_share)} of ${whole}${many && ", no GPU busy"}${
        per_step("idle_host_wait_ns") > 0
        && `, ${time_text(per_step("idle_host_wait_ns"))} host wait`}<//>
    <${SpreadFigure} summary=${summary} ranks=${ranks} whole=${is_whole(data)} />
    <${PeakFigure} run=${run} />
    <${Figure} label="Device events" value=${count(summary.device_events)}
      help="Kernels, copies and fills of the typical rank, and how many have a known launch">
      ${percent(summary.linked_device_events / (summary.device_events || 1))} linked to a launch<//>
  </dl>`;
}

/** What the recording lacks comes before the figures that leave it out. */
function Lacking({ data }) {
  const row = headline_row(data.breakdown);
  if (!row || !(row.unrecorded_ns > UNRECORDED_TOLD * row.window_ns)) return null;
  const steps = Math.max(1, row.steps || 1);
  return html`<p class="lacking">Shares below are of the recorded ${
    time_text((row.window_ns - row.unrecorded_ns) / steps)}${
    is_whole(data) ? "" : " per step"}; for another ${
    time_text(row.unrecorded_ns / steps)} the GPU ran work that is missing from the recording.</p>`;
}

const SCOPES = [["run_median", "Typical rank"], ["run_slowest", "Slowest rank"]];

function StepsOfRank({ run, rank }) {
  const path = address(run_api(run, "steps"), { rank, format: "columns" });
  const { resource, rows: steps } = use_rows(rank === null || rank === undefined ? null : path);
  const open = ({ begin_ns, window_ns }) =>
    navigate(timeline_path(run, rank, begin_ns, window_ns));
  return html`<${Loaded} resource=${resource}>${() =>
    steps.length > 1 && html`<div><h3 class="sub-head">Per step</h3><${StepColumns}
      steps=${steps} onopen=${open} /></div>`}
  <//>`;
}

function WhereItGoes({ run, data }) {
  const { breakdown, summary } = data;
  const [query, change] = use_query({ scope: "run_median" });
  const ranks = new Set(breakdown.map((one) => one.rank).filter((one) => one !== null));
  const scopes = SCOPES.filter(([scope]) => breakdown.some((one) => one.scope === scope));
  const row = breakdown.find(({ scope }) => scope === query.scope) ?? breakdown[0];
  if (!row) return null;
  const rank = row.rank ?? summary.headline_rank;
  const which = row.scope === "run_slowest" ? "slowest" : "typical";
  const whose = rank === null || rank === undefined || ranks.size < 2 ? ""
    : ` of the ${which} rank, ${rank}`;
  const steps = row.steps > 1 ? `Mean of ${count(row.steps)} steady steps`
    : is_whole(data) ? "The whole recording" : "One steady step";
  const caption = `${steps}${whose}: ${
    time_text(row.window_ns / Math.max(1, row.steps || 1), 4)}`;
  const actions = scopes.length > 1 && ranks.size > 1 && html`<${Segments} label="Rank"
    value=${row.scope} options=${scopes} onchange=${(scope) => change({ scope })} />`;
  return html`<${Card} title=${is_whole(data) ? "Breakdown" : "Step breakdown"}>
    <div class="where"><${StepStack} row=${row} steps=${row.steps} caption=${caption}
        actions=${actions} /><${StepsOfRank} run=${run} rank=${rank} /></div><//>`;
}

function RanksCard({ run, summary, ranks, whole }) {
  return html`<${Card} title="Ranks" href=${run_path(run, "ranks")} flush=${true}
    note="${whole ? "all that each recorded" : "mean of each rank's steady steps"}, one scale">
    <${Loaded} resource=${ranks}>${(reply) => html`<${RankRows} reply=${reply} limit=${12}
      slowest=${summary.slowest_rank} brief=${true} whole=${whole} />`}<//><//>`;
}

/** The first finding in a line above the figures: why the step takes as long as it does. */
function First({ run, findings, several }) {
  const { items, resource } = use_dismissals(run);
  const [first] = part_findings(findings, items).large;
  if (!first || resource.loading) return null;
  const is_named = /\branks? \d/.test(first.title);
  return html`<p class="lead-why"><span class="faint">Fix first</span> <a
    href=${run_path(run, "findings")}>${sentence(typeset(first.title))}</a>${" "}
    <span class="faint">${several && !is_named && affected_text(first)}</span></p>`;
}

/** The rank that differs most from the others, where one or a few do. */
function Which({ run, ranks, step_ns, whole }) {
  const rows = rows_of(frame_of(ranks.data));
  const metric = chosen_metric(known_metrics(rows, whole), "", rows, step_ns);
  const text = rows.length > 2 && outlier_sentence(rows, metric, step_ns, whole);
  return text && html`<p class="lead-why"><span class="faint">Which rank</span> <a
    href=${run_path(run, "ranks")}>${text}</a></p>`;
}

/** What to fix first, among findings that are not dismissed. */
function FixFirst({ run, data }) {
  const { findings } = data;
  const { items, resource } = use_dismissals(run);
  const shown = first_findings(findings, items);
  const nothing = findings.length > 0 ? "All findings have been dismissed." : undefined;
  const some = `${shown.length} of ${findings.length}, most severe first`;
  return html`<${Card} title="Fix first" href=${run_path(run, "findings")}
    note=${findings.length > shown.length ? some : ""}>
    ${!resource.loading && html`<${FindingList} run=${run} findings=${shown} all=${findings}
      nothing=${nothing} whole=${is_whole(data)} />`}<//>`;
}

/** Why a trace without device events has no figures. */
function NoDevice({ run, trust, rank }) {
  if (ends_early(trust, rank)) {
    return html`<${Empty} title="The file ends early">
      <p>What it contains has no device events. Upload the complete file.</p><//>`;
  }
  return html`<${Empty} title="No device activity was recorded">
    <p>This trace has host events only. The <a href=${run_path(run, "data")}>Data</a> page says
      how to record the device.</p><//>`;
}

function Measured({ data, run }) {
  const { summary, findings, kernels } = data;
  const path = address(run_api(run, "ranks"), { format: "columns" });
  const ranks = use_api(has_spread(summary) ? path : null);
  return html`<${First} run=${run} findings=${findings} several=${has_spread(summary)} />
    <${Which} run=${run} ranks=${ranks} step_ns=${summary.step_median_ns}
      whole=${is_whole(data)} />
    <${Lacking} data=${data} />
    <${Figures} data=${data} run=${run} ranks=${ranks} />
    <${WhereItGoes} run=${run} data=${data} />
    <${Phases} run=${run} />
    <div class=${has_spread(summary) ? "columns-2" : ""}>
      <${FixFirst} run=${run} data=${data} />
      ${has_spread(summary) && html`<${RanksCard} run=${run} summary=${summary}
        ranks=${ranks} whole=${is_whole(data)} />`}
    </div>
    <${Card} title="Top kernels" href=${run_path(run, "kernels")} flush=${true}
      note="by total time over all ranks">
      <${KernelRows} run=${run} rows=${kernels} ranks=${summary.ranks ?? 1}
        whole=${is_whole(data)} /><//>`;
}

/** How much memory a snapshot shows; nothing without one. */
function SnapshotLead({ run }) {
  const { rows } = use_table(run, "snapshots", { limit: "all" });
  const [first] = snapshot_choices(rows);
  return first && html`<${Lead} text=${snapshot_lead(first.row)} />`;
}

function Content({ data, run }) {
  const { summary, trust } = data;
  if (!summary) return html`${data.run.evidence > 0 && html`<${LogOverview} run=${run} />
      <${SnapshotLead} run=${run} />`}
    <${NoResult} run=${data.run} />`;
  if (summary.device_events) return html`<${Measured} data=${data} run=${run} />`;
  return html`<${NoDevice} run=${run} trust=${trust} rank=${summary.headline_rank} />`;
}

export default function Overview({ route }) {
  return html`<${RunFrame} route=${route} title="Overview">${(data, run) =>
    html`<${Content} data=${data} run=${run} /><${Due} run=${run} />
      <${CommentsCard} run=${run} />`}<//>`;
}
