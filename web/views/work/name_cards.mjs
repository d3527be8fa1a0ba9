// SPDX-License-Identifier: Apache-2.0
// Cards that the pages of kernels and operators share: facts, work against the roofline.
import { html, useMemo } from "../../base/ui.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { count, number, percent, time_text } from "../../base/format.mjs";
import { address, run_path } from "../../base/address.mjs";
import { shapes_text, types_text } from "../../base/shapes_text.mjs";
import { Roofline } from "../../charts/roofline.mjs";
import { roofline_points } from "../../charts/roofline_model.mjs";
import { PlainTable } from "../../charts/plain_table.mjs";
import { Card, Help } from "../../widgets/widgets.mjs";
import { KernelLink, OpLink } from "../../widgets/kernel_text.mjs";
import { use_rank_table } from "../run/rank_data.mjs";
import { fit_time } from "./call_model.mjs";

const MOST_ROWS = 12;

/** The rows of a table, none until they are there. */
export function use_rows_of(run, name, rank, params) {
  const { data } = use_rank_table(run, name, rank, params);
  return useMemo(() => rows_of(frame_of(data)), [data]);
}

/**
 * @param {{row: any, help: Record<string, string>,
 *          facts: [string, string, (v: any) => any][]}} props
 */
export function Facts({ row, help, facts, children }) {
  const shown = facts.filter(([, key]) => row[key] !== null && row[key] !== undefined
    && row[key] !== "");
  return html`<dl class="facts">${shown.map(([label, key, write]) => html`<div key=${key}>
    <dt><${Help} text=${help[key]}>${label}<//></dt><dd>${write(row[key])}</dd></div>`)}${
    children}</dl>`;
}

/** A table that shows its first rows, and how many follow. */
export function FirstRows({ label, head, rows, line, texts }) {
  const rest = rows.length - MOST_ROWS;
  return html`<${PlainTable} label=${label} head=${head} texts=${texts}
      rows=${rows.slice(0, MOST_ROWS).map(line)} />
    ${rest > 0 && html`<p class="table-foot">and ${count(rest)} more with less time</p>`}`;
}

/** Operations and bytes by shape, as points below the roofs. */
export function WorkCard({ run, rank, rows, of_kernel }) {
  const { points } = useMemo(() => roofline_points(rows), [rows]);
  if (rows.length === 0) return null;
  const line = (row) => [of_kernel ? html`<${OpLink} run=${run} name=${row.op} rank=${rank} />`
    : html`<${KernelLink} run=${run} name=${row.kernel} rank=${rank} />`,
    row.problem || shapes_text(row.dims) || "–", row.precision || "–", count(row.calls),
    fit_time(row.median_ns), row.tflops === null ? "–" : `${number(row.tflops)} TFLOP/s`,
    row.tbps === null ? "–" : `${number(row.tbps)} TB/s`, percent(row.efficiency),
    row.bound || "–"];
  return html`<${Card} title="Against the roofline" flush=${true}
      href=${address(run_path(run, "roofline"), { rank })}
      note="efficiency: the shortest possible time divided by the measured">
    ${points.length > 0 && html`<div class="card-chart"><${Roofline} rows=${rows}
      caption="Its shapes with known operations" /></div>`}
    <${FirstRows} label="Work by shape" head=${[of_kernel ? "Operator" : "Kernel", "Problem",
      "Precision", "Calls", "p50", "Speed", "Traffic", "Efficiency", "Bound"]} rows=${rows}
      texts=${3} line=${line} /><//>`;
}

/** Who launched it at which shapes, from the rows of parts. */
export function shape_line({ run, rank, of_kernel, all_ns }) {
  return (row) => [of_kernel
    ? html`<${OpLink} run=${run} name=${row.op} rank=${rank} none="no operator" />`
    : html`<${KernelLink} run=${run} name=${row.kernel} rank=${rank} />`,
    html`<span class="mono">${shapes_text(row.dims) || "–"}</span>`, types_text(row.types) || "–",
    html`<span class="mono cut" title=${row.module}>${row.module || "–"}</span>`,
    count(row.calls), time_text(row.owned_ns), percent(row.owned_ns / (all_ns || 1))];
}
