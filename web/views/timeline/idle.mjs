// SPDX-License-Identifier: Apache-2.0
// Why the device had nothing to do: causes, the longest gaps, streams, queues and launches.
import { html, useMemo } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { percent, plural, time_text, typeset } from "../../base/format.mjs";
import { address, run_path, timeline_path } from "../../base/address.mjs";
import { frame_of, rows_of, value_at } from "../../base/frame.mjs";
import { Segments as Bar } from "../../charts/segments.mjs";
import { ShareBar } from "../../charts/share_bar.mjs";
import { Card, ExportLinks, Figure, Loaded } from "../../widgets/widgets.mjs";
import { KernelLabels } from "../../widgets/kernel_text.mjs";
import { Table } from "../../widgets/table.mjs";
import { cause_label, timed } from "../../base/values.mjs";
import { gaps_view, LAUNCH_DELAYS, QUEUES, STREAM_IDLE } from "./idle_views.mjs";
import { causes_of, devices_of, idle_sums, recorded } from "./idle_model.mjs";
import { Lacks } from "../run/lacks.mjs";
import { is_whole } from "../run/lead_model.mjs";
import { use_range } from "../run/range_line.mjs";
import { range_params, within } from "../run/range_model.mjs";
import { rank_table_links, use_rank_table } from "../run/rank_data.mjs";
import { RankPage } from "../run/rank_page.mjs";
import { RankTableCard } from "../run/rank_table.mjs";

function Figures({ causes: all, steps, whole }) {
  const causes = recorded(all);
  if (causes.length === 0) return null;
  const { idle_ns, steady_ns, share, gaps, host_ns } = idle_sums(causes);
  const [first] = causes;
  const longest = causes.reduce((a, b) => ((b.max_ns ?? 0) > (a.max_ns ?? 0) ? b : a));
  return html`<dl class="kpis">
    <${Figure} label="Idle" ...${timed(idle_ns)}
      help=${"Time of the whole trace in which nothing ran on the device, excluding unrecorded "
        + "work; the causes sum to it"}>
      ${percent(share)} of the trace, ${plural(gaps, "gap")}${
        steps > 0 && steady_ns > 0 && !whole && `; ${
          time_text(steady_ns / steps)} per steady step`}<//>
    <${Figure} label="Host wait" value=${percent(host_ns / (idle_ns || 1))}
      help="Share of the idle time that ended with a launch made after the device went idle">
      of idle time, ${time_text(host_ns)}<//>
    <${Figure} label="Largest cause" value=${percent(first.total_ns / (idle_ns || 1))}
      help=${first.help}>${cause_label(first.cause)}<//>
    <${Figure} label="Longest gap" ...${timed(longest.max_ns)}
      help="The longest period in which nothing ran on the device">
      ${cause_label(longest.cause)}<//>
  </dl>`;
}

const cause_columns = (at, idle_ns) => [
  { key: "cause", label: "Cause", className: "cause-cell explained", cell: (row) => html`<span
    title=${typeset(at(row).help)}><span class="swatch bar-${at(row).bar}"></span>${
      cause_label(at(row).cause)}</span><span class="cell-help only-wide">${
      typeset(at(row).help)}</span>` },
  { key: "total_ns", label: "Time", kind: "ms" },
  { key: "share", label: "Of gaps", className: "share-column",
    help: "Their time divided by that of all gaps, those with unrecorded work included.",
    cell: (row) => html`<${ShareBar}
      share=${at(row).total_ns / (idle_ns || 1)} className="bar-${at(row).bar}" />` },
  { key: "window_share", label: "Of trace", kind: "share", priority: 2 },
  { key: "gaps", label: "Gaps", kind: "count" },
  { key: "median_ns", label: "p50", kind: "call", priority: 2 },
  { key: "p95_ns", label: "p95", kind: "call", priority: 4 },
  { key: "max_ns", label: "Max", kind: "call", priority: 2 },
  { key: "steady_ns", label: "In steady steps", kind: "ms", priority: 4 },
  { key: "host_event", label: "Host event", className: "mono clip", priority: 3 },
];

// What idle time of a range has: its sums, but no single gaps.
const OF_RANGE = new Set(["cause", "total_ns", "share", "window_share"]);

function cause_columns_of(at, idle_ns, range, whole) {
  const columns = cause_columns(at, idle_ns)
    .filter(({ key }) => !(whole && key === "steady_ns"));
  if (range === "") return columns;
  return columns.filter(({ key }) => OF_RANGE.has(key)).map((column) =>
    (column.key === "window_share" ? { ...column, label: "Of range" } : column));
}

