// SPDX-License-Identifier: Apache-2.0
// The single figures of the table `utilization` as key figures, each with its definition.
import { html, useMemo } from "../../base/ui.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { Figure, Help, Lead } from "../../widgets/widgets.mjs";
import { metric_sentence, metric_views } from "./metric_model.mjs";
import { use_rank_table } from "../run/rank_data.mjs";
import { use_range } from "../run/range_line.mjs";
import { range_params } from "../run/range_model.mjs";

/** What share of the peak is reached, in a sentence. @param {{run: string, rank: string}} props */
export function MetricLead({ run, rank }) {
  const [range] = use_range();
  const { data } = use_rank_table(run, "utilization", rank, range_params("utilization", range));
  const text = useMemo(() => metric_sentence(rows_of(frame_of(data))), [data]);
  return html`<${Lead} text=${text} />`;
}

/**
 * @param {{run: string, rank: string, range: string, children?: any}} props more facts, such as of
 *   the run
 */
export function MetricFigures({ run, rank, range, children }) {
  const { data } = use_rank_table(run, "utilization", rank, range_params("utilization", range));
  const { leading, others } = useMemo(() => metric_views(rows_of(frame_of(data))), [data]);
  return html`${leading.length > 0 && html`<dl class="kpis">${leading.map((view) =>
      html`<${Figure} key=${view.key} label=${view.label} help=${view.help} value=${view.value}
        unit=${view.unit}>${view.more}<//>`)}</dl>`}
    ${data && html`<dl class="facts metric-facts">${others.map((view) => html`<div
      key=${view.key}><dt><${Help} text=${view.help}>${view.label}<//></dt>
      <dd>${`${view.value} ${view.unit}`.trim()}</dd></div>`)}${children}</dl>`}`;
}
