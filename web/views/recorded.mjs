// SPDX-License-Identifier: Apache-2.0
// What the recording of one rank holds and lacks, what that would tell, and how to get it.
import { html, useMemo } from "../ui.mjs";
import { capital, percent, sentence } from "../format.mjs";
import { frame_of, rows_of } from "../frame.mjs";
import { label_of } from "../values.mjs";
import { Card, ExportLinks, Loaded } from "../widgets.mjs";
import { Table } from "../table.mjs";
import { GUIDE } from "./lacks.mjs";
import { rank_table_links, use_rank_table } from "./rank_data.mjs";
import { by_state, recording_sentence } from "./recording_model.mjs";

const TONE = { present: "good", partial: "warn", missing: "neutral" };

function columns_of(rows) {
  return [
    { key: "item", label: "What", className: "cause-cell told", cell: (row) => html`<span>${
      label_of(rows[row].item ?? "")}</span><span class="cell-help">${
      sentence(rows[row].shows)}</span>` },
    { key: "state", label: "State", cell: (row) => html`<span
      class="status status-${TONE[rows[row].state] ?? "neutral"}">${rows[row].state}</span>` },
    { key: "coverage", label: "Covers", kind: "share", priority: 2,
      cell: (row) => percent(rows[row].coverage) },
    { key: "how", label: "How to record it", className: "wrap", cell: (row) =>
      (rows[row].state === "present" ? html`<span class="faint">recorded</span>`
        : rows[row].how || "–") },
    { key: "cost", label: "Cost", className: "wrap", priority: 3,
      cell: (row) => capital(rows[row].cost ?? "") || "–" },
  ];
}

/** @param {{run: string, rank: string}} props */
export function RecordedCard({ run, rank }) {
  const resource = use_rank_table(run, "recording", rank);
  const rows = useMemo(() => by_state(rows_of(frame_of(resource.data))), [resource.data]);
  const frame = useMemo(() => ({ ...frame_of(rows), help: frame_of(resource.data).help }),
    [rows, resource.data]);
  return html`<${Card} title="Recording" flush=${true}
      note=${rows.length > 0 ? recording_sentence(rows) : ""}
      actions=${html`<${ExportLinks} links=${rank_table_links(run, "recording", rank)} />`}>
    <${Loaded} resource=${resource}>${() => html`<${Table} caption="Recording" frame=${frame}
      columns=${columns_of(rows)}
      empty=${html`<p class="empty-line">Nothing is known of it yet.</p>`} />
      <p class="table-foot"><a href=${GUIDE}>How to record a trace that tells more</a></p>`}<//>
  <//>`;
}
