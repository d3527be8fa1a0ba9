// SPDX-License-Identifier: Apache-2.0
// Pipeline stages as bars of one interval: compute, and the bubble next to the ideal one.
import { html } from "../base/ui.mjs";
import { percent, plural, time_text } from "../base/format.mjs";
import { ChartFigure } from "./figure.mjs";
import { PlainTable } from "./plain_table.mjs";

/** @typedef {{stage: number, ranks: string, micro_batches: number, interval_ns: number,
 *             compute_ns: number, bubble_ns: number, bubble_share: number,
 *             ideal_share: number|null}} Stage */

const TOLD_FROM = 0.005; // of the interval, by which a stage is worse than the mean

const stage_text = ({ stage, bubble_share, bubble_ns, ideal_share }) => `Stage ${stage}: bubble ${
  percent(bubble_share)}, ${time_text(bubble_ns)} per step${
  ideal_share === null ? "" : `; ideal ${percent(ideal_share)}`}`;

/** "Bubble 32.3 % on average, ideal 27.3 %; most on stage 2". @param {Stage[]} stages */
function pipeline_sentence(stages) {
  const mean = stages.reduce((sum, { bubble_share }) => sum + bubble_share, 0) / stages.length;
  const most = stages.reduce((a, b) => (b.bubble_share > a.bubble_share ? b : a));
  const ideal = most.ideal_share === null ? "" : `, ideal ${percent(most.ideal_share)}`;
  const batches = most.micro_batches ? `, ${plural(most.micro_batches, "micro-batch",
    "micro-batches")} per step` : "";
  const worst = most.bubble_share - mean < TOLD_FROM ? ""
    : `; worst ${percent(most.bubble_share)} on stage ${most.stage}`;
  return `${plural(stages.length, "stage")}${batches}: bubble ${percent(mean)} on average${ideal}${
    worst}`;
}

function StageBar({ row }) {
  const words = stage_text(row);
  return html`<li class="stage" title=${words}>
    <span class="stage-name">Stage ${row.stage} <span class="faint">rank${
      /[-,]/.test(row.ranks ?? "") ? "s" : ""} ${row.ranks}</span></span>
    <span class="stage-track" role="img" aria-label=${words}>
      <span class="bar-gemm" style=${{ flexGrow: row.compute_ns }}></span>
      <span class="bar-idle_other" style=${{ flexGrow: row.bubble_ns }}></span>
      ${row.ideal_share !== null && html`<span class="stage-ideal"
        style=${{ left: `${100 * (1 - row.ideal_share)}%` }}></span>`}</span>
    <span class="stage-value">${percent(row.bubble_share)}</span></li>`;
}

function stages_table(stages) {
  return html`<${PlainTable} label="Stages of the pipeline"
    head=${["Stage", "Ranks", "Interval", "Computes", "Bubble", "Of interval", "Ideal"]}
    rows=${stages.map((row) => [row.stage, row.ranks, time_text(row.interval_ns),
      time_text(row.compute_ns), time_text(row.bubble_ns), percent(row.bubble_share),
      percent(row.ideal_share)])} />`;
}

/** @param {{stages: Stage[]}} props at least one */
export function PipelineStages({ stages }) {
  const legend = html`<ul class="legend"><li><span class="swatch bar-gemm"></span>Compute</li>
    <li><span class="swatch bar-idle_other"></span>Bubble</li>
    <li><span class="stage-ideal-key"></span>Start of the ideal bubble</li></ul>`;
  return html`<${ChartFigure} caption=${pipeline_sentence(stages)} legend=${legend}
      table=${() => stages_table(stages)}>
    <ul class="stages">${stages.map((row) => html`<${StageBar} key=${row.stage} row=${row} />`)}
    </ul><//>`;
}
