// SPDX-License-Identifier: Apache-2.0
// What memory snapshots say, in words and sums; pure.
import { bytes, count, percent, time_text } from "../../base/format.mjs";

const LABELS = { weights: "Weights", gradients: "Gradients", optimizer: "Optimizer",
  activations: "Activations", inputs: "Inputs", other: "Other" };

/** @param {string|null} category */
export const category_label = (category) => LABELS[category] ?? "Not known";

/** A device of a file, as it is chosen. @param {Record<string, any>} row */
export const device_key = ({ file, device }) => `${file}:${device}`;

/** @param {Record<string, any>} row of snapshots @param {Record<string, any>[]} rows all of them */
function device_label(row, rows) {
  const who = row.rank === null ? row.file : `rank ${row.rank}`;
  const twice = rows.filter(({ rank }) => rank === row.rank).length > 1;
  return `${who}${twice && row.rank !== null ? `, ${row.file}` : ""}, device ${row.device}`;
}

/** The devices to choose from; those without anything reserved are left out. */
export function snapshot_choices(rows) {
  return rows.filter((row) => row.end_reserved_bytes > 0 || row.events > 0)
    .map((row) => ({ key: device_key(row), label: device_label(row, rows), row }));
}

const of_device = (rows, row) => rows.filter((one) => device_key(one) === device_key(row));

/** Rows of one device in the order of the table. */
export { of_device };

/** What each category held at a moment, the most first. @param {any[]} holders of one device */
export function by_category(holders, moment) {
  const sums = new Map();
  for (const row of holders) {
    if (row.moment !== moment) continue;
    const label = row.category === null && row.origin === "before" && row.calls === null
      ? "Before the recording" : category_label(row.category);
    sums.set(label, (sums.get(label) ?? 0) + row.bytes);
  }
  const all = [...sums.values()].reduce((sum, one) => sum + one, 0);
  return [...sums].map(([label, held]) => ({ label, bytes: held, share: all > 0 ? held / all : 0 }))
    .sort((a, b) => b.bytes - a.bytes);
}

/** "Tensors hold up to 25.0 GB of the 25.3 GB reserved." @param {Record<string, any>} row */
export const snapshot_lead = (row) => `Tensors hold up to ${bytes(row.peak_allocated_bytes)}${
  row.peak_reserved_bytes > 0 ? ` of the ${bytes(row.peak_reserved_bytes)} reserved` : ""}.`;

/** "Most allocated: 25 GB, 12 ms after the first event". @param {Record<string, any>} row */
export function snapshot_caption(row) {
  const at = row.peak_ns === null ? "" : `, ${time_text(row.peak_ns, 4)} after the first event`;
  return `Most allocated: ${bytes(row.peak_allocated_bytes)}${at}`;
}

/** @returns {{word: string, tone: "bad"|undefined, text: string}} */
export function growth_verdict(row) {
  if (row.growth_steps === null) {
    return { word: "not known", tone: undefined, text: "needs six step marks" };
  }
  if (row.leak || row.growth_bytes > 0) {
    const text = `+${bytes(Math.round(row.growth_bytes))} per step`;
    return row.leak ? { word: "yes", tone: "bad", text }
      : { word: "little", tone: undefined, text };
  }
  return { word: "none", tone: undefined, text: `over ${count(row.growth_steps)} steps` };
}

/** Why a request failed, in a sentence or two. @param {Record<string, any>} oom */
export function oom_text(oom, holders) {
  const wanted = `${bytes(oom.requested_bytes)} was requested`;
  const free = `${bytes(oom.device_free_bytes)} free on the device`;
  const held = `${bytes(oom.allocated_bytes)} of ${bytes(oom.reserved_bytes)} reserved was in use`;
  const [top] = by_category(holders, "oom");
  const most = top ? `, most of it by ${top.label.toLowerCase()} (${percent(top.share)})` : "";
  if (oom.cause === "limit") {
    return `${wanted}, ${free}; ${held}${most}. The device had room, but the process hit its `
      + "limit: set_per_process_memory_fraction or another one.";
  }
  const why = oom.cause === "fragmentation"
    ? `The allocator itself had ${bytes(oom.cached_bytes)} free, but in blocks too small, or in `
      + "another pool or stream: fragmentation. expandable_segments:True in "
      + "PYTORCH_CUDA_ALLOC_CONF usually helps."
    : `The allocator had only ${bytes(oom.cached_bytes)} free: the memory is in use.`;
  return `${wanted}, ${free}; ${held}${most}. ${why}`;
}
