// SPDX-License-Identifier: Apache-2.0
// Memory snapshots of the run: over time, what held memory at the peak, why a request failed, and
// what grows.
import { html, useMemo } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { bytes, count, percent, plural } from "../../base/format.mjs";
import { sum_rows, value_at } from "../../base/frame.mjs";
import { value_and_unit } from "../../base/values.mjs";
import { MemoryLine } from "../../charts/memory_line.mjs";
import { PlainTable } from "../../charts/plain_table.mjs";
import { ShareBar } from "../../charts/share_bar.mjs";
import { Card, ExportLinks, Figure, Lead, Notice } from "../../widgets/widgets.mjs";
import { Pick } from "../../widgets/pick.mjs";
import { RankTable } from "../run/rank_table.mjs";
import { use_table } from "../run/run_table.mjs";
import { by_category, category_label, device_key, growth_verdict, of_device, oom_text,
  snapshot_caption, snapshot_choices, snapshot_lead } from "./snapshot_model.mjs";

const ALL = { limit: "all" };

function Bytes({ label, value, help, children }) {
  const [text, unit] = value_and_unit(value, "bytes");
  return html`<${Figure} label=${label} help=${help} value=${text} unit=${unit}>${children}<//>`;
}

function Figures({ row, help }) {
  const growth = growth_verdict(row);
  return html`<dl class="kpis">
    <${Bytes} label="Peak allocated" value=${row.peak_allocated_bytes}
      help=${help.peak_allocated_bytes}>${
      row.begin_bytes !== null && `${bytes(row.begin_bytes)} from before the recording`}<//>
    <${Bytes} label="Peak reserved" value=${row.peak_reserved_bytes}
      help=${help.peak_reserved_bytes}>${row.end_reserved_bytes !== null
        && `${bytes(row.end_reserved_bytes)} at the end`}<//>
    <${Bytes} label="Fragmentation at the end" value=${row.fragmentation_bytes}
      help=${help.fragmentation_bytes}>${row.fragmentation_share !== null
        && `${percent(row.fragmentation_share)} of reserved`}<//>
    <${Bytes} label="Largest free block" value=${row.largest_free_bytes}
      help=${help.largest_free_bytes}>${row.free_blocks !== null
        && `${count(row.free_blocks)} free; empty_cache() gives back ${
          bytes(row.releasable_bytes)}`}<//>
    <${Figure} label="Never freed" help=${help.growth_bytes} value=${growth.word}
      tone=${growth.tone}>${growth.text}<//>
  </dl>`;
}

const category_cell = (row, frame) => category_label(value_at(frame, "category", row));

function calls_cell(row, frame) {
  const calls = value_at(frame, "calls", row);
  if (calls) return calls;
  const origin = value_at(frame, "origin", row);
  return html`<span class="faint">${origin === "rest" ? "all others"
    : origin === "before" ? "before the recording" : "without a call"}</span>`;
}

const HOLDERS = {
  id: "holders",
  sort: "-bytes",
  search: ["calls", "category"],
  limit: 15,
  foot: (frame, rows) => `${bytes(sum_rows(frame, "bytes", rows))}, ${
    percent(sum_rows(frame, "share", rows))} of what was allocated`,
  columns: [
    { key: "calls", label: "Allocated by", className: "mono clip", width_px: 420,
      cell: calls_cell },
    { key: "category", label: "For", cell: category_cell },
    { key: "blocks", label: "Blocks", priority: 3 },
    { key: "bytes", label: "Size" },
    { key: "share", label: "Share", kind: "text", className: "share-column", width_px: 160,
      priority: 2, cell: (row, frame) =>
        html`<${ShareBar} share=${value_at(frame, "share", row)} />` },
  ],
};

const GROWTH = {
  id: "growth",
  caption: "Never freed",
  sort: "-per_step",
  limit: 10,
  columns: [
    { key: "calls", label: "Allocated by", className: "mono clip", width_px: 420 },
    { key: "category", label: "For", cell: category_cell, priority: 3 },
    { key: "per_step", label: "Each step" },
    { key: "bytes", label: "Together", priority: 2 },
    { key: "blocks", label: "Blocks", priority: 4 },
    { key: "steps", label: "In steps", priority: 3 },
    { key: "of_steps", label: "Of", priority: 4 },
  ],
};

