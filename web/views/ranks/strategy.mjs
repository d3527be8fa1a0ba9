// SPDX-License-Identifier: Apache-2.0
// How the job is split over its ranks, how well they are used, and the pipeline's stages.
import { html } from "../../base/ui.mjs";
import { capital, count } from "../../base/format.mjs";
import { frame_of } from "../../base/frame.mjs";
import { label_of, value_and_unit } from "../../base/values.mjs";
import { PipelineStages } from "../../charts/pipeline_stages.mjs";
import { Card, Figure } from "../../widgets/widgets.mjs";
import { Table } from "../../widgets/table.mjs";
import { by_product } from "./efficiency_model.mjs";

/** Factors of parallel efficiency. @param {{rows: any[]}} props of the table efficiency */
export function Efficiency({ rows }) {
  const shown = by_product(rows);
  if (shown.length === 0) return null;
  return html`<dl class="kpis" aria-label="Efficiency">${shown.map(({ metric, value, unit, help,
    role }) => {
    const [figure, written_unit] = value_and_unit(value, unit);
    return html`<${Figure} key=${metric} label=${label_of(metric)} value=${figure}
      unit=${written_unit} help=${help}>${role}<//>`;
  })}</dl>`;
}

const COLUMNS = [
  { key: "dimension", label: "Kind", cell: (row, frame) =>
    capital(label_of(frame.columns.dimension[row] ?? "–")) },
  { key: "variant", label: "How", priority: 2 },
  { key: "degree", label: "Degree", kind: "count" },
  { key: "groups", label: "Groups", kind: "count", priority: 4 },
  { key: "evidence", label: "Evidence", className: "wrap" },
  { key: "confidence", label: "Confidence", priority: 2 },
];

/** @param {{rows: any[]}} props of the table strategy */
export function Strategy({ rows }) {
  const overall = rows.find(({ dimension }) => dimension === "overall");
  const rest = rows.filter(({ dimension }) => dimension !== "overall");
  if (rows.length === 0) return null;
  return html`<${Card} title="Parallelism" flush=${true}>
    ${overall && html`<p class="strategy-words">${overall.variant ?? overall.evidence}${
      overall.degree > 1 && html` <span class="faint">over ${count(overall.degree)} ranks</span>`}
    </p>`}
    ${rest.length > 0 && html`<${Table} caption="Parallelism" frame=${frame_of(rest)}
      columns=${COLUMNS} />`}<//>`;
}

/** @param {{rows: any[]}} props of the table pipeline */
export function Pipeline({ rows }) {
  if (rows.length === 0) return null;
  return html`<${Card} title="Pipeline"><${PipelineStages} stages=${rows} /><//>`;
}
