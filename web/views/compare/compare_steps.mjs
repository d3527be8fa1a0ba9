// SPDX-License-Identifier: Apache-2.0
// The step times behind the verdict: a strip for the base and for each candidate.
import { html, useMemo } from "../../base/ui.mjs";
import { axis_of_time, capital } from "../../base/format.mjs";
import { DotStrips } from "../../charts/dot_strip.mjs";
import { Card } from "../../widgets/widgets.mjs";
import { steps_note, strips_of } from "./strip_model.mjs";
import { use_compare_table } from "./compare_data.mjs";

const FEW_STEPS = 5; // with fewer there is no interval

const WORDS = { ms: "milliseconds", s: "seconds", min: "minutes" };

/** The unit of the axis, as a word. */
const unit_word = (strips) => WORDS[axis_of_time(strips.flatMap(({ runs }) => runs)
  .flatMap(({ steps }) => steps).reduce((most, ns) => Math.max(most, ns), 0)).unit];

function caption_of(strips) {
  if (strips.some(({ runs }) => runs.length > 1)) {
    return `${capital(unit_word(strips))}. A large dot is the median of one run, its steps are `
      + "faint behind it; the line is the median over the runs.";
  }
  const fewest = Math.min(...strips.map(({ runs }) => runs[0]?.steps.length ?? 0));
  return `Steady steps in ${unit_word(strips)}; the line is the median${
    fewest < FEW_STEPS ? "" : ", the band its 95 % interval if steps are independent"}.`;
}

/** @param {{data: any, query: any}} props data: the reply of /compare */
export function StepTimes({ data, query }) {
  const { rows } = use_compare_table(query, "runs");
  const strips = useMemo(() => strips_of(data, rows), [data, rows]);
  const steps = strips.map(({ runs }) => runs.reduce((sum, run) => sum + run.steps.length, 0));
  return html`<${Card} title="Step time" note=${steps_note(steps)}>
    <${DotStrips} strips=${strips} caption=${caption_of(strips)} /><//>`;
}
