// SPDX-License-Identifier: Apache-2.0
// From the reply of a comparison to the strips of its step times; pure.
import { count, plural } from "../../base/format.mjs";
import { median } from "../../charts/trend_model.mjs";
import { side_name } from "./side_model.mjs";

/**
 * Runs of one side with their steps and, once the table runs is loaded, its medians. Both come as
 * measured: `factor` scales them to the base's tokens.
 */
function runs_of(side, rows, factor) {
  return side.runs.map((run, i) => {
    const steps = side.steps?.[i] ?? [];
    const row = rows.find((one) => one.run === run.id);
    const measured = row?.step_median_ns ?? median(steps) ?? 0;
    return { name: run.name, steps: steps.map((ns) => ns * factor), median: measured * factor };
  });
}

/** What a candidate's steps are multiplied by. */
function factor_of(per, summary) {
  const { base_tokens: base, cand_tokens: cand } = summary ?? {};
  return per === "token" && base > 0 && cand > 0 ? base / cand : 1;
}

function strip_of(side, rows, { key, label, kind, step_ns, interval, factor = 1 }) {
  const runs = runs_of(side, rows, factor);
  return { key, side: kind, name: `${label}: ${side_name(side.runs)}`, runs,
    median: step_ns ?? median(runs.map((run) => run.median)) ?? 0,
    low: interval?.[0] ?? null, high: interval?.[1] ?? null };
}

/**
 * The base's strip and one for each candidate with steps.
 * @param {any} data reply of /compare @param {any[]} rows of compare_runs, as far as loaded
 * @returns {import("../../charts/dot_strip.mjs").Strip[]}
 */
export function strips_of(data, rows) {
  const { base, candidates } = data;
  const first = candidates[0]?.summary;
  const numbered = candidates.length > 1;
  return [
    strip_of(base, rows, { key: "base", label: "Base", kind: "base",
      step_ns: first?.base_step_ns, interval: [first?.base_ci_low_ns, first?.base_ci_high_ns] }),
    ...candidates.map((cand, i) => strip_of(cand, rows, { key: `cand${i}`, kind: "cand",
      label: numbered ? `Candidate ${i + 1}` : "Candidate", step_ns: cand.summary?.cand_step_ns,
      factor: factor_of(data.per, cand.summary),
      interval: [cand.summary?.cand_ci_low_ns, cand.summary?.cand_ci_high_ns] })),
  ].filter(({ median: step_ns }) => step_ns > 0);
}

/** "1 steady step each", "8 and 9 steady steps". @param {number[]} steps of each side */
export function steps_note(steps) {
  if (steps.length > 1 && steps.every((n) => n === steps[0])) {
    return `${plural(steps[0], "steady step")} each`;
  }
  return steps.length === 2 ? `${count(steps[0])} and ${plural(steps[1], "steady step")}`
    : `${steps.map(count).join(", ")} steady steps`;
}
