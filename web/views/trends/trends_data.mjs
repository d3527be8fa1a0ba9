// SPDX-License-Identifier: Apache-2.0
// The trend pages' data: a series' runs, its changes of level, its alerts.
import { useMemo } from "../../base/ui.mjs";
import { use_api } from "../../base/api.mjs";
import { address } from "../../base/address.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { timed_points } from "./trends_model.mjs";

const POLL_MS = 15000;

/** API path of one of a series' tables. */
export function series_api(project, series, table, params = {}) {
  const path = `/series/${encodeURIComponent(series)}/${table}`;
  return address(path, { project, format: "columns", ...params });
}

const no_rows = [];

/** The rows of a table of the API; none until it has arrived. @param {string|null} path */
export function use_rows(path, poll_ms = POLL_MS) {
  const resource = use_api(path, () => poll_ms);
  const { data } = resource;
  const rows = useMemo(() => (data === null ? no_rows : rows_of(frame_of(data))), [data]);
  return { resource, rows };
}

/** @param {string} project @param {string} series @param {boolean} [wanted] */
export function use_points(project, series, wanted = true) {
  const { resource, rows } = use_rows(wanted ? series_api(project, series, "points") : null);
  return { resource, points: useMemo(() => timed_points(rows), [rows]) };
}

/** @param {string} project @param {string} series @param {boolean} [wanted] */
export function use_changes(project, series, wanted = true) {
  return use_rows(wanted ? series_api(project, series, "changes") : null);
}

/** Alerts by the query of the API. @param {Record<string, unknown>} params */
export function use_alerts(params) {
  return use_rows(address("/alerts", { format: "columns", ...params }));
}
