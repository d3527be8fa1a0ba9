// SPDX-License-Identifier: Apache-2.0
// What a timeline shows: slices by row, positions of lanes, what is under a point; pure.
import { bar_of } from "../../base/parts.mjs";

/** Colors by what a slice is; the first five are those of the parts of a step. */
export const TINTS = [
  { key: "gemm", label: "GEMM / matmul" },
  { key: "attention", label: "Attention" },
  { key: "other_compute", label: "Other compute" },
  { key: "exposed_comm", label: "Communication" },
  { key: "exposed_memory", label: "Copies and memsets" },
  { key: "operator", label: "Operator" },
  { key: "call", label: "Runtime call" },
  { key: "frame", label: "Python" },
  { key: "annotation", label: "Annotation" },
];
const TINT = new Map(TINTS.map(({ key }, i) => [key, i]));

function host_tint(name) {
  if (/annotation/.test(name)) return "annotation";
  if (/runtime|driver|sync|overhead/.test(name)) return "call";
  if (/python|frame/.test(name)) return "frame";
  return "operator";
}

// What is on streams without being work.
const NOTES = new Set(["gpu_annotation", "sync", "cuda_event", "other_event", "overhead"]);

function device_tint(name) {
  if (NOTES.has(name)) return "annotation";
  return name === "copy" || name === "fill" ? "exposed_memory" : bar_of(name);
}

/** The index of a slice's color. @param {string} kind of its lane @param {string} class_name */
export function tint_of(kind, class_name) {
  if (kind === "annotation") return TINT.get("annotation");
  return TINT.get(kind === "stream" ? device_tint(class_name) : host_tint(class_name));
}

/** @typedef {{name: string, kind: string, process: string, thread: string, rows: number}} Lane */

/** @param {Lane} lane */
export const lane_key = ({ kind, process, thread, name }) =>
  `${kind}:${process}:${thread}:${name}`.replaceAll(",", " ");

/** "stream 7" of "GPU 2 stream 7", "python3 2542" of "thread 2542 (python3)". */
export const short_lane = (name) =>
  name.replace(/^GPU \d+ (?=stream)/, "").replace(/^thread (\d+) \(([^)]+)\)/, "$2 $1");

/** Slice numbers sorted by row, and where each row starts. */
function by_row(slices, first_row, rows) {
  const row_of = slices.lane.map((lane, i) => {
    const last = first_row[lane + 1] - 1;
    return Math.min(last, first_row[lane] + slices.row[i]);
  });
  const begins = slices.begin_ns;
  const order = row_of.map((_, i) => i)
    .sort((a, b) => row_of[a] - row_of[b] || begins[a] - begins[b]);
  const starts = new Int32Array(rows + 1);
  for (const row of row_of) starts[row + 1]++;
  for (let row = 0; row < rows; row++) starts[row + 1] += starts[row];
  return { order, starts, row_of };
}

/** Lanes with as many rows as in the whole trace, so that all windows agree. */
function lanes_of({ lanes }, whole) {
  if (whole?.lanes.length !== lanes.length) return lanes;
  return lanes.map((lane, i) => ({ ...lane, rows: Math.max(lane.rows, whole.lanes[i].rows) }));
}

/**
 * A reply of the API as columns that are fast to draw: sorted by row, then by begin.
 * @param {any} reply @param {any} [whole] the whole trace that the reply is a window of
 */
export function pack(reply, whole) {
  const { names, classes, slices, steps } = reply;
  const lanes = lanes_of(reply, whole);
  const first_row = [0];
  for (const { rows } of lanes) first_row.push(first_row.at(-1) + Math.max(1, rows));
  const { order, starts, row_of } = by_row(slices, first_row, first_row.at(-1));
  const column = (values) => Float64Array.from(order, (i) => values[i]);
  const begin = column(slices.begin_ns);
  const dur = column(slices.dur_ns);
  const tints = lanes.map(({ kind }) => classes.map((name) => tint_of(kind, name)));
  return {
    from: reply.from_ns, to: reply.to_ns, resolution_ns: reply.resolution_ns,
    bounds: { from: reply.begin_ns, to: reply.end_ns }, rank: reply.rank,
    left_out: reply.lanes_left_out,
    lanes, names, classes, steps: steps ?? [], first_row, starts, length: order.length,
    begin, dur, end: begin.map((ns, i) => ns + dur[i]),
    name: Int32Array.from(order, (i) => slices.name[i]),
    class: Int32Array.from(order, (i) => slices.class[i]),
    count: column(slices.count),
    busy: column(slices.busy_ns ?? slices.dur_ns),
    lane: Int32Array.from(order, (i) => slices.lane[i]),
    row: Int32Array.from(order, (i) => row_of[i]),
    tint: Uint8Array.from(order, (i) => tints[slices.lane[i]][slices.class[i]]),
    has_merged: slices.count.some((n) => n > 1),
  };
}

