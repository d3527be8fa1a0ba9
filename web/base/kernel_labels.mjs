// SPDX-License-Identifier: Apache-2.0
// Short labels of kernels by full name. The server makes them from the name alone, so that those of
// one run are right for any other.
import { api_get } from "./api.mjs";
import { address } from "./address.mjs";
import { frame_of, value_at } from "./frame.mjs";
import { use_store } from "./hooks.mjs";
import { distinct_labels } from "./kernel_distinct.mjs";
import { create_store, useEffect } from "./ui.mjs";

const MOST = 400; // kernels of a run, those with the most time

/** @type {ReturnType<typeof create_store<Map<string, string>>>} */
const labels = create_store(new Map());
const asked = new Set();

/**
 * Takes in the labels of a run's kernels. Those that kernels of the run share get the part of the
 * name that differs, and keep it.
 * @param {import("./frame.mjs").Frame} frame
 */
export function learn_labels(frame) {
  const pairs = Array.from({ length: frame.length }, (_, row) =>
    [value_at(frame, "name", row), value_at(frame, "label", row)]).filter(([, label]) => label);
  const known = new Map(labels.get());
  const changes = [...distinct_labels(pairs)].filter(([name, label]) =>
    label.length > (known.get(name)?.length ?? 0));
  for (const [name, label] of changes) known.set(name, label);
  if (changes.length > 0) labels.set(known);
}

async function load(run) {
  const path = address(`/runs/${encodeURIComponent(run)}/kernels`,
    { fields: "name,label", sort: "-total_ns", limit: String(MOST), format: "columns" });
  const { data } = await api_get(path, undefined, { keeps: false });
  learn_labels(frame_of(data));
}

/** A run of the same id may now be another. */
export const forget_runs = () => asked.clear();

/** Loads the labels of runs once; names without one are shortened instead. */
export function use_kernel_labels(runs) {
  const key = runs.join("\n");
  useEffect(() => {
    for (const run of runs.filter((run) => run && !asked.has(run))) {
      asked.add(run);
      load(run).catch(() => asked.delete(run));
    }
  }, [key]);
}

/** @param {string|null} name @returns {string|undefined} */
export const use_kernel_label = (name) => use_store(labels).get(name);

/** Labels known by now, for what is drawn. @returns {Map<string, string>} */
export const labels_now = () => labels.get();

/** All labels that are known, by full name. @returns {Map<string, string>} */
export const use_all_labels = () => use_store(labels);
