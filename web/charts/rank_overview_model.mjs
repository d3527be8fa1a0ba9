// SPDX-License-Identifier: Apache-2.0
// All ranks of a run from afar, as /timeline/ranks gives them: words and figures of lanes. Pure.
import { time_text } from "../base/format.mjs";

/** @typedef {{first_rank: number, last_rank: number, ranks: number, compute: (number|null)[],
 *   communication: (number|null)[], copy: (number|null)[], idle?: (number|null)[],
 *   compute_least?: (number|null)[], compute_most?: (number|null)[],
 *   communication_least?: (number|null)[], communication_most?: (number|null)[],
 *   idle_least?: (number|null)[], idle_most?: (number|null)[], idlest?: (number|null)[],
 *   slowest?: (number|null)[]}} OverviewLane of a group figures are medians
 */

const LEAST_AHEAD = 0.02; // of the time, for a rank to be called last

/** "Rank 7", "Ranks 0–63" */
export const lane_name = ({ first_rank, last_rank }) => (first_rank === last_rank
  ? `Rank ${first_rank}` : `Ranks ${first_rank}–${last_rank}`);

/** As the parameter `ranks` takes it. */
export const lane_ranks = ({ first_rank, last_rank }) => `${first_rank}-${last_rank}`;

const known = (values) => values.filter((value) => value !== null);
const mean = (values) => (values.length === 0 ? null
  : values.reduce((sum, value) => sum + value, 0) / values.length);

/** The value that occurs most often, if in more than half of all. */
function usual(values) {
  const counts = new Map();
  for (const value of known(values)) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [best] = [...counts].sort((a, b) => b[1] - a[1]);
  return best && best[1] * 2 > values.length ? best[0] : null;
}

/** Idle shares of a lane's pieces: for a single rank, what is left. */
const idle_of = ({ compute, communication, copy, idle }, whole) => idle
  ?? compute.map((share, i) => (share === null ? null
    : Math.max(0, whole - share - communication[i] - copy[i])));

/**
 * What a lane is like over all its pieces, as shares of 1.
 * @param {OverviewLane} lane @param {number} whole
 */
export function lane_sums(lane, whole) {
  const of = (values) => {
    const found = mean(known(values));
    return found === null ? null : found / whole;
  };
  const ahead = lane.communication_least && of(lane.communication.map((share, i) =>
    (share === null ? null : share - lane.communication_least[i])));
  return { compute: of(lane.compute), communication: of(lane.communication), copy: of(lane.copy),
    idle: of(idle_of(lane, whole)), idle_least: lane.idle_least ? of(lane.idle_least) : null,
    idle_most: lane.idle_most ? of(lane.idle_most) : null,
    ahead: ahead ?? 0, slowest: ahead >= LEAST_AHEAD ? usual(lane.slowest) : null };
}

/**
 * What a picture says first: who is last, else who is idle.
 * @param {{lanes: OverviewLane[], whole: number}} data
 */
export function overview_caption({ lanes, whole }) {
  const sums = lanes.map((lane) => ({ lane, ...lane_sums(lane, whole) }))
    .filter(({ idle }) => idle !== null);
  if (sums.length === 0) return "No rank has a trace of this span";
  const [last] = sums.filter(({ slowest }) => slowest !== null).sort((a, b) => b.ahead - a.ahead);
  if (last) return `Rank ${last.slowest} usually communicates for the shortest time: others wait`;
  const by = (key) => [...sums].sort((a, b) => a[key] - b[key]);
  const waits = by("communication");
  const middle = waits[waits.length >> 1].communication;
  if (middle - waits[0].communication >= LEAST_AHEAD) {
    return `${lane_name(waits[0].lane)}: ${percent(waits[0].communication, 1)} communication, ${
      ""}median ${percent(middle, 1)}`;
  }
  const idle = by("idle");
  const [least, most] = [idle[0], idle.at(-1)];
  if (most.idle - least.idle < LEAST_AHEAD) {
    return `Ranks are alike in this span, idle ${percent(most.idle, 1)}`;
  }
  return `${lane_name(most.lane)}: idle ${percent(most.idle, 1)}, ${lane_name(least.lane)}: ${
    percent(least.idle, 1)}`;
}

const percent = (share, whole) => `${Math.round((100 * share) / whole)} %`;

/** A piece of a lane in words. @param {any} data the answer */
export function piece_words({ lanes, whole, first_ns, piece_ns }, lane, piece) {
  const at = lanes[lane];
  const where = `${lane_name(at)} at ${time_text(first_ns + piece * piece_ns)}`;
  if (at.compute[piece] === null) return `${where}: no trace`;
  const parts = `compute ${percent(at.compute[piece], whole)}, communication ${
    percent(at.communication[piece], whole)}, copies ${percent(at.copy[piece], whole)}, idle ${
    percent(idle_of(at, whole)[piece], whole)}`;
  if (!at.idlest) return `${where}: ${parts}`;
  const spread = at.idlest[piece] === null ? "all idle alike" : `idle from ${
    percent(at.idle_least[piece], whole)} to ${percent(at.idle_most[piece], whole)} (rank ${
    at.idlest[piece]})`;
  const last = at.slowest[piece] === null ? "" : `; rank ${at.slowest[piece]} communicates least`;
  return `${where}, median: ${parts}; ${spread}${last}`;
}
