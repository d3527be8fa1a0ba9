// SPDX-License-Identifier: Apache-2.0
// The same operator on the other vendor's GPU: which kernels ran it there, and how fast.
import { html, useEffect, useState } from "../../base/ui.mjs";
import { api_get } from "../../base/api.mjs";
import { address, run_path } from "../../base/address.mjs";
import { rows_at } from "../../base/rows.mjs";
import { count, number, short_gpu } from "../../base/format.mjs";
import { shapes_text } from "../../base/shapes_text.mjs";
import { PlainTable } from "../../charts/plain_table.mjs";
import { KernelLabels, KernelLink } from "../../widgets/kernel_text.mjs";
import { Card } from "../../widgets/widgets.mjs";
import { run_api } from "../run/run_frame.mjs";
import { partners_of } from "../run/partner_model.mjs";
import { counterpart_of, fit_time } from "./call_model.mjs";

const MOST_RUNS = 3; // whose tables are looked through
const MOST_SEARCHED = 200; // runs among which they are looked for

/** Parts of one operator. */
const parts_path = (run, op, rank = "") =>
  address(run_api(run, "parts"), { op, rank, format: "columns", limit: "all" });

/** The first partner that has the operator at these shapes, else one that has the operator. */
async function find(run, row, signal) {
  const { data } = await api_get(address("/runs",
    { sort: "-created", limit: MOST_SEARCHED }), signal);
  let best = null;
  for (const other of partners_of(run, data.items).slice(0, MOST_RUNS)) {
    const found = counterpart_of(row, await rows_at(parts_path(other.id, row.op), signal));
    if (found.rows.length === 0 || (best && !found.same_shapes)) continue;
    best = { other, ...found };
    if (found.same_shapes) break;
  }
  return best;
}

function use_counterpart(run, row) {
  const [state, set_state] = useState(null);
  useEffect(() => {
    const stop = new AbortController();
    set_state(null);
    if (row?.op) find(run, row, stop.signal).then(set_state, () => {});
    return () => stop.abort();
  }, [run.id, row?.op, row?.dims]);
  return state;
}

const time_of = (rows) => rows.reduce((sum, { owned_ns }) => sum + owned_ns, 0);
const calls_of = (rows) => Math.max(...rows.map(({ calls }) => calls), 1);

function comparison(own, { rows, other, same_shapes }, run) {
  const [here, there] = [own, rows].map((side) => time_of(side) / calls_of(side));
  const factor = here > there ? here / there : there / here;
  const faster = here > there ? other.gpu : run.gpu;
  if (!same_shapes) return "Its shapes differ there, so times are not comparable";
  return `Per call ${fit_time(here)} on ${short_gpu(run.gpu)}, ${fit_time(there)} on ${
    short_gpu(other.gpu)}: ${factor < 1.02 ? "as fast on both"
    : `${short_gpu(faster)} is ${number(factor, 3)} times as fast`}`;
}

/**
 * @param {{run: any, row: any, own: any[]}} props `row` is the operator at the shapes with the most
 * time, as in parts, and `own` are its kernels here
 */
export function Counterpart({ run, row, own }) {
  const found = use_counterpart(run, row);
  if (!found) return null;
  const { other, rows, same_shapes } = found;
  const line = (of, part) => [html`<${KernelLink} run=${of.id} name=${part.kernel} />`,
    short_gpu(of.gpu), count(part.calls), fit_time(part.owned_ns),
    fit_time(part.owned_ns / Math.max(1, part.calls))];
  return html`<${KernelLabels} runs=${[other.id]} />
    <${Card} title="On the other vendor's GPU" flush=${true} className="counterpart"
      note=${html`<code>${row.op}</code>${same_shapes && row.dims
        ? ` with ${shapes_text(row.dims)}` : ""}, in steady steps`}
      actions=${html`<a href=${address("/compare",
        { base: run.id, cand: other.id })}>Compare with ${other.name}</a>`}>
    <p class="card-line">${comparison(own, found, run)}. In <a href=${run_path(other.id)}>${
      other.name}</a>:</p>
    <${PlainTable} label="Kernels of the operator on both" head=${["Kernel", "GPU", "Calls", "Time",
      "Per call"]} texts=${2} rows=${[...own.map((part) => line(run, part)),
      ...rows.map((part) => line(other, part))]} /><//>`;
}

