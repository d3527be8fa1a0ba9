// SPDX-License-Identifier: Apache-2.0
// What the recording of one rank lacks, what that would show and how to get it; and what it has.
import { html, useMemo } from "../../base/ui.mjs";
import { capital, percent, sentence } from "../../base/format.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { label_of } from "../../base/values.mjs";
import { Card, ExportLinks, Help, Loaded } from "../../widgets/widgets.mjs";
import { Table } from "../../widgets/table.mjs";
import { GUIDE } from "../run/lacks.mjs";
import { rank_table_links, use_rank_table } from "../run/rank_data.mjs";
import { by_state, recording_sentence } from "../run/recording_model.mjs";

const TONE = { partial: "warn", missing: "neutral" };

const is_whole = ({ state }) => state === "present";

function columns_of(rows) {
  return [
    { key: "item", label: "Item", className: "cause-cell explained", cell: (row) => html`<span>${
      label_of(rows[row].item ?? "")}</span><span class="cell-help">${
      sentence(rows[row].shows)}</span>${rows[row].how
      && html`<span class="only-narrow below">${rows[row].how}</span>`}` },
    { key: "state", label: "State", cell: (row) => html`<span
      class="status status-${TONE[rows[row].state] ?? "neutral"}">${rows[row].state}</span>` },
    { key: "coverage", label: "Covers", kind: "share", priority: 2,
      cell: (row) => percent(rows[row].coverage) },
    { key: "how", label: "How to record it", className: "wrap", priority: 2,
      cell: (row) => rows[row].how || "–" },
    { key: "cost", label: "Cost", className: "wrap", priority: 4,
      cell: (row) => capital(rows[row].cost ?? "") || "–" },
  ];
}

/** What is there needs no advice: a line of names, each with what it shows. */
function Held({ rows }) {
  if (rows.length === 0) return null;
  return html`<div class="table-foot held"><span class="status status-good">recorded in full</span>
    <ul>${rows.map(({ item, shows }) => html`<li key=${item}><${Help} text=${sentence(shows)}>${
      label_of(item ?? "")}<//></li>`)}</ul></div>`;
}

/** @param {{run: string, rank: string}} props */
export function RecordedCard({ run, rank }) {
  const resource = use_rank_table(run, "recording", rank);
  const all = useMemo(() => frame_of(resource.data), [resource.data]);
  const rows = useMemo(() => by_state(rows_of(all)), [all]);
  const gaps = useMemo(() => rows.filter((row) => !is_whole(row)), [rows]);
  const frame = useMemo(() => ({ ...frame_of(gaps), help: all.help }), [gaps, all]);
  return html`<${Card} title="Recording" flush=${true}
      note=${rows.length > 0 ? recording_sentence(rows) : ""}
      actions=${html`<${ExportLinks} links=${rank_table_links(run, "recording", rank)} />`}>
    <${Loaded} resource=${resource}>${() => html`<${Table} caption="Recording" frame=${frame}
      columns=${columns_of(gaps)} empty=${html`<p class="empty-line">${rows.length > 0
        ? "Nothing is missing." : "Nothing is known yet."}</p>`} />
      <${Held} rows=${rows.filter(is_whole)} />
      <p class="table-foot"><a href=${GUIDE}>How to record a more complete trace</a></p>`}<//>
  <//>`;
}
