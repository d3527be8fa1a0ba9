// SPDX-License-Identifier: Apache-2.0
// A kernel or operator over the newest runs of its run's series.
import { html, useEffect, useState } from "../../base/ui.mjs";
import { address } from "../../base/address.mjs";
import { navigate } from "../../base/router.mjs";
import { rows_at } from "../../base/rows.mjs";
import { ms } from "../../base/format.mjs";
import { Columns } from "../../charts/columns.mjs";
import { PlainTable } from "../../charts/plain_table.mjs";
import { Card } from "../../widgets/widgets.mjs";
import { run_api } from "../run/run_frame.mjs";
import { fit_time, history_figures, scale_of, steps_of_rank } from "./call_model.mjs";

const MOST_RUNS = 12;

/** The figures of a name in each of the newest runs of a series, the oldest first. */
async function load(what, signal) {
  const { run } = what;
  const points = await rows_at(address(`/series/${encodeURIComponent(run.series)}/points`,
    { project: run.project, format: "columns" }), signal);
  const newest = points.filter((point) => point.run).slice(-MOST_RUNS);
  if (newest.length < 2) return [];
  return Promise.all(newest.map(async (point) => ({ run: point.run,
    title: point.name ?? point.run, ...await figures_of(point.run, what, signal).catch(() =>
      ({ calls: null, ns: null, median_ns: null })) })));
}

/** The figures of a name in one run. */
async function figures_of(run, { table, name, figure, by_steps }, signal) {
  const [rows, steps] = await Promise.all([
    rows_at(address(run_api(run, table), { name, fields: `calls,${figure},median_ns`,
      format: "columns" }), signal),
    by_steps ? rows_at(address(run_api(run, "steps"), { fields: "rank,step", limit: "all",
      format: "columns" }), signal) : null]);
  return history_figures(rows[0], figure, steps && steps_of_rank(steps));
}

function use_history(what) {
  const [state, set_state] = useState([]);
  useEffect(() => {
    const stop = new AbortController();
    set_state([]);
    load(what, stop.signal).then(
      (points) => !stop.signal.aborted && set_state(points), () => {});
    return () => stop.abort();
  }, [what.run.id, what.name]);
  return state;
}

function text_of({ title, calls, ns, median_ns }) {
  if (calls === 0) return `${title}: not called`;
  if (ns === null) return `${title}: not known`;
  return `${title}: ${fit_time(ns)}, half of the calls take ${fit_time(median_ns)} or less`;
}

const short_of = ({ title }) => (title.includes("@") ? title.slice(title.indexOf("@")) : title);

/**
 * @param {{run: any, table: string, name: string, figure: string, what: string,
 *          path: (run: string, name: string) => string, by_steps?: boolean}} props
 * `figure` is a column of times of the table, in words `what`; `by_steps`: it is of the whole
 * recording, to be divided by its steps
 */
export function NameHistory({ run, table, name, figure, what, path, by_steps = false }) {
  const points = use_history({ run, table, name, figure, by_steps });
  const known = points.filter(({ ns }) => ns !== null);
  if (known.length < 2) return null;
  const [scale, unit] = scale_of(known.map(({ ns }) => ns));
  const items = points.map((point) => ({ label: short_of(point), value: point.ns,
    text: text_of(point), faint: point.run !== run.id }));
  const table_of = () => html`<${PlainTable} label="Runs of the series"
    head=${["Run", `${what}, ms`, "p50"]} rows=${points.map((point) => [
      html`<a href=${path(point.run, name)}>${point.title}</a>`, ms(point.ns),
      fit_time(point.median_ns)])} />`;
  const caption = `${what} in each run: ${fit_time(known.at(-1).ns)} in the newest, ${
    fit_time(known[0].ns)} in the first of these`;
  return html`<${Card} title="Across the series" note=${`the newest ${points.length} runs of ${
      run.series}; this run is dark`}>
    <${Columns} items=${items} caption=${caption} scale=${scale}
      hint="In ${unit}. Click one to see its page." table=${table_of}
      onopen=${(i) => navigate(path(points[i].run, name))} /><//>`;
}
