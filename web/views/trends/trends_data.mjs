// SPDX-License-Identifier: Apache-2.0
// The trend pages' data: a series' runs, its changes of level, its alerts.
import { useMemo } from "../../base/ui.mjs";
import { address } from "../../base/address.mjs";
import { use_rows } from "../../base/rows.mjs";
import { figures_of } from "./figure_model.mjs";
import { timed_points } from "./trends_model.mjs";

export const POLL_MS = 15000;

/** API path of one of a series' tables. */
export function series_api(project, series, table, params = {}) {
  const path = `/series/${encodeURIComponent(series)}/${table}`;
  return address(path, { project, format: "columns", ...params });
}

/** @param {string} project @param {string} series @param {string} [metric] beside step time */
export function use_points(project, series, metric = "") {
  const { resource, rows } = use_rows(series_api(project, series, "points", { metric }), POLL_MS);
  return { resource, points: useMemo(() => timed_points(rows), [rows]) };
}

/** @param {string} project @param {string} series @param {boolean} [wanted] */
export function use_changes(project, series, wanted = true) {
  return use_rows(wanted ? series_api(project, series, "changes") : null, POLL_MS);
}

/** Alerts by the query of the API. @param {Record<string, unknown>} params */
export function use_alerts(params) {
  return use_rows(address("/alerts", { format: "columns", ...params }), POLL_MS);
}

/**
 * The figures of a series' runs, or of the newest run of every series.
 * @param {string} project @param {string} series "": all @param {string} chosen a metric
 */
export function use_figures(project, series, chosen) {
  const { rows } = use_rows(address("/figures", { project, series, format: "columns",
    limit: "all" }), POLL_MS);
  return useMemo(() => figures_of(rows, chosen), [rows, chosen]);
}
