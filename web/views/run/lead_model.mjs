// SPDX-License-Identifier: Apache-2.0
// Each page of a run in one plain sentence with its number: pure, from the run's summary alone.
import { count, percent, plural, short_kernel, time_text } from "../../base/format.mjs";
import { headline_row, parts_of, total_of } from "../../base/parts.mjs";
import { RANGE_PAGES } from "./range_model.mjs";

// What a step does in each part, as the words after "of it".
const DOING = { gemm: "in matrix products", attention: "in attention",
  other_compute: "in other compute kernels", exposed_comm: "communicating while nothing computes",
  exposed_memory: "copying while nothing computes", idle_host_wait: "waiting for the host",
  idle_other: "idle for other reasons", unrecorded: "in work that was not recorded" };
const TOLD = 0.05; // of the step; smaller parts are in the breakdown
const MOST_PARTS = 2;
const ALIKE = 0.005; // ranks that differ less take the same time

/** Whether no step of a rank, the typical one, is marked: then all it recorded counts as one. */
export const is_whole = ({ summary, no_steps }, of = summary.headline_rank) =>
  (no_steps ?? []).some(({ rank }) => rank === of);

/** What follows a time of a step; all of a recording without steps is said without. */
export const per_step = (whole) => (whole ? "" : " per step");

/** The head of a column of calls. */
export const calls_label = (whole) => `Calls${per_step(whole)}`;

/**
 * "A step takes 1,076 ms: 46.8 % of it waiting for the host, 45.8 % in attention." or "No step is
 * marked; the recording takes 1,076 ms: 46.8 % ...".
 */
function overview(data) {
  const { summary, breakdown } = data;
  const parts = parts_of(headline_row(breakdown));
  const total = total_of(parts);
  if (!(summary.step_median_ns > 0) || !(total > 0)) return "";
  const most = parts.map(({ part, ns }) => ({ key: part.key, share: ns / total }))
    .filter(({ key, share }) => share >= TOLD && key in DOING)
    .sort((a, b) => b.share - a.share).slice(0, MOST_PARTS);
  const whose = summary.ranks > 1 ? " of the typical rank" : "";
  const said = most.map(({ key, share }, i) =>
    `${percent(share)} ${i === 0 ? "of it " : ""}${DOING[key]}`);
  const what = is_whole(data) ? `No step is marked; the recording${whose} takes`
    : `A step${whose} takes`;
  return `${what} ${[time_text(summary.step_median_ns), ...said].join(", ").replace(", ", ": ")}.`;
}

function kernels(data) {
  const [first] = data.kernels ?? [];
  if (!first) return "";
  const by = first.op ? `, launched by ${first.op},` : "";
  // The share is of all ranks, the time of the typical one, which may run it much shorter.
  const several = data.summary.ranks > 1;
  const time = several ? "" : `${time_text(first.per_step_ns)}${per_step(is_whole(data))}, `;
  return `${first.label || short_kernel(first.name)}${by} takes the most time: ${time}${
    percent(first.busy_share)} of the busy time${several ? " of all ranks" : ""}.`;
}

/**
 * "511 ms of a step of 1,076 ms (47.5 %)". What the GPU did in a gap of the recording is not known:
 * "158 ms of the 427 ms recorded of a step of 623 ms (36.9 %)".
 */
function of_step(ns, row, data) {
  const steps = Math.max(1, row.steps || 1);
  const known_ns = row.window_ns - row.unrecorded_ns;
  const known = row.unrecorded_ns > 0 ? `the ${time_text(known_ns / steps)} recorded of ` : "";
  return `${time_text(ns / steps)} of ${known}${is_whole(data) ? "the recording" : "a step"} of ${
    time_text(row.window_ns / steps)} (${percent(ns / known_ns)})`;
}

/** Busy time of a rank with several GPUs is their union. */
const any_gpu = ({ devices }) =>
  (devices > 1 ? `At least one of ${count(devices)} GPUs` : "The GPU");
