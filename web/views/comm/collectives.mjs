// SPDX-License-Identifier: Apache-2.0
// Communication: what the step waits for, which rank is late and why, how fast the links are.
import { html, useMemo } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { plural } from "../../base/format.mjs";
import { frame_of, sort_rows, value_at } from "../../base/frame.mjs";
import { says_something } from "../../base/values.mjs";
import { Card, Empty, ExportLinks, Loaded } from "../../widgets/widgets.mjs";
import { Table } from "../../widgets/table.mjs";
import { matched_calls, unknowns } from "./comm_model.mjs";
import { CommOfRank } from "./comm_rank.mjs";
import { CommFigures, CommVerdict } from "./comm_verdict.mjs";
import { Bandwidths, bandwidth_points, CommWaits, tested_column } from "./comm_waits.mjs";
import { LinkDetails, LinksLead, LinkTests, use_links } from "./link_tests.mjs";
import { Lateness } from "../ranks/lateness.mjs";
import { is_whole } from "../run/lead_model.mjs";
import { NoResult } from "../run/rank_page.mjs";
import { use_range } from "../run/range_line.mjs";
import { within } from "../run/range_model.mjs";
import { RangeBar } from "../run/range_pick.mjs";
import { OfRank, rank_table_links, use_rank, use_rank_table } from "../run/rank_data.mjs";
import { RunFrame } from "../run/run_frame.mjs";
import { awaited, use_table } from "../run/run_table.mjs";

const name_of = (kind, collective) => kind ?? collective ?? "not described";

function columns_of(frame, ranged) {
  const at = (key, row) => value_at(frame, key, row);
  return [
    { key: "kind", label: "Collective", width_px: 120, cell: (row) =>
      html`<span title=${at("collective", row)}>${name_of(at("kind", row), at("collective", row))}
      </span>` },
    { key: "dtype", label: "Type", priority: 3, width_px: 84 },
    { key: "bytes", label: "Size", kind: "bytes", width_px: 84 },
    { key: "group_size", label: "Group", kind: "count", priority: 2, width_px: 66 },
    { key: "process_group", label: "Process group", priority: 4, width_px: 110 },
    { key: "calls", label: "Calls", kind: "count", priority: 2 },
    { key: "total_ns", label: "Total", kind: "ms", priority: 2 },
    { key: "exposed_ns", label: "Exposed", kind: "ms" },
    { key: "exposed_share", label: "Exposed share", kind: "share", priority: 2,
      width_px: 116 },
    { key: "min_ns", label: "Min", kind: "call", priority: 4, width_px: 82 },
    { key: "median_ns", label: "p50", kind: "call", priority: 2, width_px: 82 },
    { key: "p95_ns", label: "p95", kind: "call", priority: 4, width_px: 82 },
    { key: "max_ns", label: "Max", kind: "call", priority: 4, width_px: 82 },
    { key: "algo_gbps", label: "Algo", kind: "number", unit: "GB/s", priority: 5 },
    { key: "bus_gbps", label: "Bus", kind: "number", unit: "GB/s", priority: 2 },
    tested_column(frame),
    { key: "ranks", label: "Ranks", kind: "count", priority: 4, width_px: 70 },
  ].filter(({ key, sparse = ranged }) => key === "kind"
    || (key in frame.columns && (!sparse || says_something(frame, key))));
}

/** The table collectives: calls as recorded by each rank, including waiting. */
function Recorded({ frame, links, range = "", rank = "" }) {
  const [query, change] = use_query({ sort: "-total_ns" });
  const rows = useMemo(
    () => sort_rows(frame, Array.from({ length: frame.length }, (_, i) => i), query.sort),
    [frame, query.sort],
  );
  return html`<${Card} title="Collectives as recorded" flush=${true}
      note="${plural(frame.length, "row")}, ${range === ""
        ? "times of the ranks' calls, waiting included" : within(range, rank)}"
      actions=${html`<${ExportLinks} links=${links} />`}>
    <${Table} caption="Collectives as recorded" frame=${frame} rows=${rows}
      columns=${columns_of(frame, range !== "")} sort=${query.sort}
      onsort=${(sort) => change({ sort })} /><//>`;
}

/** The same calls of one rank, those launched within a range. */
function RecordedWithin({ run, rank, range }) {
  const resource = use_rank_table(run, "collectives", rank, { range });
  const frame = useMemo(() => frame_of(resource.data), [resource.data]);
  return html`<${Loaded} resource=${resource}>${() => html`<${Recorded} frame=${frame}
    links=${rank_table_links(run, "collectives", rank, { range })}
    range=${range} rank=${rank} />`}<//>`;
}

