// SPDX-License-Identifier: Apache-2.0
// All kernels of a run or of one rank: filter, sort, and each one's figures in full.
import { html, useEffect, useMemo, useState } from "../../base/ui.mjs";
import { api_href, table_links, use_api } from "../../base/api.mjs";
import { use_query } from "../../base/router.mjs";
import { address, kernel_path } from "../../base/address.mjs";
import { learn_labels } from "../../base/kernel_labels.mjs";
import { count, number, percent, plural, time_text } from "../../base/format.mjs";
import { filter_rows, frame_of, row_at, sort_rows, sum_rows, value_at, value_counts }
  from "../../base/frame.mjs";
import { says_something } from "../../base/values.mjs";
import { Card, CopyButton, ExportLinks, Lead, Loaded, SearchBox, Segments }
  from "../../widgets/widgets.mjs";
import { OpLink } from "../../widgets/kernel_text.mjs";
import { Table } from "../../widgets/table.mjs";
import { Categories } from "./categories.mjs";
import { KERNEL_GROUPS, KernelGroups } from "./kernel_groups.mjs";
import { KernelProfiles, PROFILE_FACTS, use_kernel_profiles } from "./kernel_profiles.mjs";
import { ACROSS_RANKS, KernelName, step_column } from "./kernel_rows.mjs";
import { profiles_lead } from "./work_leads.mjs";
import { is_whole } from "../run/lead_model.mjs";
import { with_range, within } from "../run/range_model.mjs";
import { RangeBar, RangePick, use_range_names } from "../run/range_pick.mjs";
import { OfRank, use_ranks } from "../run/rank_data.mjs";
import { NoResult } from "../run/rank_page.mjs";
import { run_api, RunFrame } from "../run/run_frame.mjs";

const GROUPS = [["", "Kernels"], ["category", "Categories"], ...Object.entries(KERNEL_GROUPS)];
// Columns that are filtered by an exact value.
const EXACT = { category: "", class: "", library: "", operation: "", dtype: "", arch: "",
  alignment: "" };
const EXACT_LABELS = { class: "Class", library: "Library", operation: "Operation", dtype: "Type",
  arch: "Architecture", alignment: "Alignment" };
const DEFAULTS = { q: "", sort: "-total_ns", rank: "", range: "", ...EXACT };
const TEXT = ["name", "label", "op", "category", "class", "library", "operation", "marks"];

const exact_of = (query) => Object.fromEntries(Object.keys(EXACT).map((key) => [key, query[key]]));

// Columns that make way for those of Nsight Compute; a row's detail has them as well.
const GIVES_WAY = ["calls_per_step", "p95_ns", "p99_ns", "max_ns"];
const MEASURED = [
  { key: "achieved_occupancy_percent", label: "Occupancy", kind: "number", unit: "%", priority: 3 },
  { key: "dram_percent", label: "DRAM", kind: "number", unit: "%", priority: 3 },
  { key: "tensor_percent", label: "Tensor", kind: "number", unit: "%", priority: 4 },
];

/** Columns of the table, for a run or for one rank, where columns across ranks have no meaning. */
function columns_of(frame, { run, rank, range, opened, set_opened, of_rank, whole }) {
  const has = (key) => key in frame.columns;
  const open = (row) => set_opened(opened === row ? -1 : row);
  const all = [
    { key: "name", label: "Kernel", className: "kernel-cell", width_px: 320, cell: (row) =>
      html`<${KernelName} frame=${frame} row=${row} is_open=${opened === row}
        href=${with_range(kernel_path(run, value_at(frame, "name", row), rank), range)}
        onopen=${() => open(row)} />` },
    { key: "category", label: "Category", priority: 5, width_px: 140 },
    { key: "op", label: "Launched by", className: "mono op-cell", width_px: 180, priority: 3,
      cell: (row) => html`<${OpLink} run=${run} name=${value_at(frame, "op", row)}
        rank=${rank} />` },
    { key: "library", label: "Library", priority: 4, width_px: 96 },
    { key: "operation", label: "Operation", priority: 5, width_px: 130 },
    { key: "dtype", label: "Type", priority: 4, width_px: 84 },
    { key: "arch", label: "Arch", priority: 4, width_px: 72 },
    { key: "alignment", label: "Align", kind: "count", priority: 5, width_px: 66 },
    { key: "calls", label: "Calls", kind: "count", priority: 2 },
    ...(whole ? []
      : [{ key: "calls_per_step", label: "Calls/step", kind: "number", priority: 5 }]),
    { key: "total_ns", label: "Total", kind: "ms" },
    ...(whole && of_rank ? [] : [{ ...step_column(whole, !of_rank), priority: 2 }]),
    { key: "window_share", label: "Share", kind: "share" },
    { key: "exposed_ns", label: "Exposed", kind: "ms", priority: 4 },
    { key: "median_ns", label: "p50", kind: "call", priority: 2 },
    { key: "p95_ns", label: "p95", kind: "call", priority: 4 },
    { key: "p99_ns", label: "p99", kind: "call", priority: 5 },
    { key: "max_ns", label: "Max", kind: "call", priority: 4 },
    ...(of_rank ? [] : ACROSS_RANKS),
  ];
  const measured = MEASURED.filter(({ key }) => says_something(frame, key));
  const kept = measured.length > 0 ? all.filter(({ key }) => !GIVES_WAY.includes(key)) : all;
  return [...kept, ...measured].filter(({ key }) => has(key));
}