function CauseTable({ causes, help, range, whole }) {
  const frame = useMemo(() => ({ ...frame_of(causes), help }), [causes, help]);
  const { idle_ns } = idle_sums(causes);
  return html`<${Table} caption="Causes of idle time" frame=${frame}
    columns=${cause_columns_of((row) => causes[row], idle_ns, range, whole)} />`;
}

function Causes({ reply, links, steps, whole, range, rank }) {
  const [query, change] = use_query({ device: "" });
  const frame = useMemo(() => frame_of(reply), [reply]);
  const rows = useMemo(() => rows_of(frame), [frame]);
  const devices = devices_of(rows);
  const device = devices.includes(query.device) ? query.device : devices[0];
  const causes = useMemo(() => causes_of(rows, device), [rows, device]);
  if (causes.length === 0) return html`<${Card} title="Idle"><p class="empty-line">The device was
    never idle in this ${range === "" ? "recording" : "range"}.</p><//>`;
  const items = causes.map(({ cause, total_ns, bar, help }) =>
    ({ key: cause, label: cause_label(cause), value: total_ns, part: bar, help }));
  const pick = devices.length > 2 && html`<label class="pick"><span>Device</span><select
    value=${device} onChange=${(event) => change({ device: event.target.value })}>${
    devices.map((one) => html`<option key=${one} value=${one}>${one || "all merged"}</option>`)}
    </select></label>`;
  const { idle_ns, gaps } = idle_sums(causes);
  const where = range === "" ? `in ${plural(gaps, "gap")}` : "between its device events";
  return html`${range === "" && html`<${Figures} causes=${causes} steps=${steps}
      whole=${whole} />`}
    <${Card} title="Why the device was idle" actions=${links} flush=${true}
        note=${range !== "" && within(range, rank)}>
      <div class="card-chart"><${Bar} items=${items} actions=${pick} bare=${true} head="Cause"
        caption="${time_text(idle_ns)} ${where}, by what delayed the next work" />
      </div>
      <${CauseTable} causes=${causes} help=${frame.help} range=${range} whole=${whole} /><//>`;
}

/** Steady steps of the shown rank, 0 if the summary does not say. */
function steps_of({ headline_rank, steady_steps }, rank) {
  return rank === "" || Number(rank) === headline_rank ? steady_steps : 0;
}

/** Gaps that link to their place in the timeline. */
const gaps_of = (run, rank, whole) => ({ ...gaps_view(run, rank, whole),
  more: (frame, row) => html`<p
  class="row-links"><a
  href=${timeline_path(run, rank, value_at(frame, "begin_ns", row),
    value_at(frame, "dur_ns", row))}>Show in the timeline</a></p>` });

function Content({ run, rank, data }) {
  const [range] = use_range();
  const params = range_params("idle_causes", range);
  const resource = use_rank_table(run, "idle_causes", rank, params);
  const links = html`<a class="small-link" href=${address(run_path(run, "flame"),
    { of: "idle", rank })}>Flame graph</a>
    <${ExportLinks} links=${rank_table_links(run, "idle_causes", rank, params)} />`;
  const no_links = html`<${Lacks} run=${run} rank=${rank} items=${["launches", "operators"]}
    title="Launches on the host were not recorded" />`;
  const card = (name, title, note, view) => html`<${RankTableCard} run=${run} rank=${rank}
    name=${name} title=${title} note=${note} view=${{ ...view, empty: view.empty ?? no_links }} />`;
  return html`<${Loaded} resource=${resource}>${(reply) => html`<${Causes} reply=${reply}
      links=${links} steps=${steps_of(data.summary, rank)} whole=${is_whole(data)}
      range=${range} rank=${rank} />`}<//>
    ${card("idle_gaps", "Longest gaps", "work before and after, and activity of the host",
      gaps_of(run, rank, is_whole(data)))}
    ${card("launch_delays", "Launch delays", "cost of launches on the host", LAUNCH_DELAYS)}
    <div class="columns-2">
      ${card("stream_idle", "Idle streams", "classified as in Holistic Trace Analysis",
        STREAM_IDLE)}
      ${card("queues", "Queues", "launched but not started, weighted by time", QUEUES)}
    </div>`;
}

export default function Idle({ route }) {
  return html`<${RankPage} route=${route} title="Idle" by_range=${true}>${(run, rank, data) =>
    html`<${KernelLabels} runs=${[run]} />
      <${Content} run=${run} rank=${rank} data=${data} />`}<//>`;
}
