// SPDX-License-Identifier: Apache-2.0
// Totals for a span of a timeline: sums by class and by name, the longest slices; pure.
import { first_after, slice_of } from "./timeline_model.mjs";

/** Whether a lane belongs to the device. */
const is_device = (data, lane) => data.lanes[lane].kind === "stream";

/** Calls visit for every slice, of the device or of the host, that overlaps the span. */
function each_in(data, { from, to }, of_device, visit) {
  data.lanes.forEach((_, lane) => {
    if (is_device(data, lane) !== of_device) return;
    for (let row = data.first_row[lane]; row < data.first_row[lane + 1]; row++) {
      const high = data.starts[row + 1];
      let i = first_after(data, data.starts[row], high, from);
      for (; i < high && data.begin[i] < to; i++) visit(i);
    }
  });
}

/** The part of a slice's time inside the span; proportional for a merged slice. */
function time_within(data, i, { from, to }) {
  const inside = Math.min(data.end[i], to) - Math.max(data.begin[i], from);
  if (inside <= 0) return 0;
  return data.count[i] > 1 && data.dur[i] > 0 ? (data.busy[i] * inside) / data.dur[i] : inside;
}

function add(sums, key, fields, ns, count) {
  const sum = sums.get(key);
  if (sum) {
    sum.ns += ns;
    sum.count += count;
  } else sums.set(key, { ...fields, ns, count });
}

const descending = (sums) => [...sums.values()].sort((a, b) => b.ns - a.ns);

/**
 * Sums of slice times in a span. Merged slices count under their longest one.
 * @param {import("./timeline_model.mjs").Data} data @param {boolean} of_device
 * @returns {{classes: any[], names: any[], merged: number, count: number}}
 */
export function sum_span(data, span, of_device) {
  const classes = new Map();
  const names = new Map();
  let merged = 0;
  let count = 0;
  each_in(data, span, of_device, (i) => {
    const ns = time_within(data, i, span);
    const { name, class_name, tint, kind } = slice_of(data, i);
    if (data.count[i] > 1) merged += data.count[i];
    count += data.count[i];
    add(classes, class_name, { name: class_name, tint }, ns, data.count[i]);
    add(names, name, { name, tint, kind, class_name }, ns, data.count[i]);
  });
  return { classes: descending(classes), names: descending(names), merged, count };
}

/** Numbers of the longest slices in a span, without merged ones. @returns {number[]} */
export function longest_in(data, span, of_device, most = 20) {
  const found = [];
  each_in(data, span, of_device, (i) => data.count[i] === 1 && found.push(i));
  return found.sort((a, b) => data.dur[b] - data.dur[a] || data.begin[a] - data.begin[b])
    .slice(0, most);
}

/** Whether there are device lanes, or host lanes. */
export const has_lanes = (data, of_device) =>
  data.lanes.some((_, lane) => is_device(data, lane) === of_device);
