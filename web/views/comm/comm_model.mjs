// SPDX-License-Identifier: Apache-2.0
// The communication of all ranks: its cost, split into waiting and transfer, and what cannot be
// known; pure.
import { count, percent, plural, time_text } from "../../base/format.mjs";
import { filter_rows, value_at, with_columns } from "../../base/frame.mjs";
import { ranks_in } from "../../charts/rank_lanes_model.mjs";
import { per_step } from "../run/lead_model.mjs";
import { is_figure, ranks_text } from "../ranks/outlier_model.mjs";

const sum_of = (rows, name) => rows.reduce((sum, row) => sum + (row[name] ?? 0), 0);
const mean = (rows, name) => sum_of(rows, name) / (rows.length || 1);

/**
 * The exposed communication of a step, averaged over the ranks whose waits are known; null if there
 * are none. Its share is of the recorded time.
 * @param {any[]} rows of the table ranks @param {any[]} waits rows of comm_waits
 * @param {number} steps steady ones
 */
export function exposed_split(rows, waits, steps) {
  const known = rows.filter((row) =>
    is_figure(row.exposed_wait_ns) && is_figure(row.exposed_transfer_ns));
  if (known.length === 0) return null;
  const exposed_ns = mean(known, "exposed_comm_ns");
  const wait_ns = mean(known, "exposed_wait_ns");
  // The ranks' own figure has all that is not waiting, and so the calls without a match as well.
  const matched_ns = sum_of(waits, "exposed_transfer_ns") / known.length / Math.max(1, steps);
  const transfer_ns = Math.min(mean(known, "exposed_transfer_ns"), matched_ns);
  return { ranks: known.length, exposed_ns, wait_ns, transfer_ns,
    rest_ns: Math.max(0, exposed_ns - wait_ns - transfer_ns),
    share: exposed_ns / (mean(known, "window_ns") - mean(known, "unrecorded_ns") || 1) };
}

/** Whether most of the exposed communication is without a match. @param {any} split */
export const is_mostly_unknown = ({ rest_ns, exposed_ns }) => rest_ns > exposed_ns / 2;

const TOLD_FROM = 0.005; // of the exposed communication

/** "Exposed communication 62.9 ms per step = 41.0 ms waiting ...". @param {any} split */
export function split_sentence(split, whole = false) {
  const { exposed_ns, wait_ns, transfer_ns, rest_ns, share } = split;
  if (exposed_ns === 0) return "No communication is exposed: compute hides all of it.";
  const rest = rest_ns > TOLD_FROM * exposed_ns
    ? ` + ${time_text(rest_ns)} that could not be split` : "";
  return `Exposed communication ${time_text(exposed_ns)}${per_step(whole)} (${percent(share)}) = ${
    time_text(wait_ns)} waiting for late ranks + ${time_text(transfer_ns)} transfer${rest}`;
}

/** The split as segments of a bar. */
export function split_segments({ wait_ns, transfer_ns, rest_ns, exposed_ns }) {
  return [
    { key: "wait", label: "Waiting for late ranks", value: wait_ns, part: "exposed_wait",
      help: "The collective had started here, but not yet on its last rank." },
    { key: "transfer", label: "Transfer", value: transfer_ns, part: "exposed_transfer",
      help: "All ranks of the collective had started." },
    { key: "rest", label: "Not attributed", value: rest_ns > TOLD_FROM * exposed_ns ? rest_ns : 0,
      part: "exposed_rest", help: "Collectives without a match on another rank." },
  ];
}

/**
 * Of how many ranks each row of comm_waits is the sum: the recorded ones of its group. A row whose
 * ranks are not known is of all groups, and so of all recorded ranks.
 * @param {import("../../base/frame.mjs").Frame} frame @param {number[]} recorded ranks
 * @returns {(row: number) => number}
 */
function counts_of(frame, recorded) {
  const found = new Map([["", recorded.length]]); // groups are few, and have many rows
  return (row) => {
    const text = value_at(frame, "ranks", row) ?? "";
    if (!found.has(text)) found.set(text, ranks_in(text, recorded).length);
    return Math.max(1, found.get(text));
  };
}

/**
 * The table comm_waits per step and recorded rank, with the page's extra columns.
 * @param {import("../../base/frame.mjs").Frame} frame @param {number} steps steady ones
 * @param {number[]} recorded ranks
 * @returns {import("../../base/frame.mjs").Frame}
 */
export function waits_per_step(frame, steps, recorded) {
  const n = Math.max(1, steps || 1);
  const at = (name, row) => value_at(frame, name, row);
  const ranks_of = counts_of(frame, recorded);
  const derive = (make) => Array.from({ length: frame.length }, (_, row) => make(row));
  const each = (name) => derive((row) => {
    const value = at(name, row);
    return value === null ? null : Math.round(value / n / ranks_of(row));
  });
  const exposed_wait = each("exposed_wait_ns");
  const exposed_transfer = each("exposed_transfer_ns");
  const columns = {
    exposed_wait_per_rank_ns: exposed_wait,
    exposed_transfer_per_rank_ns: exposed_transfer,
    exposed_per_rank_ns: exposed_wait.map((wait, i) => (wait === null
      && exposed_transfer[i] === null ? null : (wait ?? 0) + (exposed_transfer[i] ?? 0))),
    wait_per_rank_ns: each("wait_ns"),
    transfer_per_rank_ns: each("transfer_ns"),
    calls_per_step: derive((row) => Math.round(((at("calls", row) ?? 0) / n) * 10) / 10),
  };
  return with_columns(frame, columns);
}