const FIELDS = "rank,window_ns,unrecorded_ns,exposed_comm_ns,exposed_wait_ns,exposed_transfer_ns";

function use_tables(run) {
  const recorded = use_table(run, "collectives");
  const ranks = use_table(run, "ranks", { fields: FIELDS });
  const waits = use_table(run, "comm_waits");
  const lateness = use_table(run, "lateness");
  const clocks = use_table(run, "clocks");
  // The page is one statement: it is shown once all of it is there.
  const waiting = awaited([recorded, ranks, waits, lateness, clocks]);
  return { recorded, ranks, waits, lateness, clocks, waiting };
}

function Whole({ tables, links, data, run, rank }) {
  const [range] = use_range();
  const { recorded, ranks, waits, lateness, clocks } = tables;
  const steps = data.summary.steady_steps;
  const whole = is_whole(data);
  const recorded_ranks = useMemo(() => ranks.rows.map(({ rank }) => rank), [ranks.rows]);
  const notes = unknowns({ ranks: ranks.rows.length, world: data.run.world_size ?? null,
    waits: waits.rows, clocks: clocks.rows, has_comm: recorded.frame.length > 0 });
  const points = useMemo(() => bandwidth_points(recorded.rows, (row) =>
    ({ name: name_of(row.kind, row.collective), where: row.process_group ?? "" })),
  [recorded.rows]);
  return html`<${CommVerdict} run=${run} data=${data} ranks=${ranks.rows} notes=${notes}
      waits=${waits.rows} lateness=${lateness.rows} clocks=${clocks.rows} />
    <${CommFigures} data=${data} waits=${waits.rows} />
    ${matched_calls(waits.rows) > 0 ? html`<${CommWaits} frame=${waits.frame} steps=${steps}
        ranks=${recorded_ranks} whole=${whole} links=${waits.links} />`
      : html`<${Bandwidths} points=${points} note=", waiting for other ranks included" />`}
    ${lateness.rows.length > 0 && html`<${Lateness} run=${run}
      frame=${lateness.frame} steps=${steps} whole=${whole} links=${lateness.links} />`}
    <${LinkTests} links=${links} own=${matched_calls(waits.rows) > 0 ? waits.rows
      : recorded.rows} />
    ${range === "" ? html`<${Recorded} frame=${recorded.frame} links=${recorded.links} />`
      : html`<${RecordedWithin} run=${run} rank=${rank} range=${range} />`}
    <${LinkDetails} links=${links} />`;
}

const NO_ROWS = [];
const FILTERED = "Filters the recorded collectives, process groups and message sizes of one rank, "
  + "and nothing else on this page.";

/** Without collectives, and perhaps without a trace. */
function LinksAlone({ links, children }) {
  if (!links.resource) return children;
  return html`<${Loaded} resource=${links.resource}>${() => (links.has_any
    ? html`<${LinksLead} links=${links} /><${LinkTests} links=${links} own=${NO_ROWS} />
      <${LinkDetails} links=${links} />` : children)}<//>`;
}

function Content({ data, run }) {
  const tables = use_tables(run);
  const links = use_links(run, data.run.evidence > 0);
  const [rank, set_rank] = use_rank();
  if (!data.summary) {
    return html`<${LinksAlone} links=${links}><${NoResult} run=${data.run}
      page="collectives" /><//>`;
  }
  return html`<${Loaded} resource=${tables.waiting}>${() => (tables.recorded.frame.length === 0
    ? html`<${LinksAlone} links=${links}><${Empty} title="No communication was recorded">
      <p>The uploaded ranks ran no collective kernels in this window.</p><//><//>`
    : html`<${RangeBar} run=${run} rank=${rank} what=${FILTERED} />
      <${Whole} tables=${tables} links=${links} data=${data} run=${run} rank=${rank} />
      <${OfRank} run=${run} summary=${data.summary} rank=${rank} onchange=${set_rank}
        what="Process groups and message sizes"><${CommOfRank} run=${run} rank=${rank}
        whole=${is_whole(data, rank === "" ? undefined : Number(rank))} /><//>
      <p class="footnote">Bus bandwidth is algorithm bandwidth scaled by the traffic per link, so
        that collectives compare: all_reduce 2(n−1)/n; all_gather, reduce_scatter and all_to_all
        (n−1)/n. Waiting is the time from a rank's start of a collective to the last rank's;
        transfer is the rest.</p>`)}<//>`;
}

export default function Collectives({ route }) {
  return html`<${RunFrame} route=${route} title="Communication">${(data, run) =>
    html`<${Content} data=${data} run=${run} />`}<//>`;
}
