// SPDX-License-Identifier: Apache-2.0
// The compare page's query, and the API's tables for it.
import { useEffect, useMemo, useState } from "../../base/ui.mjs";
import { api_get, api_href, ask_early, is_named_early, kept_run, table_links, use_api }
  from "../../base/api.mjs";
import { use_query } from "../../base/router.mjs";
import { address } from "../../base/address.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { is_series, keys_of, traces_of } from "./side_model.mjs";

const DEFAULTS = { base: "", cand: [], per: "step", rank: "headline", show: "1" };

/** The page's own part of the query; its sections have theirs. */
export const use_compare_query = () => use_query(DEFAULTS);

/** Parameters for the API, also without defaults. */
const params_of = ({ base, cand, per, rank }) => ({ base, cand,
  per: per === DEFAULTS.per ? null : per, rank: rank === DEFAULTS.rank ? null : rank });

/** The address below /api/v1 of a comparison's reply. */
function compare_api(query, table = "", more = {}) {
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

/** What is known without asking: the server names a comparison only of runs that have traces. */
const known_traces = (query, keys) => (is_named_early(compare_api(query))
  || keys.every((key) => kept_run(key)?.received > 0) ? "all" : "");

/**
 * Which of the runs have traces; "" until that is known. Where one has none, there is no comparison
 * to ask for.
 * @param {boolean} ready
 * @returns {ReturnType<typeof traces_of>}
 */
function use_traces(query, ready) {
  const keys = [query.base, ...query.cand].filter((side) => !is_series(side)).flatMap(keys_of);
  const all = keys.join();
  const [found, set_found] = useState({ all: "", traces: "" });
  const known = useMemo(() => ready && known_traces(query, keys), [ready, all]);
  useEffect(() => {
    if (!ready || known) return undefined;
    const stop = new AbortController();
    const ask = (key) => api_get(`/runs/${encodeURIComponent(key)}`, stop.signal)
      .then(({ data }) => data, () => null); // the comparison says what is wrong with it
    Promise.all(keys.map(ask)).then((runs) => {
      if (!stop.signal.aborted) set_found({ all, traces: traces_of(runs) });
    });
    return () => stop.abort();
  }, [ready, all, known]);
  return known || (found.all === all ? found.traces : "");
}

/** Asks for the tables of a comparison while it is itself on its way. @param {boolean} ready */
function use_early_tables(query, ready) {
  useEffect(() => {
    if (!ready) return;
    const one = of_chosen(query);
    ask_early(EARLY.map(([table, more]) =>
      table_path(table === "runs" ? query : one, table, more)));
  }, [ready]);
}

/**
 * The comparison, and whether there is none because a run has only other files, such as a log.
 * @param {boolean} ready whether both sides are chosen
 */
export function use_comparison(query, ready) {
  const traces = use_traces(query, ready);
  const asks = ready && (traces === "all" || traces === "some");
  const asked = use_api(asks ? compare_api(query) : null);
  use_early_tables(query, ready && traces === "all");
  return {
    resource: { ...asked, loading: asked.loading || traces === "" },
    lacks_trace: traces === "other files" || asked.problem?.type?.endsWith("/no-trace") === true,
  };
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