// What the table leaves out on some screens is also shown here.
const FACTS = [
  ["Category", "category", (v) => v],
  ["Launched by", "op", (v) => v],
  ["Short name", "label", (v) => v],
  ["Library", "library", (v) => v],
  ["Operation", "operation", (v) => v],
  ["Type", "dtype", (v) => v],
  ["Architecture", "arch", (v) => v],
  ["Tile", "tile", (v) => v.replaceAll("x", " × ")],
  ["Layout", "layout", (v) => v],
  ["Alignment", "alignment", (v) => plural(v, "element")],
  ["Other marks in its name", "marks", (v) => v],
  ["Calls", "calls", count],
  ["Calls per step", "calls_per_step", number],
  ["Time per step", "per_step_ns", time_text],
  ["Exposed", "exposed_ns", time_text],
  ["p50", "median_ns", time_text],
  ["p95", "p95_ns", time_text],
  ["p99", "p99_ns", time_text],
  ["Longest call", "max_ns", time_text],
  ["Grid", "grid", (v) => v],
  ["Block", "block", (v) => v],
  ["Registers per thread", "registers", count],
  ["Shared memory", "shared_bytes", (v) => `${count(v)} bytes`],
  ["Estimated occupancy", "occupancy_percent", (v) => `${v} %`],
  ["Owned time", "owned_ns", time_text],
  ["Share of busy time", "busy_share", percent],
  ["Mean", "mean_ns", time_text],
  ["Shortest call", "min_ns", time_text],
  ["Standard deviation", "stddev_ns", time_text],
  ["Ranks that run it", "ranks", count],
  ["Slowest rank", "slowest_rank", count],
  ["Variation over ranks", "rank_cv", percent],
  ["Total per rank: minimum", "rank_min_ns", time_text],
  ["Total per rank: median", "rank_median_ns", time_text],
  ["Total per rank: maximum", "rank_max_ns", time_text],
  ...PROFILE_FACTS,
];

const OF_STEPS = ["calls_per_step", "per_step_ns"];

function KernelDetail({ frame, row, href, whole }) {
  const kernel = row_at(frame, row);
  const facts = FACTS.filter(([, key]) => kernel[key] !== null && kernel[key] !== undefined
    && !(whole && OF_STEPS.includes(key)));
  return html`<div class="kernel-detail">
    <p class="kernel-full"><code>${kernel.name}</code><${CopyButton} text=${kernel.name}
      label="Copy name" /></p>
    <dl class="facts">${facts.map(([label, key, write]) => html`<div key=${key}>
      <dt title=${frame.help[key]}>${label}</dt><dd>${write(kernel[key])}</dd></div>`)}</dl>
    <p class="row-page"><a href=${href}>Its calls, callers, shapes and history</a></p>
  </div>`;
}

function FilterBar({ frame, query, change, ranks, names, links }) {
  const categories = useMemo(() => value_counts(frame, "category"), [frame]);
  const pick = (key) => (event) => change({ [key]: event.target.value });
  return html`<div class="filter-bar">
    <${SearchBox} label="Filter kernels" value=${query.q} placeholder="Filter by name or operator"
      oninput=${(q) => change({ q }, { replace: true })} />
    <label class="pick"><span>Category</span><select value=${query.category}
        onChange=${pick("category")}><option value="">all</option>
      ${query.category && !categories.some(([name]) => name === query.category) && html`<option
        value=${query.category}>${query.category} (0)</option>`}
      ${categories.map(([name, n]) => html`<option key=${name} value=${name}>${name} (${n})
      </option>`)}
    </select></label>
    <label class="pick"><span>Rank</span><select value=${query.rank} onChange=${pick("rank")}>
      <option value="">all</option>${ranks.map((rank) => html`<option key=${rank}
        value=${String(rank)}>${rank}</option>`)}</select></label>
    <${RangePick} names=${names} range=${query.range} onchange=${(range) => change({ range })} />
    ${Object.keys(EXACT).filter((key) => key !== "category" && query[key]).map((key) =>
      html`<button type="button" key=${key} class="small" title="Show all"
        onClick=${() => change({ [key]: "" })}>${EXACT_LABELS[key]}: ${query[key]} ×</button>`)}
    <${ExportLinks} links=${links} />
  </div>`;
}

