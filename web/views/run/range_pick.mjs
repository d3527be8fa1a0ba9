// SPDX-License-Identifier: Apache-2.0
// Chooses one of the named ranges of a rank; nothing if none was recorded.
import { html } from "../../base/ui.mjs";
import { use_rank_table } from "./rank_data.mjs";
import { RangeLine, use_range } from "./range_line.mjs";

const NAMES = { fields: "name", sort: "-total_owned_ns", limit: "1000" };

/** Distinct names, those with the most device time first. */
export function use_range_names(run, rank) {
  const { data } = use_rank_table(run, "ranges", rank, NAMES);
  return [...new Set((data?.columns?.name ?? []).filter(Boolean))];
}

/** @param {{names: string[], range: string, onchange: (range: string) => void}} props */
export function RangePick({ names, range, onchange }) {
  if (names.length === 0 && range === "") return null;
  return html`<label class="pick range-pick"><span>Range</span><select
      value=${range} onChange=${(event) => onchange(event.target.value)}>
    <option value="">all</option>
    ${range !== "" && !names.includes(range) && html`<option value=${range}>${range}</option>`}
    ${names.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
    </select></label>`;
}

/**
 * The range that filters a page, in its address.
 * @param {{run: string, rank: string, what?: string}} props `what` says what it filters
 */
export function RangeBar({ run, rank, what }) {
  const [range, change] = use_range();
  const names = use_range_names(run, rank);
  if (names.length === 0 && range === "") return null;
  return html`<div class="rank-pick"><${RangePick} names=${names} range=${range}
    onchange=${change} /><${RangeLine} range=${range} what=${what}
    onclear=${() => change("")} /></div>`;
}
