// SPDX-License-Identifier: Apache-2.0
// What the card of monitors shows: figures of each GPU over time, and the worst in a sentence;
// pure.
import { pieces_of } from "../../charts/step_curve_model.mjs";
import { bytes, count, number, percent, plural } from "../../base/format.mjs";

const watts = (value) => `${number(value)} W`;
const megahertz = (value) => `${count(Math.round(value))} MHz`;

/** Figures over time, in the order of the choice. */
export const MONITOR_METRICS = [
  { key: "power_w", label: "Power", text: watts, from_zero: true },
  { key: "clock_mhz", label: "Clock", text: megahertz, from_zero: true },
  { key: "utilization_share", label: "Utilization", text: percent, from_zero: true },
  { key: "temperature_c", label: "Temperature", text: (value) => `${number(value)} °C` },
  { key: "memory_bytes", label: "Memory", text: bytes, from_zero: true },
  { key: "throttled_share", label: "Throttled", text: percent, from_zero: true },
];

/** @param {{host: string|null, gpu: number|null, part: string|null}} row */
export const gpu_name = ({ host, gpu, part }) => ["GPU", gpu ?? "?", part ?? "", host ? `of ${host}`
  : ""].filter((word) => word !== "").join(" ");

/** A line per GPU. @returns {import("../../charts/step_curve_model.mjs").Series[]} */
export function gpu_series(rows, metric) {
  const of_gpu = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.file, row.host, row.gpu, row.part]);
    if (!of_gpu.has(key)) of_gpu.set(key, []);
    of_gpu.get(key).push(row);
  }
  return [...of_gpu].flatMap(([key, own], tone) =>
    pieces_of(own, { x: "time_ns", y: metric.key })
      .map((points) => ({ key, label: gpu_name(own[0]), tone, points })));
}

/** A line per device of a rank and file that recorded it. */
export function rank_series(rows, metric) {
  const files = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.file, row.device]);
    if (!files.has(key)) files.set(key, []);
    files.get(key).push(row);
  }
  return [...files].flatMap(([key, own], tone) =>
    pieces_of(own, { x: "time_ns", y: metric.key })
      .map((points) => ({ key, label: own[0].file, tone, points })));
}

/** Pieces of the window and how busy the device was in each: the last is as long as the one before.
 * @param {{time_ns: number, busy_ns: number}[]} rows */
export function busy_lane(rows) {
  return rows.map(({ time_ns, busy_ns }, i) => {
    const end_ns = i + 1 < rows.length ? rows[i + 1].time_ns
      : time_ns + (i > 0 ? time_ns - rows[i - 1].time_ns : busy_ns);
    return { from: time_ns, to: end_ns, share: Math.min(1, busy_ns / (end_ns - time_ns || 1)) };
  });
}

const CLOCKS = { zone: "time zone", "zone by utilization": "time zone, found by utilization" };

/** How the monitor and the rank were brought together. */
export function joined_text(row) {
  const zone = row.zone_ns === null ? "" : ` (UTC${row.zone_ns < 0 ? "-" : "+"}${
    Math.abs(row.zone_ns) / 3.6e12})`;
  const match = row.match_r === null ? "" : `, where busy time and utilization correlate with r = ${
    row.match_r.toFixed(2)}`;
  return `Rank ${row.rank} ran on GPU ${row.gpu ?? "?"} (matched by ${row.joined_by
    }); clocks aligned by ${CLOCKS[row.aligned_by] ?? row.aligned_by}${zone}${match}`;
}

const NOTABLE = 0.05; // share of the samples

function throttling(row) {
  const clocks = row.throttled_mhz !== null && row.free_mhz !== null
    ? `, at ${megahertz(row.throttled_mhz)} instead of ${megahertz(row.free_mhz)}` : "";
  return `${gpu_name(row)} was throttled for ${percent(row.throttled_share)} of the time by ${
    row.throttle_reason ?? "something unknown"}${clocks}`;
}

const FEWEST = 10; // fewest samples that say something about the time

/** A GPU that idles while others of the same file work, or undefined. */
const idler_of = (monitors) => monitors.find(({ file, samples, idle_share }) =>
  samples >= FEWEST && idle_share > 0.5
  && monitors.some((other) => other.file === file && other.idle_share < 0.1));

const RESTING = 0.95; // share of the samples
const known = (value) => value !== null && value !== undefined;

const UNEVEN = 1.1; // the most power of a GPU, of the least

/**
 * " drew 412 W each on average, from 380 W (GPU 3) to 431 W (GPU 0)"; "" where no power was
 * recorded.
 */
function drawn(monitors) {
  const rows = monitors.filter(({ power_w }) => known(power_w))
    .sort((a, b) => a.power_w - b.power_w);
  if (rows.length === 0) return "";
  const mean = rows.reduce((sum, { power_w }) => sum + power_w, 0) / rows.length;
  const [least, most] = [rows[0], rows.at(-1)];
  const uneven = most.power_w > UNEVEN * least.power_w ? `, from ${watts(least.power_w)} (${
    gpu_name(least)}) to ${watts(most.power_w)} (${gpu_name(most)})` : "";
  const some = rows.length < monitors.length ? `, of which ${count(rows.length)}` : "";
  return `${some} drew ${watts(mean)}${rows.length > 1 ? " each" : ""} on average${uneven}`;
}

/**
 * The worst of what the monitors saw, else how much the GPUs had to do.
 * @param {any[]} monitors rows
 */
export function monitor_text(monitors) {
  const throttled = monitors.filter((row) => row.throttled_share >= NOTABLE)
    .sort((a, b) => b.throttled_share - a.throttled_share);
  if (throttled.length > 0) {
    const others = throttled.length - 1;
    return `${throttling(throttled[0])}${others > 0 ? `, and ${plural(others, "other GPU")} less`
      : ""}`;
  }
  const idler = idler_of(monitors);
  if (idler)
    return `${gpu_name(idler)} was idle for ${percent(idler.idle_share)} of the time while others `
      + "worked";
  return [`${plural(monitors.length, "GPU")}${drawn(monitors)}`,
    monitors.every(({ idle_share }) => idle_share > RESTING) && "idle nearly all the time",
    monitors.every((row) => known(row.throttled_share)) && "never throttled",
    monitors.every(({ samples }) => samples === 1) && "each sampled once"]
    .filter(Boolean).join(", ");
}
