// SPDX-License-Identifier: Apache-2.0
// What ranks sent of their steps while they ran, in words and as a curve; pure.
import { count, percent, plural, time_text } from "../../base/format.mjs";

const who = (rank) => (rank === null ? "all ranks take" : `rank ${rank} takes`);

const more = ({ rank, stage, gain_ns }) =>
  `${who(rank)} ${time_text(gain_ns)} longer in ${stage}`;

const pace = ({ before_ns, after_ns }) => (after_ns > before_ns ? "slower" : "faster");

/**
 * "Steps have been slower since step 60, 105 ms instead of 65.2 ms: rank 2 takes 40.0 ms longer in
 * data."
 */
export function change_text(change) {
  const [suspect] = change.suspects;
  const why = change.after_ns > change.before_ns && suspect ? `: ${more(suspect)}` : "";
  return `Steps have been ${pace(change)} since step ${count(change.step)}, ${
    time_text(change.after_ns)} instead of ${time_text(change.before_ns)}${why}.`;
}

const mean_step = ({ stages }) => stages.reduce((sum, { mean_ns }) => sum + mean_ns, 0);

/** The newest change, or how long steps take. */
export function live_sentence(live) {
  const change = live.changes.at(-1);
  if (change) return change_text(change);
  const [longest] = [...live.stages].sort((a, b) => b.mean_ns - a.mean_ns);
  const total = mean_step(live);
  const part = live.stages.length > 1 && total > 0
    ? `, ${percent(longest.mean_ns / total)} of it in ${longest.stage}` : "";
  return `A step takes ${time_text(live.step_median_ns)}${part}; its duration has not changed.`;
}

const POLL_MS = 10_000; // the hook sends every few seconds
const MOST_POLL_MS = 320_000;

/**
 * When to ask again. Nothing says that a job has ended: while no step is new, the wait doubles.
 * @param {{step: number, wait_ms: number}|null} last what this said before
 */
export function next_look(last, live) {
  if (!(live?.points.length > 0)) return null;
  const wait_ms = last?.step === live.last_step ? Math.min(2 * last.wait_ms, MOST_POLL_MS)
    : POLL_MS;
  return { step: live.last_step, wait_ms };
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
  const total = mean_step(live);
  return live.stages.map(({ stage, mean_ns, rank, rank_share }) => [stage, time_text(mean_ns),
    percent(total > 0 ? mean_ns / total : 0), String(rank), percent(rank_share)]);
}
