// SPDX-License-Identifier: Apache-2.0
// Tables kept per rank: which rank is meant, how it is chosen, how its table is fetched.
import { html } from "../../base/ui.mjs";
import { api_href, table_links, use_api } from "../../base/api.mjs";
import { use_query } from "../../base/router.mjs";
import { address } from "../../base/address.mjs";
import { plural } from "../../base/format.mjs";
import { Loading, Notice } from "../../widgets/widgets.mjs";
import { run_api } from "./run_frame.mjs";

const use_rank_list = (run) =>
  use_api(address(run_api(run, "ranks"), { fields: "rank", format: "columns" }));

const ranks_of = (reply) => (reply?.columns?.rank ?? []).filter((rank) => rank !== null);

/** Ranks to choose from, in order. @param {string} run @returns {number[]} */
export function use_ranks(run) {
  return ranks_of(use_rank_list(run).data);
}

/** The rank in the address, "" for the typical rank, and what changes it. */
export function use_rank() {
  const [{ rank }, change] = use_query({ rank: "" });
  return [rank, (next) => change({ rank: next })];
}

/**
 * A whole table of one rank.
 * @param {string} run @param {string} name of the table @param {string} rank "" for the typical
 * @param {Record<string, unknown>} [params]
 */
export function use_rank_table(run, name, rank, params = {}) {
  return use_api(address(run_api(run, name), { ...params, rank, format: "columns" }));
}

/** Links to the same rows as data. */
export function rank_table_links(run, name, rank, params = {}) {
  const href = (format) =>
    api_href(address(run_api(run, name), { ...params, rank, format, limit: "all" }));
  return table_links(href);
}

/** Chooses the rank; nothing if there is only one. */
function RankPick({ ranks, summary, rank, onchange, what }) {
  if (ranks.length < 2 && rank === "") return null;
  const headline = summary?.headline_rank;
  const known = headline === null || headline === undefined ? "" : ` (${headline})`;
  const missing = rank !== "" && !ranks.includes(Number(rank));
  return html`<div class="rank-pick">
    <label class="pick"><span>Rank</span><select value=${rank}
        onChange=${(event) => onchange(event.target.value)}>
      <option value="">typical${known}</option>
      ${ranks.map((one) => html`<option key=${one} value=${String(one)}>${one}</option>`)}
      ${missing && html`<option value=${rank}>${rank}</option>`}</select></label>
    <span class="faint">${what}: this rank only.</span>
  </div>`;
}

/**
 * Content about one rank, below its selector; a rank that the run does not have is reported once.
 * @param {{run: string, summary: any, rank: string, onchange: (rank: string) => void,
 *          what?: string, children: any}} props
 */
export function OfRank({ run, summary, rank, onchange, what = "Everything on this page",
  children }) {
  const { data, loading } = use_rank_list(run);
  const ranks = ranks_of(data);
  const is_known = rank === "" || ranks.length === 0 || ranks.includes(Number(rank));
  const content = is_known ? children : html`<${Notice} kind="error" role="alert"
    title="There are no figures for rank ${rank}"><p>The run has figures for ${
      plural(ranks.length, "rank")}: choose one of them, or <button type="button" class="link"
      onClick=${() => onchange("")}>the typical rank</button>.</p><//>`;
  return html`<${RankPick} ranks=${ranks} summary=${summary} rank=${rank} onchange=${onchange}
      what=${what} />
    ${rank !== "" && loading ? html`<${Loading} />` : content}`;
}
