// SPDX-License-Identifier: Apache-2.0
// Several candidates beside one base: bars of parts and rows of a table; pure.
import { part_of } from "../../base/parts.mjs";
import { side_name } from "./side_model.mjs";
import { is_comparable, matched } from "./verdict_model.mjs";

/** The eight parts of one side, in the columns used by stacks. @param {any[]} bars */
function parts_row(bars, side) {
  return Object.fromEntries(bars.map((row) => [part_of(row.bar).column, row[side]]));
}

/**
 * The base and every candidate with steps as rows of a stack.
 * @param {any} data reply of /compare @param {any[]} bars rows of level bar of all candidates
 * @returns {import("../../charts/stack_rows.mjs").StackRow[]} keys: "base", then indices from 0
 */
export function stacks_of(data, bars) {
  const of = (number) => bars.filter(({ cand }) => cand === number);
  if (of(1).length === 0) return [];
  return [
    { key: "base", name: side_name(data.base.runs), parts: parts_row(of(1), "base_ns") },
    ...data.candidates.map((cand, i) => ({ key: String(i), name: side_name(cand.runs),
      parts: parts_row(of(i + 1), "cand_ns") }))
      .filter((_, i) => is_comparable(data.candidates[i].summary)),
  ];
}

/** A row for each candidate: its summary, its name and how well it was matched. */
export function candidate_rows(data) {
  return data.candidates.map(({ summary, runs }, i) => ({ ...summary, at: i, cand: i + 1,
    name: side_name(runs), size_ns: Math.abs(summary?.delta_ns ?? 0),
    matched: matched(summary ?? {}).at_op }));
}
