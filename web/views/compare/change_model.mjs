// SPDX-License-Identifier: Apache-2.0
// Rows of the changes table: which ones matter, their names, what a change consists of; pure.
import { row_label } from "../../charts/waterfall_model.mjs";
import { part_of } from "../../base/parts.mjs";
import { shapes_text, types_text } from "../../base/shapes_text.mjs";
import { cause_label } from "../../base/values.mjs";

export const LEVELS = [["op", "Operator"], ["shape", "Operator + shapes"], ["kernel", "Kernel"],
  ["category", "Category"]];

const MATCH_WORDS = {
  module: "op, shapes, module",
  shape: "op, shapes",
  op: "op",
  kernel: "kernel name",
  category: "category only",
  bar: "",
};

/** Which side lacks a row: "base", "cand" or "". */
export function lacking(row) {
  if (row.base_calls === 0 && row.base_ns === 0) return "base";
  if (row.cand_calls === 0 && row.cand_ns === 0) return "cand";
  return "";
}

/** How a row was matched, in words. */
export function match_words(row) {
  if (part_of(row.bar).idle) return "–";
  if (row.match === "unmatched") return { base: "only in candidate", cand: "only in base",
    "": "unmatched" }[lacking(row)];
  return MATCH_WORDS[row.match] ?? row.match ?? "–";
}

/** Idle time cannot be matched; it is a change like any other. */
export const is_unmatched = (row) =>
  row.match === "unmatched" && Boolean(row.op ?? row.base_kernel ?? row.cand_kernel);

/** A row's first cell: its name and, in small print, what distinguishes it. */
export function name_of(row) {
  if (part_of(row.bar).lacking) return { name: part_of(row.bar).label, more: "" };
  if (part_of(row.bar).idle && !row.op && row.level !== "category") {
    return { name: `Idle: ${cause_label(row.category)}`, more: part_of(row.bar).label };
  }
  if (row.level === "category") {
    return { name: row_label(row), more: part_of(row.bar).label };
  }
  if (row.level === "shape" && row.op) {
    return { name: row.op, more: [shapes_text(row.dims ?? ""), types_text(row.types ?? "")]
      .filter(Boolean).join(" · ") };
  }
  const name = row_label({ ...row, level: row.level === "kernel" ? "kernel" : "op" });
  return { name, more: row.level === "kernel" ? (row.op ?? "") : "" };
}

/**
 * Why a row is hidden at first, or "": within noise, or too small to matter.
 * @param {any} row @param {number} floor_ns
 */
export function hidden_as(row, floor_ns) {
  if (Math.abs(row.delta_ns) < floor_ns) return "small";
  return row.verdict === "within noise" ? "noise" : "";
}

/**
 * Rows for the table, and how many are hidden for which reason.
 * @param {any[]} rows @param {{floor_ns: number, all: boolean, place: {bar: string, cat: string}}}
 * options `all`: nothing is hidden; `place`: the place in the waterfall
 */
export function shown_changes(rows, { floor_ns, all, place }) {
  const inside = rows.filter((row) => (!place.bar || row.bar === place.bar)
    && (!place.cat || (row.category ?? "none") === place.cat));
  const hidden = { small: 0, noise: 0 };
  const shown = [];
  for (const row of inside) {
    const reason = hidden_as(row, floor_ns);
    if (reason) hidden[reason]++;
    if (!reason || all) shown.push(with_text(row));
  }
  return { shown, hidden, hidden_count: hidden.small + hidden.noise };
}

const per_step = (calls, steps) => (steps > 0 ? calls / steps : null);

function with_text(row) {
  const { name, more } = name_of(row);
  return { ...row, name, more, how: match_words(row), size_ns: Math.abs(row.delta_ns),
    base_per_step: per_step(row.base_calls, row.base_steps),
    cand_per_step: per_step(row.cand_calls, row.cand_steps) };
}

/** "12 below 0.1 ms, 3 within noise". */
export function hidden_text({ small, noise }, floor_text) {
  return [small > 0 && `${small} below ${floor_text}`, noise > 0 && `${noise} within noise`]
    .filter(Boolean).join(", ");
}

/** Time per call of a row's side, null without calls. */
export function per_call_ns(row, side) {
  const calls = row[`${side}_calls`];
  return calls > 0 ? row[`${side}_total_ns`] / calls : null;
}

/** Rows and time that only one side has. @param {any[]} rows */
export function only_in(rows, side) {
  const own = rows.filter((row) => is_unmatched(row) && row[`${side}_ns`] > 0);
  return { rows: own.length, ns: own.reduce((sum, row) => sum + row[`${side}_ns`], 0) };
}
