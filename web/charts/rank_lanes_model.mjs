// SPDX-License-Identifier: Apache-2.0
// Several ranks on one clock: slices by rank, their waits, collectives as points to join; from
// events in Chrome's form, as /events gives them. Pure.

const LANES = { compute: 0, memory: 0, communication: 1 };

/**
 * @typedef {{from: number, to: number, name: string, kind: string}} RankSlice in ns
 * @typedef {{rank: number, lanes: RankSlice[][], waits: RankSlice[]}} RankLane
 * lanes are compute with copies, and communication
 */

const ns_of = (us) => Math.round(us * 1000);

/**
 * @param {any[]} events @param {number[]} order ranks from the top down
 * @returns {{ranks: RankLane[], joins: {rank: number, ns: number}[][], from: number, to: number}}
 * `joins` are the starts of each collective on the ranks that take part
 */
export function rank_lanes(events, order) {
  const ranks = new Map(order.map((rank) => [rank, { rank, lanes: [[], []], waits: [] }]));
  const flows = new Map();
  const slices = [];
  for (const { ph, pid, cat, name, ts, dur, id } of events) {
    const rank = ranks.get(pid);
    if (!rank) continue;
    if (ph === "X" && (cat in LANES || cat === "wait")) {
      const slice = { from: ns_of(ts), to: ns_of(ts + dur), name, kind: cat };
      (cat === "wait" ? rank.waits : rank.lanes[LANES[cat]]).push(slice);
      if (cat !== "wait") slices.push(slice);
    } else if (ph === "s" || ph === "f" || ph === "t") {
      if (!flows.has(id)) flows.set(id, []);
      flows.get(id).push({ rank: pid, ns: ns_of(ts) });
    }
  }
  for (const { lanes, waits } of ranks.values()) {
    for (const list of [...lanes, waits]) list.sort((a, b) => a.from - b.from);
  }
  const place = new Map(order.map((rank, i) => [rank, i]));
  const joins = [...flows.values()].filter((points) => points.length > 1);
  for (const points of joins) points.sort((a, b) => place.get(a.rank) - place.get(b.rank));
  return { ranks: [...ranks.values()], joins, ...span_of(slices) };
}

/** What a span of events covers: those that only reach into it do not widen it. */
function span_of(slices) {
  const least = (key) => slices.reduce((all, slice) => Math.min(all, slice[key]), Infinity);
  const most = (key) => slices.reduce((all, slice) => Math.max(all, slice[key]), -Infinity);
  if (slices.length === 0) return { from: 0, to: 0 };
  const [from, to] = [least("to"), most("from")];
  return from < to ? { from, to } : { from: least("from"), to: most("to") };
}

/** The longest waits of all ranks. @param {RankLane[]} ranks */
export const longest_waits = (ranks, most) => ranks
  .flatMap(({ rank, waits }) => waits.map((wait) => ({ rank, ...wait })))
  .sort((a, b) => (b.to - b.from) - (a.to - a.from))
  .slice(0, most);

/** How long each rank waits. @param {RankLane[]} ranks */
export const waits_of = (ranks) => ranks.map(({ rank, waits }) =>
  ({ rank, ns: waits.reduce((sum, wait) => sum + wait.to - wait.from, 0) }));

/**
 * Slowest, median and fastest of a run's ranks. Ranks that wait for each other have equal steps:
 * then the one that waits least is the slowest, as the others wait for it, and one whose waits are
 * not known has no place among them.
 * @param {{rank: number, wait_ns: number|null, step_median_ns: number|null}[]} rows
 * @returns {number[]} without repeats
 */
export function spread_ranks(rows) {
  const waits = rows.some(({ wait_ns }) => wait_ns > 0);
  const slowness = ({ wait_ns, step_median_ns }) => (waits ? -wait_ns : (step_median_ns ?? 0));
  const known = waits ? rows.filter(({ wait_ns }) => wait_ns !== null) : [...rows];
  const sorted = known.sort((a, b) => slowness(b) - slowness(a) || a.rank - b.rank)
    .map(({ rank }) => rank);
  if (sorted.length === 0) return [];
  return [...new Set([sorted[0], sorted[(sorted.length - 1) >> 1], sorted.at(-1)])];
}

const MOST_RANKS = 16;

/** "0-2,7" as ranks that the run has. @param {string} text @param {number[]} known */
export function ranks_in(text, known) {
  const wanted = new Set();
  for (const part of text.split(",")) {
    const match = /^\s*(\d{1,6})(?:-(\d{1,6}))?\s*$/.exec(part);
    if (!match) continue;
    const [first, last] = [Number(match[1]), Number(match[2] ?? match[1])];
    for (const rank of known) if (rank >= first && rank <= last) wanted.add(rank);
  }
  return known.filter((rank) => wanted.has(rank));
}

/** The same, at most 16. */
export const ranks_of_text = (text, known) => ranks_in(text, known).slice(0, MOST_RANKS);
