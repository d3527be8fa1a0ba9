// SPDX-License-Identifier: Apache-2.0
// A run in one or two plain sentences: its step, what most of it is, and what to look at; pure.
import { ms_unit, percent } from "../../base/format.mjs";
import { parts_of, total_of } from "../../base/parts.mjs";

// What a step does in each part, as the words after "of it".
const DOING = { gemm: "in matrix products", attention: "in attention",
  other_compute: "in other compute kernels", exposed_comm: "communicating while nothing computes",
  exposed_memory: "copying while nothing computes", idle_host_wait: "waiting for the host",
  idle_other: "idle for other reasons", unrecorded: "in work that was not recorded" };
const TOLD = 0.05; // of the step; smaller parts are in the breakdown
const MOST_PARTS = 2;

/**
 * "A step takes 1,076 ms: 46.8 % of it waiting for the host, 45.8 % in attention."
 * @param {any} summary @param {any} row of the breakdown @returns {string} "" without a step
 */
export function lead_text({ step_median_ns: step_ns, ranks }, row) {
  const parts = row ? parts_of(row) : [];
  const total = total_of(parts);
  if (!(step_ns > 0) || !(total > 0)) return "";
  const most = parts.map(({ part, ns }) => ({ key: part.key, share: ns / total }))
    .filter(({ key, share }) => share >= TOLD && key in DOING)
    .sort((a, b) => b.share - a.share).slice(0, MOST_PARTS);
  const whose = ranks > 1 ? " of the typical rank" : "";
  const said = most.map(({ key, share }, i) =>
    `${percent(share)} ${i === 0 ? "of it " : ""}${DOING[key]}`);
  return `A step${whose} takes ${[ms_unit(step_ns), ...said].join(", ").replace(", ", ": ")}.`;
}
