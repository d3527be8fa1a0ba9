// SPDX-License-Identifier: Apache-2.0
// Communication: what each collective moves, how fast, and how much of it the step waits for.
import { html, useMemo } from "../ui.mjs";
import { api_href, use_api } from "../api.mjs";
import { use_query } from "../router.mjs";
import { address } from "../address.mjs";
import { bytes, ms, percent, plural } from "../format.mjs";
import { frame_of, rows_of, sort_rows, value_at } from "../frame.mjs";
import { Scatter } from "../charts/scatter.mjs";
import { Card, Empty, ExportLinks, Figure, Loaded } from "../widgets.mjs";
import { Table } from "../table.mjs";
import { CommOfRank } from "./comm_rank.mjs";
import { OfRank, use_rank } from "./rank_data.mjs";
import { run_api, RunFrame } from "./run_frame.mjs";

const name_of = (kind, collective) => kind ?? collective ?? "not described";

/** The headline rank's communication per step. */
function Verdict({ data }) {
  const row = data.breakdown.find(({ scope }) => scope === "run_median") ?? data.breakdown[0];
  if (!row) return null;
  const per_step = (name) => row[name] / Math.max(1, row.steps || 1);
  return html`<dl class="kpis">
    <${Figure} label="Communication" value=${ms(per_step("total_comm_ns"))} unit="ms"
      help="Time per step in which any communication ran, hidden or not">per step, headline rank<//>
    <${Figure} label="Exposed" value=${ms(per_step("exposed_comm_ns"))} unit="ms"
      help="The part during which no compute kernel ran: what the step pays for">
      ${percent(data.summary?.exposed_comm_share)} of the step<//>
    <${Figure} label="Overlapped" value=${percent(row.overlap_share)}
      help="Share of communication time during which compute ran">of communication time<//>
  </dl>`;
}

function Bandwidths({ frame }) {
  const points = rows_of(frame)
    .filter((row) => row.bytes > 0 && row.bus_gbps > 0)
    .map((row) => ({ ...row, name: name_of(row.kind, row.collective) }));
  if (points.length === 0) return null;
  const best = points.reduce((a, b) => (b.bus_gbps > a.bus_gbps ? b : a));
  const caption = `Best bus bandwidth ${best.bus_gbps.toFixed(1)} GB/s, ${best.name} of ${
    bytes(best.bytes)}`;
  return html`<${Card} title="Message size and bus bandwidth">
    <${Scatter} rows=${points} caption=${caption} /><//>`;
}

function columns_of(frame) {
  const at = (key, row) => value_at(frame, key, row);
  return [
    { key: "kind", label: "Collective", cell: (row) =>
      html`<span title=${at("collective", row)}>${name_of(at("kind", row), at("collective", row))}
      </span>` },
    { key: "dtype", label: "Type", priority: 2 },
    { key: "bytes", label: "Size", kind: "bytes" },
    { key: "group_size", label: "Group", kind: "count", priority: 2 },
    { key: "process_group", label: "Process group", priority: 3 },
    { key: "calls", label: "Calls", kind: "count", priority: 2 },
    { key: "total_ns", label: "Total", kind: "ms" },
    { key: "exposed_ns", label: "Exposed", kind: "ms" },
    { key: "exposed_share", label: "Exposed share", kind: "share", priority: 2 },
    { key: "min_ns", label: "Min", kind: "ms", priority: 3 },
    { key: "median_ns", label: "p50", kind: "ms" },
    { key: "p95_ns", label: "p95", kind: "ms" },
    { key: "max_ns", label: "Max", kind: "ms", priority: 3 },
    { key: "algo_gbps", label: "Algo", kind: "number", unit: "GB/s", priority: 2 },
    { key: "bus_gbps", label: "Bus", kind: "number", unit: "GB/s" },
    { key: "ranks", label: "Ranks", kind: "count", priority: 3 },
  ].filter(({ key }) => key in frame.columns || key === "kind");
}

function Content({ reply, data, href, run, rank, set_rank }) {
  const [query, change] = use_query({ sort: "-total_ns" });
  const frame = useMemo(() => frame_of(reply), [reply]);
  const rows = useMemo(
    () => sort_rows(frame, Array.from({ length: frame.length }, (_, i) => i), query.sort),
    [frame, query.sort],
  );
  if (frame.length === 0) {
    return html`<${Empty} title="No communication was recorded">
      <p>The ranks that have come run no collective kernels in this window.</p><//>`;
  }
  return html`<${Verdict} data=${data} />
    <${Bandwidths} frame=${frame} />
    <${Card} title="Collectives" flush=${true} note=${plural(frame.length, "row")}
        actions=${html`<${ExportLinks} links=${[["CSV", href("csv")], ["JSON", href("json")]]} />`}>
      <${Table} caption="Collectives" frame=${frame} rows=${rows} columns=${columns_of(frame)}
        sort=${query.sort} onsort=${(sort) => change({ sort })} /><//>
    <${OfRank} run=${run} summary=${data.summary} rank=${rank} onchange=${set_rank}
      what="Process groups and message sizes"><${CommOfRank} run=${run} rank=${rank} /><//>
    <p class="footnote">Bus bandwidth is the algorithm's scaled by what each link has to carry, so
      that collectives compare: all_reduce 2(n−1)/n; all_gather, reduce_scatter and all_to_all
      (n−1)/n. A long collective on one rank may be a wait: the late rank is the one
      with the <em>shortest</em> collective time.</p>`;
}

export default function Collectives({ route }) {
  const path = run_api(route.run, "collectives");
  const resource = use_api(address(path, { format: "columns" }));
  const [rank, set_rank] = use_rank();
  const href = (format) => api_href(address(path, { format, limit: "all" }));
  return html`<${RunFrame} route=${route} title="Communication">${(data, run) => html`
    <${Loaded} resource=${resource}>${(reply) => html`<${Content} reply=${reply} data=${data}
      href=${href} run=${run} rank=${rank} set_rank=${set_rank} />`}<//>`}<//>`;
}
