// SPDX-License-Identifier: Apache-2.0
// The answer: what the candidate gains and what it loses, the three largest each, and why.
import { html } from "../../base/ui.mjs";
import { kernel_path, operator_path } from "../../base/address.mjs";
import { percent, sentence, time_text, typeset } from "../../base/format.mjs";
import { use_kernel_label } from "../../base/kernel_labels.mjs";
import { are_whole } from "./verdict_model.mjs";
import { reason_figures, reason_place, reason_shapes, reason_sides, reason_title }
  from "./reason_model.mjs";

const MARKS = { gains: ["▼", "better"], losses: ["▲", "worse"] };

/** If the work differs, nothing is faster or slower. */
const words_of = (key, { same_work }) => (same_work === false
  ? { gains: "Shorter by", losses: "Longer by" }
  : { gains: "Faster by", losses: "Slower by" })[key];

/** Links to the page of what made the difference, in the first run of each side. */
function Pages({ row, sides }) {
  const links = [["base", row.base_kernel, sides[0]], ["candidate", row.cand_kernel, sides[1]]]
    .filter(([, kernel, run]) => kernel && run);
  if (links.length === 0) return null;
  const is_op = ["operator", "shape"].includes(row.kind) && row.title.includes("::");
  const op = is_op && sides[1] && operator_path(sides[1], row.title);
  return html`<span class="reason-pages">
    ${op && html`<a href=${op}>operator</a>`}
    ${links.map(([side, kernel, run]) => html`<a key=${side} href=${kernel_path(run, kernel)}
      title=${kernel}>${side}’s kernel</a>`)}</span>`;
}

function Reason({ row, tone, mark, go, sides }) {
  const title = reason_title(row, use_kernel_label(row.title));
  const shapes = reason_shapes(row);
  return html`<li class="reason">
    <p class="reason-head">
      <button type="button" class="link reason-title" title=${row.title}
        onClick=${() => go(reason_place(row))}>${title}</button>
      ${shapes && html`<span class="reason-shapes" title=${shapes}>${shapes}</span>`}
      <span class="reason-figures">${reason_figures(row).map((text) =>
        html`<span key=${text}>${text}</span>`)}</span>
      <span class="reason-delta ${tone}"><span aria-hidden="true">${mark} </span>${
        time_text(Math.abs(row.delta_ns))}</span>
      <span class="reason-share">${percent(row.gross_share)}</span></p>
    <span class="reason-bar" aria-hidden="true"><span class="delta-bar ${tone}"
      style=${{ width: `${100 * Math.min(1, row.gross_share ?? 0)}%` }}></span></span>
    <p class="reason-why">${typeset(sentence(row.why))} <${Pages} row=${row} sides=${sides} />
    </p></li>`;
}

/**
 * @param {{reasons: any[], summary: any, go: (place: any) => void, runs: string[]}} props
 * `go` opens a place of the waterfall; `runs` are the first ones of base and candidate
 */
export function Reasons({ reasons, summary, go, runs }) {
  const sides = reason_sides(reasons, summary);
  if (sides.length === 0) {
    return html`<p>No part of the ${are_whole(summary) ? "recording" : "step"} changed by ${
      time_text(summary.relevant_from_ns ?? 0, 2)} or more.</p>`;
  }
  return html`<div class="reasons">${sides.map(({ key, gross_ns, rows }) => {
    const [mark, tone] = MARKS[key];
    return html`<div key=${key} class="reason-side">
      <h2 class="reason-sum">
        <span>${words_of(key, summary)} <strong>${time_text(Math.abs(gross_ns))}</strong></span>
        <span class="faint">share of all ${key}</span></h2>
      <ol>${rows.map((row) => html`<${Reason} key=${row.waterfall + row.title} row=${row}
        tone=${tone} mark=${mark} go=${go} sides=${runs} />`)}</ol></div>`;
  })}</div>`;
}
