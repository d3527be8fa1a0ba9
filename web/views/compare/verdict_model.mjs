// SPDX-License-Identifier: Apache-2.0
// A comparison in words: direction, size, certainty, method, threshold; pure.
import { count, time_text, number, p_text, percent, percent_signed, plural }
  from "../../base/format.mjs";
import { per_step } from "../run/lead_model.mjs";

const METHODS = {
  mann_whitney: "exact Mann-Whitney test over runs",
  history: "spread of the runs of the base's series",
  series: "alerts of the series that both runs belong to",
  equal: "both sides have identical times",
  none: "none: too few runs",
};

const has = (value) => value !== null && value !== undefined;

/** Whether both sides have steps, so that there is a difference. @param {any} summary */
export const is_comparable = (summary) => has(summary?.delta_ns);

/** Whether no step is marked on either side: then recordings are compared. @param {any} summary */
export const are_whole = ({ base_no_steps: base, cand_no_steps: cand }) => Boolean(base && cand);

/** Whether the times are not both of steps. @param {any} summary */
export const lacks_steps = ({ base_no_steps: base, cand_no_steps: cand }) => Boolean(base || cand);

/** Whether a side has several runs. @param {any} summary */
export const has_repeats = ({ base_runs = 1, cand_runs = 1 }) => base_runs > 1 || cand_runs > 1;

/**
 * Why the parts do not sum to the medians; "" where one recording is compared with one.
 * @param {any} summary
 */
export function means_text(summary) {
  if (!are_whole(summary)) {
    return "Medians do not add up, so the parts are means over the steady steps of each run's "
      + "typical rank. “Odd steps” is the difference between the mean and the median step, "
      + "caused by a few unusual steps.";
  }
  return has_repeats(summary) ? "Medians do not add up, so the parts are means over the "
    + "recordings of each side. “Odd runs” is the difference between the mean and the median "
    + "recording, caused by a few unusual runs." : "";
}

/**
 * The name of the only side without marked steps, "" where there is none.
 * @param {any} summary @param {[string, string]} names of base and candidate
 */
export function unmarked_side({ base_no_steps: base, cand_no_steps: cand }, names) {
  return Boolean(base) === Boolean(cand) ? "" : names[base ? 0 : 1];
}

/** What a difference is per: a step, or its tokens if the sides are scaled to the same number. */
const unit_of = (per, summary) => (per === "token" && summary.base_tokens > 0
  ? ` per ${count(summary.base_tokens)} tokens` : per_step(lacks_steps(summary)));

/**
 * The result for one candidate.
 * @param {any} summary a row of compare_summary @param {string} [per] "step" or "token"
 */
export function headline(summary, per = "step") {
  const ns = has(summary.shift_ns) ? summary.shift_ns : summary.delta_ns;
  const share = has(summary.shift_share) ? summary.shift_share : summary.delta_share;
  if (ns === 0) return { tone: "same", words: "takes the same time", share: "" };
  const tone = ns > 0 ? "worse" : "better";
  const words = `${time_text(Math.abs(ns), 4)}${unit_of(per, summary)} ${
    ns > 0 ? "slower" : "faster"}`;
  const is_tiny = Math.abs(share) < 0.0005; // would be written as 0.0 %
  return { tone, words, share: is_tiny ? "less than 0.1 %" : percent_signed(share) };
}

/** "significant" is a statement about noise; whether it matters is another question. */
export function verdict_chip({ verdict, relevant }) {
  if (verdict !== "significant") return verdict;
  return relevant ? "significant" : "significant, too small to matter";
}

/** The interval's name: a fence of past runs is not a confidence interval. @param {number} alpha */
const interval_label = (method, alpha) => (["history", "series"].includes(method)
  ? "With the usual noise"
  : `${number(100 * (1 - alpha), 2)} % interval`);

/** The interval of the relative difference, or null. */
export function interval_text({ shift_low_share: low, shift_high_share: high }) {
  return has(low) && has(high) ? `${percent_signed(low)} … ${percent_signed(high)}` : null;
}

/**
 * How certain it is, as label and text, in reading order.
 * @param {any} summary @param {any} [thresholds] as in the reply
 * @returns {[string, string, string?][]} label, value, help
 */
