// SPDX-License-Identifier: Apache-2.0
// A placeholder for figures that a recording cannot give: what is missing and how to record it.
import { html } from "../../base/ui.mjs";
import { sentence } from "../../base/format.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { use_rank_table } from "./rank_data.mjs";
import { gaps_among } from "./recording_model.mjs";

/** Where recording is explained. */
export const GUIDE = "/docs/recording";

function Gap({ gap }) {
  return html`<li>${sentence(gap.shows)} ${gap.how && html`<span class="lacks-how">To record: ${
    gap.how}</span>`}</li>`;
}

/**
 * @param {{run: string, rank: string, title: string, items: string[], children?: any}} props
 * `items` are those of the table recording that would have given the figures.
 */
export function Lacks({ run, rank, title, items, children }) {
  const { data } = use_rank_table(run, "recording", rank);
  const gaps = gaps_among(rows_of(frame_of(data)), items);
  return html`<div class="lacks">
    <p class="lacks-title">${title}</p>
    ${children}
    ${gaps.length > 0 && html`<ul class="notes">${gaps.map((gap) => html`<${Gap} key=${gap.item}
      gap=${gap} />`)}</ul>`}
    <p><a href=${GUIDE}>How to record it</a></p>
  </div>`;
}
