// SPDX-License-Identifier: Apache-2.0
// How long steps take while the job runs, by the stage times that its ranks send.
import { html, useMemo, useRef } from "../../base/ui.mjs";
import { use_api } from "../../base/api.mjs";
import { run_path } from "../../base/address.mjs";
import { count, time_like, time_text } from "../../base/format.mjs";
import { PlainTable } from "../../charts/plain_table.mjs";
import { StepCurve } from "../../charts/step_curve.mjs";
import { Card, Lead } from "../../widgets/widgets.mjs";
import { run_api } from "../run/run_frame.mjs";
import { live_caption, live_marks, live_sentence, live_series, next_look, stage_cells }
  from "./live_model.mjs";

/** Asked again while there are steps. @param {string} run */
export function use_live(run) {
  const last = useRef(null);
  return use_api(run_api(run, "live"), (live) => {
    last.current = next_look(last.current, live);
    return last.current?.wait_ms ?? null;
  });
}

/** @param {{live: any}} props with at least one point */
export function LiveSteps({ live }) {
  const series = useMemo(() => live_series(live), [live]);
  const marks = useMemo(() => live_marks(live), [live]);
  const recorded = live.changes.findLast((change) => change.recorded)?.recorded;
  return html`<${Card} title="While it runs" note="from the stage times that ranks send">
    <${Lead} text=${live_sentence(live)} />
    ${recorded && html`<p>The suspected ranks, and one to compare them with, record some steps as
      run <a href=${run_path(recorded)}>${recorded}</a>, which appears once they are sent.</p>`}
    <${StepCurve} series=${series} marks=${marks} caption=${live_caption(live)} x_label="Step"
      y_label="Step time" x_text=${count} y_text=${time_text} y_tick=${time_like}
      from_zero=${true} />
    <${PlainTable} label="Stages of the mean step" head=${["Stage", "Mean", "Of the step",
      "Last rank", "In steps"]} rows=${stage_cells(live)} />
    <p class="faint">Mean: how much later the last rank ends this stage than the last rank ended
      the one before; the means add up to the step. Last rank: the one most often
      last.</p><//>`;
}