function Categories({ holders, moment }) {
  const rows = by_category(holders, moment);
  return html`<${PlainTable} label="By category" head=${["For", "Size", "Share"]}
    rows=${rows.map(({ label, bytes: held, share }) => [label, bytes(held), percent(share)])} />`;
}

function view_of(row, moment, caption) {
  const keep = (frame, at) => value_at(frame, "moment", at) === moment
    && device_key({ file: value_at(frame, "file", at), device: value_at(frame, "device", at) })
      === device_key(row);
  return { ...HOLDERS, caption, id: `holders_${moment}`, keep };
}

function Holders({ table, row, moment, title }) {
  const view = useMemo(() => view_of(row, moment, title), [row, moment, title]);
  const own = useMemo(() => of_device(table.rows, row), [table.rows, row]);
  if (!own.some((one) => one.moment === moment)) return null;
  return html`<${Card} title=${title}
      note="by the calls that allocated it; the rows sum to all of it" flush=${true}
      actions=${html`<${ExportLinks} links=${table.links} />`}>
    <${Categories} holders=${own} moment=${moment} />
    <${RankTable} frame=${table.frame} view=${view} /><//>`;
}

function Ooms({ ooms, holders }) {
  if (ooms.length === 0) return null;
  const last = ooms.at(-1);
  return html`<${Notice} kind="warning" title=${`Out of memory: ${
    plural(ooms.length, "request")} failed`}>
    <p>${ooms.length > 1 && "The last one: "}${oom_text(last, holders)}</p>
    ${last.calls && html`<p>Requested by <span class="mono">${last.calls}</span></p>`}<//>`;
}

function Growth({ table, row }) {
  const view = useMemo(() => ({ ...GROWTH, keep: (frame, at) =>
    device_key({ file: value_at(frame, "file", at), device: value_at(frame, "device", at) })
      === device_key(row) }), [row]);
  if (of_device(table.rows, row).length === 0) return null;
  return html`<${Card} title="Never freed" flush=${true}
      note="allocated throughout the steps and still there at the end"
      actions=${html`<${ExportLinks} links=${table.links} />`}>
    <${RankTable} frame=${table.frame} view=${view} /><//>`;
}

function Device({ run, row, pick, links, help }) {
  const series = use_table(run, "snapshot_series", { ...ALL, file: row.file,
    device: String(row.device) });
  const holders = use_table(run, "snapshot_holders", ALL);
  const growth = use_table(run, "snapshot_growth", ALL);
  const ooms = use_table(run, "snapshot_ooms", ALL);
  const own = useMemo(() => of_device(ooms.rows, row), [ooms.rows, row]);
  return html`<${Card} title="Memory snapshot" note=${row.file}
      actions=${html`<${ExportLinks} links=${links} />`}>
      <${Ooms} ooms=${own} holders=${of_device(holders.rows, row)} />
      <${Figures} row=${row} help=${help} />
      ${series.rows.length > 1
        ? html`<${MemoryLine} points=${series.rows} capacity_bytes=${null} actions=${pick}
            peak_label=${`peak ${bytes(row.peak_allocated_bytes)}`}
            caption=${snapshot_caption(row)} />`
        : pick}<//>
    <${Holders} table=${holders} row=${row} moment="peak"
      title="Held at the peak of the snapshot" />
    <${Holders} table=${holders} row=${row} moment="oom" title="Held when memory ran out" />
    <${Growth} table=${growth} row=${row} />`;
}

/**
 * Nothing without a snapshot.
 * @param {{run: string, rank?: string, alone?: boolean}} props alone: nothing above says how much
 *   memory is in use
 */
export function Snapshots({ run, rank = "", alone = false }) {
  const { rows, frame, links } = use_table(run, "snapshots", ALL);
  const [query, change] = use_query({ snapshot: "" });
  const choices = useMemo(() => snapshot_choices(rows), [rows]);
  if (choices.length === 0) return null;
  const chosen = choices.find(({ key }) => key === query.snapshot)
    ?? choices.find(({ row }) => String(row.rank) === rank) ?? choices[0];
  const pick = html`<${Pick} label="Snapshot" choices=${choices} chosen=${chosen}
    onchange=${(snapshot) => change({ snapshot })} />`;
  return html`${alone && html`<${Lead} text=${snapshot_lead(chosen.row)} />`}
    <${Device} key=${chosen.key} run=${run} row=${chosen.row} pick=${pick}
    links=${links} help=${frame.help} />`;
}