/** @typedef {ReturnType<typeof pack>} Data */

/**
 * The start of device work, from which the tables of the analysis count time.
 * @param {Data} data the whole trace @param {{step: number, begin_ns: number}[]} step_rows
 */
export function device_begin(data, step_rows) {
  for (const { number, begin_ns } of data.steps) {
    const row = step_rows.find(({ step }) => step === number);
    if (row) return begin_ns - row.begin_ns;
  }
  const begins = [...data.begin].filter((_, i) => data.lanes[data.lane[i]].kind === "stream");
  return begins.length > 0 ? begins.reduce((a, b) => Math.min(a, b)) : 0;
}

/** The first slice of [low, high) that ends after the instant. */
export function first_after(data, low, high, ns) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (data.end[middle] > ns) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Lanes with a slice in the span. @param {Data} data @returns {boolean[]} */
export function busy_lanes(data, { from, to }) {
  return data.lanes.map((_, lane) => {
    for (let row = data.first_row[lane]; row < data.first_row[lane + 1]; row++) {
      const i = first_after(data, data.starts[row], data.starts[row + 1], from);
      if (i < data.starts[row + 1] && data.begin[i] < to) return true;
    }
    return false;
  });
}

const KIND_ORDER = { stream: 0, annotation: 1, thread: 2 };
const ROW_PX = { stream: 20, annotation: 16, thread: 16 };
const PAD_PX = 4;
const THIN_PX = 24; // of what can be pressed

/**
 * @typedef {{kind: "lane"|"idle", key: string, y: number, height: number, lanes: number[],
 *            rows: number, row_px: number, closed: boolean}} Band
 */

const idle_band = (lanes, keys) => ({ kind: "idle", key: `idle:${keys[0]}`, lanes, rows: 0,
  row_px: THIN_PX, height: THIN_PX, closed: true });

function lane_band(lane, index, key, closed) {
  const rows = closed ? 1 : Math.max(1, lane.rows);
  const row_px = ROW_PX[lane.kind] ?? ROW_PX.thread;
  return { kind: "lane", key, lanes: [index], rows, row_px, closed,
    height: rows * row_px + 2 * PAD_PX };
}

/**
 * Positions of lanes from the top: streams, annotations, threads; idle neighbors fold into one
 * line.
 * @param {Lane[]} lanes @param {boolean[]} busy @param {Set<string>} toggled keys of closed lanes
 * and of open idle lines
 * @returns {{bands: Band[], height: number}}
 */
export function layout_lanes(lanes, busy, toggled) {
  const order = lanes.map((_, i) => i).sort((a, b) =>
    (KIND_ORDER[lanes[a].kind] ?? 3) - (KIND_ORDER[lanes[b].kind] ?? 3) || a - b);
  const bands = [];
  for (let i = 0; i < order.length; ) {
    let next = i;
    while (next < order.length && !busy[order[next]]) next++;
    const idle = order.slice(i, next);
    const keys = idle.map((lane) => lane_key(lanes[lane]));
    if (idle.length > 0 && !toggled.has(`idle:${keys[0]}`)) bands.push(idle_band(idle, keys));
    else {
      if (idle.length > 0) bands.push({ ...idle_band([], keys), closed: false });
      if (idle.length === 0) next = i + 1;
      for (const lane of order.slice(i, next)) {
        const key = lane_key(lanes[lane]);
        bands.push(lane_band(lanes[lane], lane, key, toggled.has(key)));
      }
    }
    i = next;
  }
  let y = 0;
  for (const band of bands) {
    band.y = y;
    y += band.height;
  }
  return { bands, height: y };
}

/** Top of a band's row. @param {Band} band */
export const row_top = (band, row) => band.y + PAD_PX + row * band.row_px;