/** Collectives found on several ranks. @param {any[]} waits rows of comm_waits */
export const matched_calls = (waits) => sum_of(waits, "calls");

/**
 * Exposed waiting per step by the groups' dimension, averaged over all ranks, largest first.
 * @param {any[]} waits rows of comm_waits @param {number} ranks @param {number} steps
 */
export function waits_by_dimension(waits, ranks, steps) {
  const found = new Map();
  for (const { dimension, exposed_wait_ns } of waits) {
    const name = dimension ?? "";
    found.set(name, (found.get(name) ?? 0) + (exposed_wait_ns ?? 0));
  }
  return [...found].map(([dimension, ns]) =>
    ({ dimension, ns: ns / Math.max(1, ranks) / Math.max(1, steps) }))
    .filter(({ ns }) => ns > 0)
    .sort((a, b) => b.ns - a.ns);
}

/** "Of the waiting, 59.0 ms is in pipeline groups, ..."; "" if there is only one kind. */
export function dimensions_sentence(parts) {
  if (parts.length < 2) return "";
  const shares = parts.map(({ dimension, ns }, i) => `${time_text(ns)}${i === 0 ? " is" : ""} in ${
    dimension === "" ? "other" : dimension} groups`);
  return `Of the waiting, ${shares.slice(0, -1).join(", ")} and ${shares.at(-1)}.`;
}

/** Rows of one dimension, group and kind; "" matches all. */
export function chosen_rows(frame, { dimension, process_group, kind }) {
  return filter_rows(frame, { equals: { dimension, process_group, kind } });
}

/** Clocks by their component, in which alone they can be compared, largest first. */
function components_of(clocks) {
  const found = new Map();
  for (const clock of clocks) {
    found.set(clock.component, [...(found.get(clock.component) ?? []), clock]);
  }
  return [...found.values()].sort((a, b) => b.length - a.length);
}

const EXACT_NS = 1000;

const spread_of = (values) =>
  (values.length === 0 ? 0 : Math.max(...values) - Math.min(...values));

/** How well the clocks agree, in words. @param {any[]} clocks of the table clocks */
export function clocks_sentence(clocks) {
  const known = clocks.filter(({ collectives }) => collectives > 0);
  const parts = components_of(known).filter((part) => part.length > 1);
  if (parts.length === 0) return "";
  const apart = Math.max(...parts.map((part) =>
    spread_of(part.map(({ offset_ns }) => offset_ns).filter(is_figure))));
  const errors = known.map(({ error_ns }) => error_ns).filter(is_figure);
  const worst = Math.max(...errors);
  const within = worst < EXACT_NS ? "to less than 1 µs" : `to within ${time_text(worst, 2)}`;
  const aligned = errors.length > 0
    ? `; the ends of matched collectives align them ${within}` : "";
  const which = parts.length > 1 ? " that can be compared" : "";
  return `Clocks of the ranks${which} are up to ${time_text(apart)} apart${aligned}.`;
}

const MOST_PARTS = 4;

function clocks_apart(clocks) {
  const parts = components_of(clocks).map((part) =>
    part.map(({ rank }) => rank).sort((a, b) => a - b));
  if (parts.length < 2) return [];
  const shown = parts.slice(0, MOST_PARTS).map((ranks) => `${ranks_text(ranks, 4)}`).join(" | ");
  const more = parts.length > MOST_PARTS ? ` | ${count(parts.length - MOST_PARTS)} more` : "";
  return [`The clocks of ranks ${shown}${more} cannot be aligned: they share no collective. `
    + "Waiting across them is unknown."];
}

/**
 * What cannot be known, and why, in sentences.
 * @param {{ranks: number, world: number|null, waits: any[], clocks: any[], has_comm: boolean}} of
 */
export function unknowns({ ranks, world, waits, clocks, has_comm }) {
  if (!has_comm) return [];
  if (ranks < 2) {
    return [`Separating waiting from transfer needs recordings of several ranks, and ${
      world > 1 ? `only one of ${count(world)} was` : "only one was"} uploaded: the share of `
      + "waiting in the exposed communication is unknown."];
  }
  const unmatched = sum_of(waits, "unmatched_calls");
  if (matched_calls(waits) === 0) {
    return ["No collective could be matched across ranks, so waiting and transfer cannot be "
      + `separated${unmatched > 0 ? ` (${plural(unmatched, "call")})` : ""
      }. Recordings with process groups and sizes make it possible.`];
  }
  const unnamed = waits.filter(({ process_group }) => !process_group).length;
  const unsized = waits.filter(({ bytes }) => !is_figure(bytes)).length;
  return [
    ...(world > ranks ? [`${count(world - ranks)} of ${count(world)} ranks are missing: waiting `
      + "for them counts as transfer."] : []),
    ...(unnamed > 0 ? [`${plural(unnamed, "row")} without a process group: the recording names `
      + "none, so calls are matched by their order alone."] : []),
    ...(unsized > 0 ? [`${plural(unsized, "row")} without a size: their bandwidth is unknown.`]
      : []),
    ...(unmatched > 0 ? [`${plural(unmatched, "call")} of single ranks match no call of another `
      + "rank and are excluded from waiting and transfer."] : []),
    ...clocks_apart(clocks),
  ];
}
