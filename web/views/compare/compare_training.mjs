// SPDX-License-Identifier: Apache-2.0
// What the training logs of two runs say, one over the other: loss and speed, and which run
// reaches a loss first.
import { html, useMemo } from "../../base/ui.mjs";
import { use_api } from "../../base/api.mjs";
import { use_query } from "../../base/router.mjs";
import { StepCurve } from "../../charts/step_curve.mjs";
import { Card, Notice } from "../../widgets/widgets.mjs";
import { use_table } from "../run/run_table.mjs";
import { Pick } from "../../widgets/pick.mjs";
import { AXES, METRICS, chosen_of, known_of, longest_log, race_text, series_of }
  from "../training/training_model.mjs";

function Curves({ sides }) {
  const [query, change] = use_query({ log: "loss", over: "step" });
  const of_both = (choices) => choices.filter((choice) =>
    sides.every(({ rows }) => known_of([choice], rows).length > 0));
  const metrics = of_both(METRICS);
  const axes = of_both(AXES);
  const metric = chosen_of(metrics, query.log);
  const axis = chosen_of(axes, query.over);
  const series = useMemo(() => (metric && axis
    ? series_of(sides.flatMap(({ rows }) => rows), metric, axis) : []), [sides, metric, axis]);
  if (series.length === 0) {
    return html`<p class="empty-line">The logs have no figure in common.</p>`;
  }
  return html`<${StepCurve} series=${series} caption=${race_text(sides)} x_label=${axis.label}
    y_label=${metric.label} x_text=${axis.text} y_text=${metric.text}
    y_tick=${metric.tick}
    from_zero=${metric.from_zero} actions=${html`<${Pick} label="Show" choices=${metrics}
      chosen=${metric} onchange=${(key) => change({ log: key })} />
    <${Pick} label="over" choices=${axes} chosen=${axis}
      onchange=${(key) => change({ over: key })} />`} />`;
}

/** The longest log of a run, its rows named by the run; none without a log. */
function use_log(run, name) {
  const { rows } = use_table(run, "log_curve", { limit: "all" }, run !== "");
  return useMemo(() => longest_log(rows, name), [rows, name]);
}

/** The longest logs of both sides, and whether both have one. */
function use_logs(base, cand) {
  const base_rows = use_log(base.key, base.name);
  const cand_rows = use_log(cand.key, cand.name === base.name ? `${cand.name} (candidate)`
    : cand.name);
  const sides = useMemo(() => [base_rows, cand_rows].map((rows) => ({ name: rows[0]?.file, rows })),
    [base_rows, cand_rows]);
  return { sides, both: sides.every(({ rows }) => rows.length > 0) };
}

const LogsCard = ({ sides }) => html`<${Card} title="Training" note="from the logs">
  <${Curves} sides=${sides} /><//>`;

/**
 * No chart unless both runs have a training log.
 * @param {{base: {key: string, name: string}, cand: {key: string, name: string}}} props
 */
export function TrainingCurves({ base, cand }) {
  const { sides, both } = use_logs(base, cand);
  return both && html`<${LogsCard} sides=${sides} />`;
}

/** A run by its key in the address, which names it until it is known. */
function use_run(key) {
  const { data } = use_api(key ? `/runs/${encodeURIComponent(key)}` : null);
  return { key, name: data?.name ?? key, traces: data?.received };
}

/**
 * What can be compared where a run has no trace.
 * @param {{base: string, cand: string}} props keys of runs, "" for a series
 */
export function LoneTraining({ base, cand }) {
  const runs = [use_run(base), use_run(cand)];
  const { sides, both } = use_logs(...runs);
  const none = runs.every(({ traces }) => traces === 0);
  return html`<${Notice} title="Only training logs can be compared">
      <p>${none ? "Neither of these runs has a trace" : "One of these runs has no trace"}${
        both ? "" : ", and at least one has no training log"}. To see where the time goes, upload a
        trace of each rank to ${none ? "both" : "it"}.</p><//>
    ${both && html`<${LogsCard} sides=${sides} />`}`;
}
