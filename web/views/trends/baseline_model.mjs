// SPDX-License-Identifier: Apache-2.0
// Which baseline a run is compared with, and the difference; pure.
import { percent } from "../../base/format.mjs";

/**
 * @typedef {{name: string, run: string, run_name: string, project: string,
 *            step_median_ns: number|null, set: string}} Baseline
 */

const NAME = /^[A-Za-z0-9._-]{1,64}$/;

/** Whether a name is valid for a baseline: it is used in addresses. @param {string} name */
export const is_baseline_name = (name) => NAME.test(name) && !/^\.+$/.test(name);

/** Everything before the "@" in a run's name. @param {string} name */
const series_of_name = (name) => name.split("@")[0];

const latest = (baselines) =>
  baselines.reduce((best, one) => (!best || one.set > best.set ? one : best), null);

/**
 * The baseline of a run: the chosen one; else one of its series, the latest; else the only one of
 * its project. Runs of one project may measure different things, so that with several none is
 * guessed.
 * @param {any} run of the list @param {Baseline[]} baselines @param {string} [chosen] a name
 * @returns {Baseline|null}
 */
export function baseline_of(run, baselines, chosen = "") {
  if (chosen) return baselines.find(({ name }) => name === chosen) ?? null;
  const own = baselines.filter(({ project }) => project === run.project);
  const series = run.series ?? series_of_name(run.name);
  const same = own.filter(({ run_name }) => series_of_name(run_name) === series);
  if (same.length > 0) return latest(same);
  return new Set(own.map((one) => one.run)).size === 1 ? own[0] : null;
}

/**
 * The difference of a run's median step from its baseline's, or null if there is nothing to say:
 * how long a recording is without steps says nothing.
 * @returns {{share: number, baseline: Baseline}|null}
 */
export function delta_of(run, baseline) {
  if (!baseline || baseline.run === run.id || run.no_steps) return null;
  if (!(run.step_median_ns > 0) || !(baseline.step_median_ns > 0)) return null;
  return { share: run.step_median_ns / baseline.step_median_ns - 1, baseline };
}

/** "▲ 4.9 %", without the word, which is in the title. @param {number} share */
export function delta_mark(share) {
  if (Math.abs(share) < 0.0005) return "0.0 %";
  return `${share > 0 ? "▲" : "▼"} ${percent(Math.abs(share))}`;
}

/** The whole sentence. @param {{share: number, baseline: Baseline}} delta */
export function delta_sentence({ share, baseline }) {
  const size = percent(Math.abs(share));
  const words = Math.abs(share) < 0.0005 ? "as fast as"
    : `${size} ${share > 0 ? "slower" : "faster"} than`;
  return `${words} ${baseline.run_name} (baseline ${baseline.name}); noise unknown: these are two `
    + "single runs";
}

/** What giving a run this name means for the run that has it; "" if none has. */
export function takes_over(name, run, baselines) {
  const before = baselines.find((one) => one.name === name);
  if (!before) return "";
  if (before.run === run.id) return `${name} is this run already.`;
  return `${name} is ${before.run_name} now; it moves to this run.`;
}