/** "1,204 of 10,000 kernels · 12.3 ms, 45.6 % of their time". */
function Totals({ frame, rows }) {
  const all = Array.from({ length: frame.length }, (_, i) => i);
  const total = sum_rows(frame, "total_ns", all);
  const own = sum_rows(frame, "total_ns", rows);
  const some = rows.length < frame.length;
  return html`<p class="table-foot" role="status">${some ? `${count(rows.length)} of ` : ""}${
    plural(frame.length, "kernel")} · ${time_text(own)}${
    some && total > 0 ? `, ${percent(own / total)} of all kernel time` : " in total"}</p>`;
}

function KernelTable({ run, reply, query, change, ranks, names, links, whole }) {
  const [opened, set_opened] = useState(-1);
  const frame = useMemo(() => frame_of(reply), [reply]);
  const { q, sort } = query;
  const exact = exact_of(query);
  const exact_key = Object.values(exact).join("|");
  const found = useMemo(() => filter_rows(frame, { q, text: TEXT, equals: exact }),
    [frame, q, exact_key]);
  const rows = useMemo(() => sort_rows(frame, found, sort), [frame, found, sort]);
  useEffect(() => set_opened(-1), [frame]);
  useEffect(() => learn_labels(frame), [frame]);
  return html`<${FilterBar} frame=${frame} query=${query} change=${change} ranks=${ranks}
      names=${names} links=${links} />
    <${Table} caption="Kernels" frame=${frame} rows=${rows} sort=${sort} opened=${opened}
      columns=${columns_of(frame, { run, rank: query.rank, range: query.range, opened, set_opened,
        whole, of_rank: query.rank !== "" || query.range !== "" || ranks.length < 2 })}
      onsort=${(next) => change({ sort: next })} view="${q}|${exact_key}"
      detail=${(row) => html`<${KernelDetail} frame=${frame} row=${row} whole=${whole}
        href=${with_range(kernel_path(run, value_at(frame, "name", row), query.rank),
          query.range)} />`}
      empty=${html`<p class="empty-line">${frame.length === 0
        ? "No work on a device was recorded."
        : html`No kernel matches. <button type="button" class="link"
          onClick=${() => change({ q: "", ...EXACT })}>Show all</button>`}</p>`} />
    <${Totals} frame=${frame} rows=${rows} />`;
}

function note_of({ rank, range }, ranks) {
  if (range !== "") return within(range, rank);
  if (rank !== "") return `rank ${rank}`;
  return ranks.length > 1 ? "totals over all ranks; percentiles: the lower median of the ranks'"
    : "";
}

const use_kernels = (run, rank, range = "") =>
  use_api(address(run_api(run, "kernels"), { rank, range, format: "columns" }));

function AllKernels({ run, whole }) {
  const [query, change] = use_query(DEFAULTS);
  const path = run_api(run, "kernels");
  const resource = use_kernels(run, query.rank, query.range);
  const ranks = use_ranks(run);
  const names = use_range_names(run, query.rank);
  const href = (format) => api_href(address(path, { ...query, format, limit: "all" }));
  const links = table_links(href);
  return html`<${Card} title="Kernels" flush=${true}
      note=${note_of(query, ranks)}>
    <${Loaded} resource=${resource}>${(reply) => html`<${KernelTable} run=${run} reply=${reply}
      query=${query} whole=${whole}
      change=${change} ranks=${ranks} names=${names} links=${links} />`}<//><//>`;
}

function Grouped({ run, rank, range, by }) {
  const resource = use_kernels(run, rank, range);
  return html`<${Loaded} resource=${resource}>${(reply) => html`<${KernelGroups}
    frame=${frame_of(reply)} run=${run} rank=${rank} range=${range} by=${by} />`}<//>`;
}

function Content({ run, data }) {
  const { summary, run: about } = data;
  const profiles = use_kernel_profiles(run, about.evidence > 0);
  const [{ group, rank, range }, change] = use_query({ group: "", rank: "", range: "" });
  const by_category = group === "category";
  if (!summary) {
    return html`<${Lead} text=${profiles_lead(profiles.rows)} />
      <${KernelProfiles} run=${run} table=${profiles} /><${NoResult} run=${about}
        page="kernels" />`;
  }
  const grouped = by_category ? html`<${Categories} run=${run} rank=${rank} />`
    : html`<${Grouped} run=${run} rank=${rank} range=${range} by=${group} />`;
  return html`<div class="view-bar"><${Segments} label="Group by" value=${group} options=${GROUPS}
      onchange=${(next) => change({ group: next })} /></div>
    ${by_category || Object.hasOwn(KERNEL_GROUPS, group)
      ? html`<${OfRank} run=${run} summary=${summary} rank=${rank}
          onchange=${(next) => change({ rank: next })}><${RangeBar} run=${run}
          rank=${rank} />${grouped}<//>`
      : html`<${AllKernels} run=${run} whole=${is_whole(data)} />
        <${KernelProfiles} run=${run} table=${profiles} />`}`;
}

export default function Kernels({ route }) {
  return html`<${RunFrame} route=${route} title="Kernels">${(data, run) =>
    html`<${Content} run=${run} data=${data} />`}<//>`;
}
