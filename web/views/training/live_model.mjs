// SPDX-License-Identifier: Apache-2.0
// What ranks sent of their steps while they ran, in words and as a curve; pure.
import { count, percent, plural, time_text } from "../../base/format.mjs";

const place = ({ rank, stage }) => (rank === null ? `all ranks take longer in ${stage}`
  : `rank ${rank} takes longer in ${stage}`);

const later = ({ before_ns, after_ns }) => (after_ns > before_ns ? "slower" : "faster");

/** "Since step 60 steps are slower, 105 ms after 65.2 ms: rank 2 takes longer in data, by 40 ms" */
export function change_text(change) {
  const [suspect] = change.suspects;
  const why = change.after_ns > change.before_ns && suspect
    ? `: ${place(suspect)}, by ${time_text(suspect.gain_ns)}` : "";
  return `Since step ${count(change.step)} steps are ${later(change)}, ${
    time_text(change.after_ns)} after ${time_text(change.before_ns)}${why}.`;
}

/** The newest change, or how long steps take. */
export function live_sentence(live) {
  const change = live.changes.at(-1);
  if (change) return change_text(change);
  const [longest] = [...live.stages].sort((a, b) => b.mean_ns - a.mean_ns);
  const part = live.stages.length > 1 ? `, most of it in ${longest.stage}` : "";
  return `A step takes ${time_text(live.step_median_ns)}${part}; its length has not changed.`;
}

export function live_caption(live) {
  return `Steps ${count(live.first_step)} to ${count(live.last_step)} of ${
    plural(live.ranks, "rank")}, as they sent them`;
}

/** For StepCurve. */
export function live_series(live) {
  const points = live.points.map(([x, y]) => ({ x, y }));
  return [{ key: "step", label: "Longest step of any rank", tone: 0, points }];
}

export function live_marks(live) {
  return live.changes.map((change) => ({ x: change.step, label: change_text(change),
    tone: "restart" }));
}

/** Cells of the table of stages. */
export function stage_cells(live) {
  const total = live.stages.reduce((sum, one) => sum + one.mean_ns, 0);
  return live.stages.map(({ stage, mean_ns, rank, rank_share }) => [stage, time_text(mean_ns),
    percent(total > 0 ? mean_ns / total : 0), String(rank), percent(rank_share)]);
}
