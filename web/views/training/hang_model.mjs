// SPDX-License-Identifier: Apache-2.0
// The members of waiting process groups as a matrix: a row per rank, a column per kind of group.

const LATE = { mismatch: "calls a different collective than most", absent: "has not entered it",
  behind: "is at an earlier collective", no_dump: "left no dump" };
const OTHERS = { waits: "waits", past: "has moved on", unknown: "unknown" };

/** Others wait for a member in such a state. */
export const is_late = ({ state }) => state in LATE;

/** The collective that a member is in, else the last that it entered. */
export const number_of = ({ unfinished, entered }) => unfinished ?? entered;

/** Of groups of one description: the one in which the rank is late, else the one furthest back. */
function tells_more(cell, before) {
  if (!before || is_late(cell) !== is_late(before)) return !before || is_late(cell);
  return (number_of(cell) ?? Infinity) < (number_of(before) ?? Infinity);
}

/**
 * @param {any[]} rows of hang_progress, the most telling groups first
 * @returns {{groups: string[], ranks: {rank: number, is_late: boolean, cells: any[]}[]}} ranks that
 *   are late come first; a cell is null where a rank is in no waiting group
 */
export function hang_matrix(rows) {
  const groups = [...new Set(rows.map((row) => row.process_group))];
  const place = new Map(groups.map((name, i) => [name, i]));
  const by_rank = new Map();
  for (const row of rows) {
    if (!by_rank.has(row.rank)) by_rank.set(row.rank, groups.map(() => null));
    const cells = by_rank.get(row.rank);
    const at = place.get(row.process_group);
    if (tells_more(row, cells[at])) cells[at] = row;
  }
  const ranks = [...by_rank].map(([rank, cells]) =>
    ({ rank, cells, is_late: cells.some((cell) => cell && is_late(cell)) }));
  ranks.sort((a, b) => b.is_late - a.is_late || a.rank - b.rank);
  return { groups, ranks };
}

/** The part of a description that distinguishes it. */
export const short_group = (name) => (name ?? "").replace("_PARALLEL_GROUP", "") || "unnamed";

/** What a cell means, in words. */
export function cell_words(cell) {
  const number = number_of(cell);
  const what = (cell.operation ?? "collective").replace(/^nccl:/, "");
  if (cell.state === "no_dump") return `rank ${cell.rank} left no dump`;
  return `rank ${cell.rank} ${LATE[cell.state] ?? OTHERS[cell.state] ?? cell.state}: ${
    cell.unfinished === null ? "last entered" : `in ${what}`}${
    number === null ? "" : ` number ${number}`} of ${
    cell.process_group || "a group"}, ranks ${cell.ranks}`;
}

/** "1 of 16 ranks is late"; how many that is. @param {{is_late: boolean}[]} ranks */
export function matrix_caption(ranks) {
  const late = ranks.filter((row) => row.is_late).length;
  if (late === 0) return "No rank is late in a waiting process group";
  return `${late} of ${ranks.length} ranks ${late === 1 ? "is" : "are"} late in a process group ${
    ""}that waits`;
}
