// SPDX-License-Identifier: Apache-2.0
// Tracking in the list of runs: their baselines and the line of their series.
import { html, useEffect, useMemo, useState } from "../../base/ui.mjs";
import { plural } from "../../base/format.mjs";
import { rows_at, use_rows } from "../../base/rows.mjs";
import { Sparkline } from "../../charts/trend_small.mjs";
import { series_api } from "../trends/trends_data.mjs";
import { last_points, series_key, series_path, timed_points } from "../trends/trends_model.mjs";

const MOST_SERIES = 12; // whose lines are fetched; the others get a link
const SPARK_RUNS = 24;
const POLL_MS = 15000;

/** @typedef {import("../trends/baseline_model.mjs").Baseline} Baseline */

/** @returns {Baseline[]} */
export function use_baselines() {
  return use_rows("/baselines?format=columns", POLL_MS).rows;
}

/** The series of some runs that have at least two runs overall, once each. */
function wanted_series(runs, known) {
  const counts = new Map(known.map((row) => [series_key(row), row]));
  const found = new Map();
  for (const run of runs) {
    const row = counts.get(series_key(run));
    if (row?.runs > 1) found.set(series_key(run), row);
  }
  return found;
}

/**
 * The series of the visible runs: how many runs each has and, for the first few, its last points.
 * @param {any[]} runs
 * @returns {{rows: Map<string, any>, points: Map<string, any[]>}} by `series_key`
 */
export function use_series_lines(runs) {
  const { rows: known } = use_rows("/series?limit=all&format=columns", POLL_MS);
  const rows = useMemo(() => wanted_series(runs, known), [runs, known]);
  const [points, set_points] = useState(new Map());
  // A series is fetched again when another run has joined it.
  const state = [...rows.values()].slice(0, MOST_SERIES)
    .map((row) => `${series_key(row)}\n${row.last_run}\n${row.step_median_ns}`).join("\n\n");
  useEffect(() => {
    const stop = new AbortController();
    load_points([...rows.values()].slice(0, MOST_SERIES), stop.signal).then(
      (loaded) => !stop.signal.aborted && set_points(loaded), () => {});
    return () => stop.abort();
  }, [state]);
  return { rows, points };
}

async function load_points(series, signal) {
  const lists = await Promise.all(series.map(async (row) => {
    const points = timed_points(
      await rows_at(series_api(row.project, row.series, "points"), signal));
    return [series_key(row), last_points(points, String(SPARK_RUNS))];
  }));
  return new Map(lists);
}

/** The line of a run's series with a dot at the run; leads to the trend. */
export function SeriesCell({ run, lines }) {
  const row = lines.rows.get(series_key(run));
  if (!row) return html`<span class="faint">–</span>`;
  const points = lines.points.get(series_key(run)) ?? [];
  const label = `Trend of ${run.series}, ${plural(row.runs, "run")}`;
  return html`<a class="series-cell" href=${series_path(run.project, run.series)} title=${label}
    aria-label=${label}>${points.length > 1
      ? html`<${Sparkline} points=${points} run=${run.id} />`
      : plural(row.runs, "run")}</a>`;
}
