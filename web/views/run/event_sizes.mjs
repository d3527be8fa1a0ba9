// SPDX-License-Identifier: Apache-2.0
// How large events become in each format, beside the links to them.
import { address, has_server } from "../../base/address.mjs";
import { api_href, use_api } from "../../base/api.mjs";
import { run_api } from "./run_frame.mjs";
import { size_text } from "./size_model.mjs";

const FORMATS = [["perfetto", "Perfetto"], ["chrome", "Chrome JSON"], ["paraver", "Paraver"],
  ["arrow", "Arrow"], ["parquet", "Parquet"]];

/**
 * Links for ExportLinks to events in every format that takes such a request.
 * @param {string} run @param {Record<string, any>} what ranks, window and lanes
 * @param {Record<string, any>|null} settled the same once it stays: sizes are asked for that
 */
export function use_event_links(run, what, settled = what) {
  const asks = has_server && settled;
  const { data } = use_api(asks ? address(run_api(run, "events/sizes"), settled) : null);
  const is_whole = what.to_ns === undefined;
  const size_of = (format) => size_text(data?.formats.find((one) => one.format === format));
  return (has_server ? FORMATS : []).filter(([format]) => is_whole || format !== "paraver")
    .map(([format, text]) => [text,
      api_href(address(run_api(run, "events"), { format, ...what })), size_of(format)]);
}