export function evidence(summary, thresholds = {}) {
  const alpha = thresholds.alpha ?? 0.05;
  const whole = are_whole(summary);
  const facts = [
    [whole ? "Recording" : "Step",
      `${time_text(summary.base_step_ns, 4)} → ${time_text(summary.cand_step_ns, 4)}`,
      `${whole ? "All that was recorded" : "Median steady step"}; for repeats, the lower median `
        + `of ${whole ? "all" : "their medians"}. The difference above is the median over all `
        + "pairs of runs, one from each side."],
    [interval_label(summary.method, alpha), interval_text(summary),
      "Of the relative difference between the sides."],
    ["Method", METHODS[summary.method] ?? summary.method],
    ["p", has(summary.p_value) ? `${p_text(summary.p_value)} (significant up to ${alpha})` : null,
      "How often equal sides would differ by at least this much."],
    ["Usual spread", has(summary.threshold_share)
      ? `±${percent(summary.threshold_share)}; the difference is ${times_noise(summary)}` : null,
    "From relative differences between consecutive runs of the base's series."],
    ["Relevant from", has(summary.relevant_from_ns) ? time_text(summary.relevant_from_ns) : null,
      `Smaller differences${per_step(whole)} are too small to matter.`],
    ["Runs", `${plural(summary.base_runs ?? 1, "run")} against ${summary.cand_runs ?? 1}`],
    ["Same work", has(summary.same_work_share)
      ? `${percent(summary.same_work_share)} of device time` : null,
    `Device time in rows whose operator, shapes, types and calls${per_step(whole)} match. Below `
      + `80 % the sides did different work, unless their FLOPs${per_step(whole)} agree.`],
    ["FLOPs known for", flops_text(summary), "Share of matrix product, attention and convolution "
      + "time with known FLOPs: base and candidate."],
    ["Speedup", has(summary.speedup) ? `${summary.speedup.toFixed(3)}×` : null,
      "Base divided by candidate; above 1 the candidate is faster."],
  ];
  return facts.filter(([, text]) => text);
}

const known_share = (share) => (has(share) ? percent(share) : "none");

function flops_text({ base_flops_time_share: base, cand_flops_time_share: cand }) {
  return has(base) || has(cand)
    ? `${known_share(base)} and ${known_share(cand)} of the time` : null;
}

/** Whether neither side can be faster. */
export const different_work = ({ same_work }) => same_work === false;

const LEAST_SAME = 0.8; // of the device time: with less, parts of the two sides are hardly the same

/** Why the parts of two sides say little about each other; "" if they do not. */
export function hardly_comparable(summary) {
  const { same_work, same_work_share } = summary;
  if (!has(same_work_share) || same_work_share >= LEAST_SAME) return "";
  const per = per_step(are_whole(summary));
  const agrees = same_work ? `; only their FLOPs${per} agree` : "";
  return `operators, shapes and calls${per} match in ${
    percent(same_work_share)} of the device time${agrees}.`;
}

/** In a few words. */
export function certainty(summary) {
  const runs = `${plural(summary.base_runs ?? 1, "run")} against ${summary.cand_runs ?? 1}`;
  const interval = interval_text(summary);
  return [verdict_chip(summary), runs, interval].filter(Boolean).join(", ");
}

function times_noise({ shift_share, delta_share, threshold_share }) {
  const share = Math.abs(has(shift_share) ? shift_share : delta_share);
  return threshold_share > 0 ? `${number(share / threshold_share, 2)} times that` : "beyond it";
}

export const RUNGS = [
  ["module", "same operator, shapes and module"],
  ["shape", "same operator and shapes"],
  ["op", "same operator"],
  ["kernel", "same kernel name"],
  ["category", "same category only"],
  ["unmatched", "unmatched"],
].map(([key, label]) => ({ key, label }));

/**
 * Shares of device time by how well it was matched, and the part at operator or better.
 * @param {any} summary
 */
export function matched(summary) {
  const rungs = RUNGS.map((rung) => ({ ...rung,
    share: summary[rung.key === "unmatched" ? "unmatched_share" : `matched_${rung.key}_share`] }))
    .filter(({ share }) => has(share));
  const good = ["module", "shape", "op"];
  const at_op = rungs.filter(({ key }) => good.includes(key))
    .reduce((sum, { share }) => sum + share, 0);
  return { rungs, at_op: rungs.length > 0 ? at_op : (summary.matched_share ?? null) };
}
