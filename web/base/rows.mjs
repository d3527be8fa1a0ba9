// SPDX-License-Identifier: Apache-2.0
// Tables of the API as rows.
import { api_get, use_api } from "./api.mjs";
import { frame_of, rows_of } from "./frame.mjs";
import { useMemo } from "./ui.mjs";

/** Fetches a table once. @param {string} path @param {AbortSignal} signal */
export async function rows_at(path, signal) {
  const { data } = await api_get(path, signal);
  return rows_of(frame_of(data));
}

/**
 * The rows of a table, none until it has arrived. @param {string|null} path null: no request
 * @param {number} [poll_ms] how long until it is fetched again
 * @returns {{resource: import("./api.mjs").Resource, rows: any[]}}
 */
export function use_rows(path, poll_ms) {
  const resource = use_api(path, poll_ms && (() => poll_ms));
  const rows = useMemo(() => rows_of(frame_of(resource.data)), [resource.data]);
  return { resource, rows };
}