/** The band and its row at a height; null outside. */
export function row_at(layout, y) {
  const band = layout.bands.find((one) => y >= one.y && y < one.y + one.height);
  if (!band || band.kind !== "lane") return null;
  const row = Math.floor((y - band.y - PAD_PX) / band.row_px);
  return row >= 0 && row < band.rows ? { band, row } : null;
}

/** The band and row where a slice is drawn; null if its row is folded away. */
export function place_of(layout, data, i) {
  const lane = data.lane[i];
  const row = data.row[i] - data.first_row[lane];
  const band = layout.bands.find((one) => one.kind === "lane" && one.lanes[0] === lane);
  return band && row < band.rows ? { band, row } : null;
}

/** The slice of a lane's row at an instant, or the nearest within the slack; -1 if none. */
export function slice_at(data, lane, row, ns, slack_ns = 0) {
  const global = data.first_row[lane] + row;
  const high = data.starts[global + 1];
  const i = first_after(data, data.starts[global], high, ns);
  if (i < high && data.begin[i] <= ns) return i;
  const after = i < high ? data.begin[i] - ns : Infinity;
  const before = i > data.starts[global] ? ns - data.end[i - 1] : Infinity;
  if (Math.min(before, after) > slack_ns) return -1;
  return before <= after ? i - 1 : i;
}

/** The slice under a point; -1 if none. @param {number} ns_per_px */
export function hit(data, layout, y, ns, ns_per_px) {
  const found = row_at(layout, y);
  return found ? slice_at(data, found.band.lanes[0], found.row, ns, 2 * ns_per_px) : -1;
}

/** The next slice of the same row to the right (1) or left (-1); the same one at the end. */
export function neighbor(data, i, direction) {
  const next = i + direction;
  return next >= 0 && next < data.length && data.row[next] === data.row[i] ? next : i;
}

/** Visible rows with slices, from the top. */
function shown_rows(data, layout) {
  return layout.bands.flatMap((band) => Array.from({ length: band.rows }, (_, row) =>
    data.first_row[band.lanes[0]] + row))
    .filter((row) => data.starts[row + 1] > data.starts[row]);
}

function nearest_in(data, row, ns) {
  const [low, high] = [data.starts[row], data.starts[row + 1]];
  const i = first_after(data, low, high, ns);
  if (i >= high) return high - 1;
  if (i > low && data.begin[i] > ns && ns - data.end[i - 1] < data.begin[i] - ns) return i - 1;
  return i;
}

/** The nearest slice in the next row below (1) or above (-1) that has any. */
export function neighbor_row(data, layout, i, direction, ns) {
  const rows = shown_rows(data, layout);
  const at = rows.indexOf(data.row[i]);
  const row = rows[Math.min(rows.length - 1, Math.max(0, at + direction))];
  return row === undefined || row === data.row[i] ? i : nearest_in(data, row, ns);
}

/** Where the keyboard starts: the first visible row, near an instant; -1 if there is nothing. */
export function first_slice(data, layout, ns) {
  const [row] = shown_rows(data, layout);
  return row === undefined ? -1 : nearest_in(data, row, ns);
}

/** One slice as an object. @param {Data} data */
export function slice_of(data, i) {
  const lane = data.lane[i];
  return { lane, row: data.row[i] - data.first_row[lane], lane_name: data.lanes[lane].name,
    kind: data.lanes[lane].kind, name: data.names[data.name[i]],
    class_name: data.classes[data.class[i]], tint: TINTS[data.tint[i]].key,
    begin_ns: data.begin[i], end_ns: data.end[i], dur_ns: data.dur[i], count: data.count[i],
    busy_ns: data.busy[i] };
}

/** A slice's key in the address. @param {ReturnType<typeof slice_of>} slice */
export const pin_of = ({ lane, row, begin_ns }) => `${lane}.${row}.${begin_ns}`;

/** The slice for such a key; -1 if the data have none there. */
export function find_pin(data, pin) {
  const match = /^(\d+)\.(\d+)\.(\d+)$/.exec(pin);
  if (!match) return -1;
  const [lane, row, ns] = match.slice(1).map(Number);
  if (lane >= data.lanes.length || row >= Math.max(1, data.lanes[lane].rows)) return -1;
  return slice_at(data, lane, row, ns, 1);
}
