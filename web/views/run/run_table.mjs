// SPDX-License-Identifier: Apache-2.0
// A whole table of a run: its resource, its rows, and links to the same as data.
import { useMemo } from "../../base/ui.mjs";
import { api_href, table_links, use_api } from "../../base/api.mjs";
import { address } from "../../base/address.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { run_api } from "./run_frame.mjs";

/**
 * @param {string} run @param {string} name of the table @param {Record<string, string>} [params]
 * @param {boolean} [wanted] whether to fetch it at all
 */
export function use_table(run, name, params = {}, wanted = true) {
  const path = run_api(run, name);
  const resource = use_api(wanted ? address(path, { ...params, format: "columns" }) : null);
  const frame = useMemo(() => frame_of(resource.data), [resource.data]);
  const rows = useMemo(() => rows_of(frame), [frame]);
  const href = (format) => api_href(address(path, { format, limit: "all" }));
  return { resource, frame, rows, links: table_links(href) };
}

/** The first of some tables that has not arrived, else the last: what a page waits for. */
export function awaited(tables) {
  return (tables.find(({ resource }) => resource.data === null) ?? tables.at(-1)).resource;
}