const no_gpu = ({ devices }) => (devices > 1
  ? `${devices === 2 ? "Both" : `All ${count(devices)}`} GPUs are idle at once`
  : "The GPU is idle");

/** "The GPU is idle for 511 ms of a step of 1,076 ms (47.5 %), 98.7 % of that waiting for ..." */
function idle(data) {
  const row = headline_row(data.breakdown);
  if (!row || !(row.window_ns > row.unrecorded_ns)) return "";
  const idle_ns = row.idle_host_wait_ns + row.idle_other_ns;
  const host = row.idle_host_wait_ns > 0
    ? `, ${percent(row.idle_host_wait_ns / idle_ns)} of that waiting for the host` : "";
  return `${no_gpu(data.summary)} for ${of_step(idle_ns, row, data)}${host}.`;
}

/** Ranks of a run: a file that could not be read is none. @param {any} run */
export const ranks_here = ({ received, failed = 0 }) => received - failed;

/** "8 ranks of 8, 1 file failed". @param {any} run */
export function ranks_text(run) {
  const { world_size, evidence, failed = 0 } = run;
  const here = ranks_here(run);
  if (here === 0 && evidence > 0 && failed === 0) return "no trace";
  const of_job = world_size ? ` of ${count(world_size)}` : "";
  const of_files = failed > 0 ? `, ${plural(failed, "file")} failed` : "";
  return `${plural(here, "rank")}${of_job}${of_files}`;
}

/** How far the figures can be trusted. */
function data_page({ trust }) {
  const limits = (trust ?? []).filter(({ severity }) => severity !== "info").length;
  if (!trust) return "";
  return limits === 0 ? "Nothing in the recordings limits the figures."
    : `${plural(limits, "entry", "entries")} of the trust report ${
      limits === 1 ? "limits" : "limit"} the figures.`;
}

function busy(data) {
  const row = headline_row(data.breakdown);
  if (!row || !(row.window_ns > row.unrecorded_ns)) return "";
  return `${any_gpu(data.summary)} is busy for ${of_step(row.busy_ns, row, data)}.`;
}

function ranks(data) {
  const { summary, run } = data;
  const step = is_whole(data) ? "recording" : "step";
  const { ranks: known, slowest_rank: slowest, rank_spread_share: spread } = summary;
  if (!(summary.step_median_ns > 0)) return "";
  const typical = time_text(summary.step_median_ns);
  if (known === 1) {
    return `${run?.world_size === 1 ? "The job has one rank"
      : `Only rank ${summary.headline_rank} was recorded`}: its ${step} takes ${typical}.`;
  }
  if (!(known > 1) || spread === null) return "";
  if (spread < ALIKE) {
    const all = known === 2 ? "Both" : `All ${count(known)}`;
    return is_whole(data) ? `${all} recordings take ${typical}.`
      : `${all} ranks end their steps together, after ${typical}.`;
  }
  return `Rank ${slowest} is the slowest of ${count(known)}: its ${step} is ${
    percent(spread)} longer than the ${typical} of the typical rank.`;
}

const PAGES = { overview, kernels, timeline: busy, flame: busy, idle, ranks, data: data_page };

/** The summary has the typical rank, no part of it, and no other run. */
const is_of_summary = (page, { summary }, { rank, range, vs }) =>
  (rank === "" || rank === String(summary.headline_rank))
  && (range === "" || !RANGE_PAGES.has(page)) && (page !== "flame" || !vs);

/**
 * @param {string} page @param {any} data the reply of /summary
 * @param {{rank: string, range: string, vs?: string, of?: string}} [shown] what the address asks
 *   for, "" for the usual
 * @returns {string} "" where the page begins with its number, or nothing is known
 */
export const lead_text = (page, data, shown = { rank: "", range: "" }) =>
  (data.summary?.device_events > 0 && page in PAGES && is_of_summary(page, data, shown)
    ? PAGES[page === "flame" && shown.of === "idle" ? "idle" : page](data) : "");
