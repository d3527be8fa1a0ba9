// SPDX-License-Identifier: Apache-2.0
// What a plan puts on one GPU, as a bar against the GPU's memory; several stacked vertically.
import { html } from "../base/ui.mjs";
import { bytes, percent } from "../base/format.mjs";
import { ChartFigure } from "./figure.mjs";

const LABEL_FROM = 0.07; // of the full width; narrower segments have no label

/**
 * `part` selects the color.
 * @typedef {{key: string, label: string, part: string, bytes: number}} Piece
 * @typedef {{key: string, label: string, pieces: Piece[], memory_bytes: number,
 *            verdict: {tone: string, text: string}}} Bar
 */

const sum_of = (pieces) => pieces.reduce((sum, piece) => sum + piece.bytes, 0);

function Segment({ piece, scale, total }) {
  const text = `${piece.label}: ${bytes(piece.bytes)}, ${percent(piece.bytes / total)}`;
  return html`<span class="segment bar-${piece.part}" style=${{ flexGrow: piece.bytes }}
      title=${text}>${piece.bytes / scale >= LABEL_FROM && html`
    <span class="segment-name">${piece.label}</span>
    <span class="segment-value">${bytes(piece.bytes)}</span>`}</span>`;
}

function OneBar({ bar, scale }) {
  const total = sum_of(bar.pieces);
  const said = bar.pieces.map(({ label, bytes: n }) => `${label} ${bytes(n)}`).join(", ");
  const mark = { left: `${(100 * bar.memory_bytes) / scale}%` };
  return html`<li><p class="plan-bar-head"><strong>${bar.label}</strong>
      <span>${bytes(total)} of ${bytes(bar.memory_bytes)}</span>
      <span class="status status-${bar.verdict.tone}">${bar.verdict.text}</span></p>
    <div class="plan-bar" role="img" aria-label=${`${bar.label}: ${said}; ${bar.verdict.text}`}>
      <div class="plan-room" style=${{ width: mark.left }}></div>
      <div class="stack" style=${{ width: `${(100 * total) / scale}%` }}>
        ${bar.pieces.map((piece) => html`<${Segment} key=${piece.key} piece=${piece} scale=${scale}
          total=${total} />`)}</div>
      <div class="plan-mark" style=${mark}></div></div></li>`;
}

/**
 * @param {{bars: Bar[], parts: Record<string, {part: string, label: string}>, scale: number,
 *          caption: string, table: () => any}} props `parts` are all possible pieces, in order
 */
export function MemoryBars({ bars, parts, scale, caption, table }) {
  const used = new Set(bars.flatMap(({ pieces }) => pieces.map(({ key }) => key)));
  const keys = Object.entries(parts).filter(([key]) => used.has(key));
  const legend = html`<ul class="legend">${keys.map(([key, { part, label }]) => html`
    <li key=${key}><span class="swatch bar-${part}"></span>${label}</li>`)}
    <li><span class="plan-mark-key"></span>the GPU's memory</li></ul>`;
  return html`<${ChartFigure} caption=${caption} table=${table} legend=${legend}>
    <ul class="plan-bars">${bars.map((bar) => html`<${OneBar} key=${bar.key} bar=${bar}
      scale=${scale} />`)}</ul><//>`;
}
