// SPDX-License-Identifier: Apache-2.0
// Findings by severity, then by what fixing each brings; their sum; which are dismissed; pure.
import { percent, sentence, time_text } from "../../base/format.mjs";
import { NO_PROFILER } from "../said/promise_model.mjs";

const SMALL_SHARE = 0.005;

/** The part of the cost that no costlier finding explains. */
export const own_cost = (finding) => finding.own_cost_ns ?? finding.cost_ns ?? 0;

/** Same as a share of the step. */
export function own_share({ cost_ns, own_cost_ns, cost_share }) {
  if (!cost_ns) return 0;
  return (cost_share ?? 0) * ((own_cost_ns ?? cost_ns) / cost_ns);
}

/** What prevents judging the rest comes first, though it costs nothing. */
const leads = ({ rule }) => rule === "several_jobs";

/** What fixing it is worth: simulated where a change could be replayed, else its own cost. */
const worth = (finding) => finding.gain_ns ?? own_cost(finding);

const SEVERITIES = ["info", "low", "medium", "high"];
const weight = ({ severity }) => SEVERITIES.indexOf(severity);

/** A finding whose gain is unknown, or none, does not sink below what matters less. */
const by_weight = (a, b) => leads(b) - leads(a) || weight(b) - weight(a)
  || worth(b) - worth(a) || (b.cost_ns ?? 0) - (a.cost_ns ?? 0);

// Findings without a time cost are not small: leaks, a recording that lacks the device.
const costs_no_time = ({ rule, severity, cost_ns }) =>
  !cost_ns && (severity !== "info" || String(rule).startsWith("memory_"));

const is_small = (finding) => (finding.cost_share ?? 0) < SMALL_SHARE &&
  finding.severity !== "high" && !costs_no_time(finding);

/**
 * Findings with their dismissals, split into those that count, small ones and dismissed ones.
 * @param {any[]} findings @param {{finding: string, reason: string, created: string}[]} dismissals
 */
export function part_findings(findings, dismissals) {
  const reasons = new Map(dismissals.map((one) => [one.finding, one]));
  const all = findings.map((finding) =>
    ({ ...finding, dismissal: reasons.get(finding.id) ?? null })).sort(by_weight);
  const active = all.filter(({ dismissal }) => !dismissal);
  return {
    large: active.filter((finding) => !is_small(finding)),
    small: active.filter(is_small),
    dismissed: all.filter(({ dismissal }) => dismissal),
  };
}

const MOST_FIRST = 5;

/** What to fix first: the same order, without dismissed findings. */
export function first_findings(findings, dismissals) {
  const { large, small } = part_findings(findings, dismissals);
  return [...large, ...small].slice(0, MOST_FIRST);
}

const plain = (words) => words.replaceAll("_", " ");

// Of items whose names do not say what is lacking.
const WITHOUT = { device: "Without the GPU's name", distributed: "Without the ranks of the files",
  repeats: "With fewer than five steady steps" };

const without = (item, state) => WITHOUT[item]
  ?? `${state === "partial" ? "With only some" : "Without"} ${plain(item)}`;

/** What is recorded by default is nothing to ask for. @param {string|null} how */
const how_text = (how) => (!how ? "" : /^recorded /.test(how) ? sentence(how)
  : `To record: ${how}`);

/**
 * What findings need and a recording lacks, in words.
 * @param {any[]} rows of the table recording
 */
export function unjudged(rows) {
  const lacking = rows.filter(({ state, silent_rules }) => silent_rules && state !== "present");
  const all = lacking.filter(({ silent_rules }) => silent_rules === "all");
  return (all.length > 0 ? all : lacking).map(({ item, state, how, silent_rules }) => ({
    item, how: how_text(how),
    text: `${without(item, state)}, ${
      silent_rules === "all" ? "nothing can be judged"
        : `these rules may miss something: ${plain(silent_rules)}`}.`,
  }));
}

const MOST_CHANGES = 16; // of one question

/** The changes that findings advise, each once. @param {any[]} findings */
export const changes_of = (findings) =>
  [...new Set(findings.map(({ change }) => change).filter(Boolean))].slice(0, MOST_CHANGES);

// Host time that recording takes is no gain of a free host: both steps leave it out.
const leaves_out_profiler = (change) => change === "host_free";
const asked_for = (change) => (leaves_out_profiler(change)
  ? [`${NO_PROFILER};${change}`, NO_PROFILER] : [change]);

/**
 * What the page What if has to be asked to show the gain of a finding: its change, without the
 * profiler where its gain is, and of the rank whose gain it is.
 */
export const trial_of = ({ change, rank, gain_of_all }) => ({
  change: leaves_out_profiler(change) ? [NO_PROFILER, change] : change,
  rank: gain_of_all ? null : rank,
});

/** What to ask for the gains that findings lack. @param {any[]} findings */
export const questions_of = (findings) =>
  [...new Set(changes_of(findings.filter(({ gain_ns }) => gain_ns === null)).flatMap(asked_for))]
    .slice(0, MOST_CHANGES);

/**
 * Findings with the gains of their changes for all ranks together, where they have none.
 * @param {any[]} findings @param {{change: string, gain_ns: number}[]} answers
 */
