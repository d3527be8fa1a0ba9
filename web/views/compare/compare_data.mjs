// SPDX-License-Identifier: Apache-2.0
// The compare page's query, and the API's tables for it.
import { useEffect, useMemo } from "../../base/ui.mjs";
import { api_href, ask_early, table_links, use_api } from "../../base/api.mjs";
import { use_query } from "../../base/router.mjs";
import { address } from "../../base/address.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";

const DEFAULTS = { base: "", cand: [], per: "step", rank: "headline", show: "1" };

/** The page's own part of the query; its sections have theirs. */
export const use_compare_query = () => use_query(DEFAULTS);

/** Parameters for the API, also without defaults. */
const params_of = ({ base, cand, per, rank }) => ({ base, cand,
  per: per === DEFAULTS.per ? null : per, rank: rank === DEFAULTS.rank ? null : rank });

/** The address below /api/v1 of a comparison's reply. */
export function compare_api(query, table = "", more = {}) {
  return address(`/compare${table && `/${table}`}`, { ...params_of(query), ...more });
}

/** All tables of a comparison as a spreadsheet. */
export const workbook_href = (query) => api_href(compare_api(query, "workbook"));

/** Which candidate is shown in detail, from 0. */
export function chosen_of({ cand, show }) {
  const at = Number.parseInt(show, 10) - 1;
  return at >= 0 && at < cand.length ? at : 0;
}

/** The query for the chosen candidate only: its detail takes no longer because of the others. */
export const of_chosen = (query) => ({ ...query, cand: query.cand.slice(chosen_of(query),
  chosen_of(query) + 1) });

const table_path = (query, table, more) =>
  compare_api(query, table, { ...more, limit: "all", format: "columns" });

/** The levels of the waterfall that are shown at first. */
export const TOP_LEVELS = ["bar", "category"];

/** What the tree of modules shows: the table has more. */
export const MODULE_FIELDS = { fields: "path,depth,base_ns,cand_ns,delta_ns,delta_self_ns,"
  + "base_calls,cand_calls,base_path,cand_path" };

/** Without the programs and the candidate's kernels, which an opened row asks for. */
export const PARITY_FIELDS = { fields: "waterfall,op,dims,types,base_kernel,base_ns,cand_ns,"
  + "delta_ns,base_calls,cand_calls,base_roofline_ns,cand_roofline_ns,base_peak_share,"
  + "cand_peak_share,hardware_ratio,calls_ns,hardware_ns,software_ns,unattributed_ns,"
  + "shortfall_ns,behind,bound,note,no_benchmark" };

// In the order in which a reader meets them.
const EARLY = [["waterfall", { level: TOP_LEVELS }], ["waterfall", { level: "op" }], ["runs"],
  ["modules", MODULE_FIELDS], ["parity", PARITY_FIELDS],
  ["collectives"], ["ranks"], ["memory"], ["findings"]];

/** Asks for the tables of a comparison while it is itself on its way. @param {boolean} ready */
export function use_early_tables(query, ready) {
  useEffect(() => {
    if (!ready) return;
    const one = of_chosen(query);
    ask_early(EARLY.map(([table, more]) =>
      table_path(table === "runs" ? query : one, table, more)));
  }, [ready]);
}

/**
 * A whole table of a comparison; its links have all columns.
 * @param {any} query @param {string} table @param {Record<string, any>} [more] filters
 * @param {boolean} [wanted] whether to fetch it at all
 */
export function use_compare_table(query, table, more = {}, wanted = true) {
  const resource = use_api(wanted ? table_path(query, table, more) : null);
  const frame = useMemo(() => frame_of(resource.data ?? []), [resource.data]);
  const rows = useMemo(() => rows_of(frame), [frame]);
  const { fields, ...filters } = more;
  const href = (format) => api_href(compare_api(query, table, { ...filters, format }));
  return { resource, frame, rows, links: table_links(href) };
}
