// SPDX-License-Identifier: Apache-2.0
// What the list of runs shows: one row for each run or series, and the chosen columns; pure.
import { series_key } from "../trends/trends_model.mjs";

/** Columns that can be left out, with their names in the address. */
export const OPTIONAL = [["received", "Ranks"], ["gpu", "GPU"], ["step_median_ns", "Step p50"],
  ["delta", "vs base"], ["series", "Series"], ["parts", "Step breakdown"], ["busy_share",
    "GPU busy"], ["exposed_comm_share", "Exposed comm"], ["tokens_per_s_per_gpu", "Tokens/s/GPU"],
  ["mfu", "MFU"], ["findings", "Findings"], ["created", "Age"]];

/** @param {string} hide comma-separated keys @returns {Set<string>} */
export const hidden_columns = (hide) => new Set(hide.split(",").filter(Boolean));

/** The address after a column was shown or left out. @param {string} hide @param {string} key */
export function toggled_column(hide, key) {
  const now = hidden_columns(hide);
  if (!now.delete(key)) now.add(key);
  return OPTIONAL.map(([name]) => name).filter((name) => now.has(name)).join(",");
}

/**
 * The first run of each series in the given order, and how many of these runs it stands for.
 * @param {any[]} runs @returns {{runs: any[], counts: Map<string, number>}} counts by run
 */
export function one_per_series(runs) {
  const first = new Map();
  const counts = new Map();
  for (const run of runs) {
    const key = series_key(run);
    if (!first.has(key)) first.set(key, run);
    counts.set(first.get(key).id, (counts.get(first.get(key).id) ?? 0) + 1);
  }
  return { runs: [...first.values()], counts };
}

/**
 * How many other runs of its series a row stands for: of all that there are, where nothing is
 * searched for, else of those on this page.
 * @param {any} run @param {Map<string, number>} counts of this page, by run
 * @param {Map<string, any>} series by `series_key` @param {boolean} is_search
 */
export function others_of(run, counts, series, is_search) {
  const here = counts.get(run.id) ?? 1;
  const all = is_search || !counts.has(run.id) ? undefined : series.get(series_key(run))?.runs;
  return { others: (all ?? here) - 1, of_page: all === undefined };
}

/** The text that a run has under a key that people chose, else null. */
const own_text = (pairs, key) => (pairs && Object.hasOwn(pairs, key)
  && typeof pairs[key] === "string" ? pairs[key] : null);

const said = (key) => ({ meta, tags }) => own_text(meta, key) ?? own_text(tags, key);

/** What runs can be grouped by: a key of the address, a label, and the value of a run. */
const GROUPS = [["gpu", "GPU", ({ gpu }) => gpu], ["model", "Model", said("model")],
  ["owner", "Owner", said("owner")], ["commit", "Commit", said("commit")],
  ["project", "Project", ({ project }) => project]];

const TAG = "tag:";

/** The value of a run in a grouping. @param {string} by a key of the address */
const value_by = (by) => (by.startsWith(TAG) ? ({ tags }) => own_text(tags, by.slice(TAG.length))
  : GROUPS.find(([key]) => key === by)?.[2]);

/** Groupings in which these runs differ, as choices. @param {any[]} runs @param {string} chosen */
export function group_choices(runs, chosen) {
  const tags = [...new Set(runs.flatMap((run) => Object.keys(run.tags ?? {})))].sort()
    .filter((key) => !GROUPS.some(([known]) => known === key))
    .map((key) => [TAG + key, `Tag ${key}`, value_by(TAG + key)]);
  return [...GROUPS, ...tags].filter(([key, , value]) => key === chosen
    || new Set(runs.map(value)).size > 1).map(([key, label]) => [key, label]);
}

/**
 * Runs by a value, in the order in which their first run comes; those without it last.
 * @param {any[]} runs @param {string} by
 * @returns {{key: string|null, name: string, runs: any[]}[]} the key is the value, null without
 *   one; a group without a name if there is no such grouping
 */
export function grouped(runs, by) {
  const value = value_by(by);
  if (!value) return [{ key: null, name: "", runs }];
  const groups = new Map();
  for (const run of runs) {
    const name = value(run) || null;
    groups.set(name, [...(groups.get(name) ?? []), run]);
  }
  const without = groups.get(null);
  groups.delete(null);
  return [...[...groups].map(([name, of]) => ({ key: name, name, runs: of })),
    ...(without ? [{ key: null, name: "not given", runs: without }] : [])];
}
