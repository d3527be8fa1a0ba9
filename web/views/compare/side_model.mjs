// SPDX-License-Identifier: Apache-2.0
// The sides of a comparison in the address: keys of runs, repeats separated by commas, all runs of
// a series as NAME@*; pure.
import { time_text } from "../../base/format.mjs";
import { quoted } from "./gate_model.mjs";

export const MOST_CANDIDATES = 8;
const SERIES_END = "@*";
const DEFAULT_PROJECT = "default";

const PLAIN_WORD = /^\w[\w.+-]*$/; // for a shell, and not read as a file by curl

/** @typedef {{id: string, name: string, project?: string, series?: string, gpu?: string}} Run */
/** @typedef {{base: string, cand: string[]}} Sides */

/** @param {string} side @returns {string[]} */
export const keys_of = (side) => side.split(",").map((key) => key.trim()).filter(Boolean);

/** The key of all runs of a run's series. @param {Run} run */
export function series_key({ series, project }) {
  const home = !project || project === DEFAULT_PROJECT ? "" : `${project}/`;
  return `${home}${series}${SERIES_END}`;
}

/** Whether a side is all runs of a series. @param {string} side */
export const is_series = (side) => keys_of(side).some((key) => key.endsWith(SERIES_END));

/** Swaps the base and one candidate. @param {Sides} sides @returns {Sides} */
export function swapped({ base, cand }, at = 0) {
  return { base: cand[at] ?? "", cand: put(cand, at, base) };
}

function put(list, at, value) {
  const next = at < list.length ? list.map((old, i) => (i === at ? value : old)) : [...list, value];
  return next.filter(Boolean);
}

/** A candidate chosen at a place; "" removes it. @param {Sides} sides @returns {Sides} */
export const with_candidate = ({ base, cand }, at, value) => ({ base, cand: put(cand, at, value) });

/** Whether both sides are chosen. @param {Sides} sides */
export const is_ready = ({ base, cand }) => base !== "" && cand.length > 0;

/**
 * Whether all runs have traces, or one has only other files.
 * @param {({received: number, evidence: number}|null)[]} runs null: unknown
 * @returns {"all"|"some"|"other files"}
 */
export function traces_of(runs) {
  if (runs.every((run) => run?.received > 0)) return "all";
  const is_lone = (run) => run.received === 0 && run.evidence > 0;
  return !runs.includes(null) && runs.some(is_lone) ? "other files" : "some";
}

/** The series that all runs share, or null. @param {Run[]} runs */
export function shared_series(runs) {
  const [first] = runs;
  const same = first?.series && runs.every(({ series, project }) =>
    series === first.series && project === first.project);
  return same ? first.series : null;
}

/** "a@1 to @8 (5 runs)": both sides may be runs of one series. */
function series_name(series, runs) {
  const ends = [runs[0], runs[runs.length - 1]].map(({ name }) =>
    (name.startsWith(`${series}@`) ? name.slice(series.length) : ""));
  const which = ends.includes("") ? "" : `${ends[0]} to ${ends[1]}`;
  return `${series}${which} (${runs.length} runs)`;
}

/**
 * "The step takes 1,076 ms in a and 906 ms in b, 170 ms less."
 * @param {string|null} what is shaded, null: the step
 */
export function timelines_lead(what, [base, cand], [from_ns, to_ns]) {
  const takes = `${what ? `“${what}”` : "The step"} takes ${time_text(from_ns)}`;
  if (to_ns === from_ns) return `${takes} in ${base} and in ${cand}.`;
  return `${takes} in ${base} and ${time_text(to_ns)} in ${cand}, ${
    time_text(Math.abs(to_ns - from_ns))} ${to_ns > from_ns ? "more" : "less"}.`;
}

/** A side's name. @param {Run[]} runs */
export function side_name(runs) {
  if (runs.length === 0) return "–";
  if (runs.length === 1) return runs[0].name;
  const series = shared_series(runs);
  if (series) return series_name(series, runs);
  return `${runs[0].name} and ${runs.length - 1} more`;
}

/** The command that uploads another repeat of a run. @param {Run} run @param {string} origin */
export function repeat_command({ series, project }, origin) {
  const field = (name, value) => (PLAIN_WORD.test(value) ? `-F ${name}=${value}`
    : `--form-string ${quoted(`${name}=${value}`)}`);
  const home = !project || project === DEFAULT_PROJECT ? "" : `${field("project", project)} `;
  return `curl ${home}${field("run", series)}@$(date +%s) -F trace=@rank0.json.gz ${origin}/upload`;
}

/**
 * What can be chosen: series that have repeats first, then single runs.
 * @param {Run[]} runs newest first @param {number} [many] how many of each
 * @returns {{value: string, label: string, note: string, group: string}[]}
 */
export function choices(runs, note_of, many = 60) {
  const by_series = new Map();
  for (const run of runs) {
    const key = series_key(run);
    by_series.set(key, [...(by_series.get(key) ?? []), run]);
  }
  const series = [...by_series].filter(([key, of]) => of.length > 1 && key !== SERIES_END);
  return [
    ...series.slice(0, many).map(([value, of]) => ({ value, label: of[0].series,
      note: `all ${of.length} runs`, group: "Series: all repeats as one side" })),
    ...runs.slice(0, many).map((run) => ({ value: run.id, label: run.name, note: note_of(run),
      group: "Single runs, newest first" })),
  ];
}
