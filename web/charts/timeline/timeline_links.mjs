// SPDX-License-Identifier: Apache-2.0
// Arrows between slices: from a launch to what it launched, from what was waited for to what
// waited; pure.
import { row_top } from "./timeline_model.mjs";

/**
 * @typedef {{lane: number, row: number|null, begin_ns: number, dur_ns: number}} Placed
 * by the API: `lane` is a track of the trace
 * @typedef {{lane: number, row: number, ns: number}} End lane: an index into the shown ones
 * @typedef {{kind: "launch"|"wait", from: End, to: End}} Arrow
 */

const end_ns = ({ begin_ns, dur_ns }) => begin_ns + dur_ns;

/** What a linked event was launched by, or launched first. @returns {Placed|null} */
export const launch_of = (linked) => linked?.launch ?? linked?.launched?.first ?? null;

/** What it waited for. @returns {Placed|null} */
export const waited_of = (linked) => linked?.waited?.for ?? null;

/**
 * The arrows of an answer of /event. @param {any} linked @param {{track: number}[]} lanes
 * @returns {Arrow[]}
 */
export function arrows_of(linked, lanes) {
  if (!linked) return [];
  const end = ({ lane: track, row }, ns) =>
    ({ lane: lanes.findIndex((lane) => lane.track === track), row: row ?? 0, ns });
  const { event, launch, launched, waited } = linked;
  const arrows = [];
  if (launch) {
    arrows.push({ kind: "launch", from: end(launch, launch.begin_ns),
      to: end(event, event.begin_ns) });
  }
  if (launched) {
    arrows.push({ kind: "launch", from: end(event, event.begin_ns),
      to: end(launched.first, launched.first.begin_ns) });
  }
  if (waited) {
    const to_ns = waited.reason === "device" ? end_ns(event) : event.begin_ns;
    arrows.push({ kind: "wait", from: end(waited.for, end_ns(waited.for)), to: end(event, to_ns) });
  }
  return arrows.filter(({ from, to }) => from.lane >= 0 && to.lane >= 0);
}

/** The pin of a placed event among the shown lanes, "" if its lane is not shown. */
export function pin_of_placed({ lane: track, row, begin_ns }, lanes) {
  const lane = lanes.findIndex((one) => one.track === track);
  return lane < 0 ? "" : `${lane}.${row ?? 0}.${begin_ns}`;
}

/** The middle of a row from the top of all lanes; of its folded lane if it is folded away. */
export function middle_of(layout, { lane, row }) {
  const band = layout.bands.find((one) => one.lanes.includes(lane));
  if (!band) return null;
  if (band.kind === "idle" || row >= band.rows) return band.y + band.height / 2;
  return row_top(band, row) + band.row_px / 2;
}
