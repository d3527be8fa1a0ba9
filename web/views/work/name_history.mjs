// SPDX-License-Identifier: Apache-2.0
// A kernel or operator over the newest runs of its run's series.
import { html, useEffect, useState } from "../../base/ui.mjs";
import { api_get } from "../../base/api.mjs";
import { address } from "../../base/address.mjs";
import { navigate } from "../../base/router.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { ms } from "../../base/format.mjs";
import { Columns } from "../../charts/columns.mjs";
import { PlainTable } from "../../charts/plain_table.mjs";
import { Card } from "../../widgets/widgets.mjs";
import { run_api } from "../run/run_frame.mjs";
import { fit_time, scale_of } from "./call_model.mjs";

const MOST_RUNS = 12;

async function rows_at(path, signal) {
  const { data } = await api_get(path, signal);
  return rows_of(frame_of(data));
}

/** The figures of a name in each of the newest runs of a series, the oldest first. */
async function load({ run, table, name, figure }, signal) {
  const points = await rows_at(address(`/series/${encodeURIComponent(run.series)}/points`,
    { project: run.project, format: "columns" }), signal);
  const newest = points.filter((point) => point.run).slice(-MOST_RUNS);
  if (newest.length < 2) return [];
  return Promise.all(newest.map(async (point) => {
    const [row] = await rows_at(address(run_api(point.run, table),
      { name, fields: `calls,${figure},median_ns`, format: "columns" }), signal);
    return { run: point.run, title: point.name ?? point.run, calls: row?.calls ?? 0,
      ns: row?.[figure] ?? 0, median_ns: row?.median_ns ?? null };
  }));
}

function use_history(what) {
  const [state, set_state] = useState([]);
  useEffect(() => {
    const stop = new AbortController();
    set_state([]);
    load(what, stop.signal).then(set_state, () => {});
    return () => stop.abort();
  }, [what.run.id, what.name]);
  return state;
}

const text_of = ({ title, calls, ns, median_ns }) => (calls === 0 ? `${title}: not called`
  : `${title}: ${fit_time(ns)}, half of the calls take ${fit_time(median_ns)} or less`);

const short_of = ({ title }) => (title.includes("@") ? title.slice(title.indexOf("@")) : title);

/**
 * @param {{run: any, table: string, name: string, figure: string, what: string,
 *          path: (run: string, name: string) => string}} props
 * `figure` is a column of times of the table, in words `what`
 */
export function NameHistory({ run, table, name, figure, what, path }) {
  const points = use_history({ run, table, name, figure });
  if (points.length < 2) return null;
  const [scale, unit] = scale_of(points.map(({ ns }) => ns));
  const items = points.map((point) => ({ label: short_of(point), value: point.ns,
    text: text_of(point), faint: point.run !== run.id }));
  const table_of = () => html`<${PlainTable} label="Runs of the series"
    head=${["Run", `${what}, ms`, "p50"]} rows=${points.map((point) => [
      html`<a href=${path(point.run, name)}>${point.title}</a>`, ms(point.ns),
      fit_time(point.median_ns)])} />`;
  return html`<${Card} title="Over the series" note=${`the newest ${points.length} runs of ${
      run.series}; this run is dark`}>
    <${Columns} items=${items} caption="${what} in each run: now ${fit_time(points.at(-1).ns)}, ${
      ""}in the first of these ${fit_time(points[0].ns)}" scale=${scale}
      hint="In ${unit}. Click one to see its page." table=${table_of}
      onopen=${(i) => navigate(path(points[i].run, name))} /><//>`;
}
