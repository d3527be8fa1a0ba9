// SPDX-License-Identifier: Apache-2.0
// A step as one horizontal stacked bar: large with figures below it, or small inside a table cell.
import { html } from "../base/ui.mjs";
import { parts_of, total_of } from "../base/parts.mjs";
import { ms, percent, time_in_bar, time_text } from "../base/format.mjs";
import { ChartFigure } from "./figure.mjs";

const LABEL_FROM = 0.06; // narrower segments have no label

/** "GEMM 46.1 %, attention 17.2 %, ...", largest first. */
export function parts_sentence(parts) {
  const total = total_of(parts);
  if (total === 0) return "no time";
  return parts
    .filter(({ ns }) => ns > 0)
    .sort((a, b) => b.ns - a.ns)
    .map(({ part, ns }) => `${part.label} ${percent(ns / total)}`)
    .join(", ");
}

/**
 * A stack without text, for table cells.
 * @param {{row: Record<string, number>, scale_ns?: number, label?: string}} props
 * `scale_ns` is what the full width represents; without it the stack fills the width.
 */
export function MiniStack({ row, scale_ns, label = "" }) {
  const parts = parts_of(row);
  const total = total_of(parts);
  if (total === 0) return html`<span class="faint">–</span>`;
  const text = `${label}${parts_sentence(parts)}`;
  return html`<span class="mini-stack" role="img" aria-label=${text} title=${text}>
    <span class="mini-stack-bars" style=${{ width: `${(100 * total) / (scale_ns || total)}%` }}>
      ${parts.map(({ part, ns }) => ns > 0 && html`<span key=${part.key} class="bar-${part.key}"
        style=${{ flexGrow: ns }}></span>`)}
    </span></span>`;
}

function Segment({ part, ns, total, unit_ns }) {
  const share = ns / total;
  const text = `${part.label}: ${time_text(unit_ns(ns))}, ${percent(share)}`;
  return html`<span class="segment bar-${part.key}" style=${{ flexGrow: ns }} title=${text}>
    ${share >= LABEL_FROM && html`<span class="segment-name">${part.short}</span>`}
    ${share >= LABEL_FROM && html`<span class="segment-value">${time_in_bar(unit_ns(ns))}</span>`}
  </span>`;
}

function Key({ part, ns, total, unit_ns }) {
  const [value, unit] = time_text(unit_ns(ns)).split(" ");
  return html`<li title=${part.help}><span class="swatch bar-${part.key}"></span>
    <span class="key-name">${part.label}</span>
    <span class="key-value">${value}<span class="unit">${unit}</span></span>
    <span class="key-share">${percent(ns / total)}</span></li>`;
}

function PartsTable({ parts, total, unit_ns }) {
  return html`<div class="table-region" role="group" tabindex="0" aria-label="Parts of a step">
    <table><thead><tr><th scope="col">Part</th><th scope="col" class="num">Time
      <span class="unit">ms</span></th><th scope="col" class="num">Share</th>
      <th scope="col">Description</th></tr></thead>
    <tbody>${parts.map(({ part, ns }) => html`<tr key=${part.key}>
      <th scope="row"><span class="swatch bar-${part.key}"></span>${part.label}</th>
      <td class="num">${ms(unit_ns(ns))}</td><td class="num">${percent(ns / total)}</td>
      <td class="wrap faint">${part.help}</td></tr>`)}
      <tr class="sum"><th scope="row">Step</th><td class="num">${ms(unit_ns(total))}</td>
        <td class="num">100.0 %</td><td></td></tr>
    </tbody></table></div>`;
}

/**
 * The large one. The row holds sums over `steps` steps; figures are per step.
 * @param {{row: Record<string, number>, steps: number, caption: string, actions?: any}} props
 */
export function StepStack({ row, steps, caption, actions }) {
  const parts = parts_of(row);
  const total = total_of(parts);
  const unit_ns = (ns) => ns / Math.max(1, steps || 1);
  if (total === 0) return html`<p class="empty-line">No device time was recorded.</p>`;
  const table = () =>
    html`<${PartsTable} parts=${parts} total=${total} unit_ns=${unit_ns} />`;
  return html`<${ChartFigure} caption=${caption} actions=${actions} table=${table}>
    <div class="stack" role="img" aria-label=${parts_sentence(parts)}>
      ${parts.map(({ part, ns }) => ns > 0 && html`<${Segment} key=${part.key} part=${part} ns=${ns}
        total=${total} unit_ns=${unit_ns} />`)}
    </div>
    <ul class="keys">${parts.map(({ part, ns }) => ns > 0 && html`<${Key} key=${part.key}
      part=${part} ns=${ns} total=${total} unit_ns=${unit_ns} />`)}</ul>
  <//>`;
}