export const with_gains = (findings, answers) => findings.map((finding) => {
  const gains = asked_for(finding.change).map((asked) =>
    answers.find(({ change }) => change === asked)?.gain_ns);
  return finding.gain_ns !== null || gains.includes(undefined) ? finding
    : { ...finding, gain_ns: gains[0] - (gains[1] ?? 0), gain_of_all: true };
});

/** What findings cost together, no time twice. @param {any[]} findings */
export function saving_of(findings) {
  return {
    ns: findings.reduce((sum, finding) => sum + own_cost(finding), 0),
    share: Math.min(1, findings.reduce((sum, finding) => sum + own_share(finding), 0)),
  };
}

/** "up to 8.00 ms per step (6.9 %)"; `whole`: of a recording in which no step is marked. */
export function cost_text(finding, whole = false) {
  if (!finding.cost_ns) return "no separate cost";
  const per = whole ? "" : " per step";
  return `up to ${time_text(finding.cost_ns)}${per} (${percent(finding.cost_share)})`;
}

/**
 * "simulated gain 4.20 ms", for a finding without a change that undoes it "simulated gain at most
 * 4.20 ms", as its cost is a bound; "no simulated gain" where other work holds the step up; ""
 * where nothing could be replayed.
 */
export function gain_text(finding) {
  const { gain_ns, change } = finding;
  if (gain_ns === null || gain_ns === undefined) return "";
  if (gain_ns === 0) return "no simulated gain";
  const more = exceeds(finding) ? ", including time outside this finding" : "";
  return `simulated gain ${change ? "" : "at most "}${time_text(gain_ns)}${more}`;
}

const EXCEEDS_FROM = 1.005; // times the cost

/** Whether a change brings more than what the finding counts, as it undoes more than that. */
const exceeds = ({ gain_ns, cost_ns, change }) =>
  Boolean(change) && cost_ns > 0 && gain_ns > EXCEEDS_FROM * cost_ns;

const ALSO = { host_free: "without host time, no wait for the host is left, not even at a cold "
  + "start or a copy" };

/** Why a gain is above the bound of its finding; "" where it is not. @param {any} finding */
export function excess_text(finding) {
  if (!exceeds(finding)) return "";
  return `${time_text(finding.gain_ns - finding.cost_ns)} of it is not in this finding: ${
    ALSO[finding.change] ?? "the change removes other time too"}.`;
}

const TOLD_FROM = 0.005; // of the cost

/**
 * The part of the cost that another finding explains; "" without overlap.
 * @param {any} finding @param {any[]} all
 */
export function overlap_text(finding, all) {
  const shared_ns = (finding.cost_ns ?? 0) - own_cost(finding);
  if (!finding.overlaps || !(shared_ns > TOLD_FROM * (finding.cost_ns ?? 0))) return "";
  const other = all.find(({ rule, id }) =>
    rule === finding.overlaps || id === finding.overlaps);
  const whose = other ? `“${other.title}”${other.dismissal ? ", which is dismissed" : ""}`
    : "costlier findings";
  return own_cost(finding) > 0
    ? `${time_text(shared_ns)} of it overlaps with ${whose}`
    : `all of it overlaps with ${whose}`;
}

const listed = (word, text) =>
  `${word}${/[-,–]/.test(text) ? "s" : ""} ${text.replaceAll("-", "–").replace(/,(?! )/g, ", ")}`;

/** "rank 5 · steps 3–7"; "" if all are affected. */
export function affected_text({ rank, ranks, steps }) {
  const who = ranks || (rank === null || rank === undefined ? "" : String(rank));
  return [who && listed("rank", who), steps && listed("step", String(steps))].filter(Boolean)
    .join(" · ");
}

/** The facts of a finding; they are JSON text, possibly damaged. @returns {any[]} */
export function facts_of(evidence) {
  try {
    const facts = typeof evidence === "string" ? JSON.parse(evidence) : evidence;
    return Array.isArray(facts) ? facts : [];
  } catch {
    return [];
  }
}

/**
 * The full name of the kernel that evidence refers to by the first part of its name, or null if
 * that is not one kernel. @param {unknown} href @param {Map<string, string>} labels by full name
 */
export function kernel_of_evidence(href, labels) {
  const q = /^kernels\?q=([^&]+)$/.exec(String(href ?? ""))?.[1];
  if (!q) return null;
  const wanted = new URLSearchParams(`q=${q}`).get("q") ?? "";
  const found = [...labels.keys()].filter((name) => name.startsWith(wanted));
  return found.length === 1 ? found[0] : null;
}

// Operators as profilers write them, not names in C++ code.
const OPERATOR =
  /(?<![\w:])(?!(?:at|c10|std|cutlass|ck|rocprim|cub)::)[a-z_]\w*(?:::[a-z_]\w*)+/g;

/** A text split at the names of operators. @returns {{text: string, op?: string}[]} */
export function op_pieces(text) {
  const pieces = [];
  let end = 0;
  for (const { 0: op, index } of text.matchAll(OPERATOR)) {
    if (index > end) pieces.push({ text: text.slice(end, index) });
    pieces.push({ text: op, op });
    end = index + op.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end) });
  return pieces;
}
