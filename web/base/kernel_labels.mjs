// SPDX-License-Identifier: Apache-2.0
// Short labels of kernels by full name. The server makes them from the name alone, so that those of
// one run are right for any other.
import { api_get } from "./api.mjs";
import { address } from "./address.mjs";
import { frame_of, value_at } from "./frame.mjs";
import { use_store } from "./hooks.mjs";
import { create_store, useEffect } from "./ui.mjs";

const MOST = 400; // kernels of a run, those with the most time

/** @type {ReturnType<typeof create_store<Map<string, string>>>} */
const labels = create_store(new Map());
const asked = new Set();

/** Takes in the labels of a table's rows. @param {import("./frame.mjs").Frame} frame */
export function learn_labels(frame) {
  const known = new Map(labels.get());
  for (let row = 0; row < frame.length; row++) {
    const label = value_at(frame, "label", row);
    if (label) known.set(value_at(frame, "name", row), label);
  }
  if (known.size > labels.get().size) labels.set(known);
}

async function load(run) {
  const path = address(`/runs/${encodeURIComponent(run)}/kernels`,
    { fields: "name,label", sort: "-total_ns", limit: String(MOST), format: "columns" });
  const { data } = await api_get(path, undefined, { keeps: false });
  learn_labels(frame_of(data));
}

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

/** All labels that are known, by full name. @returns {Map<string, string>} */
export const use_all_labels = () => use_store(labels);
