// SPDX-License-Identifier: Apache-2.0
// Two timelines on one axis: one is moved so that what is compared starts at the same place; pure.

/** @typedef {import("./timeline_model.mjs").Data} Data a packed window */

/** A window moved in time. @param {Data} data @param {number} by_ns */
export function moved(data, by_ns) {
  const shifted = ({ from, to }) => ({ from: from + by_ns, to: to + by_ns });
  return { ...data, ...shifted(data), bounds: shifted(data.bounds),
    begin: data.begin.map((ns) => ns + by_ns), end: data.end.map((ns) => ns + by_ns),
    steps: data.steps.map((step) => ({ ...step, begin_ns: step.begin_ns + by_ns,
      end_ns: step.end_ns + by_ns })) };
}

/** The pin of a slice, in a window moved in time. @param {string} pin @param {number} by_ns */
export const moved_pin = (pin, by_ns) =>
  pin.replace(/^(\d+\.\d+\.)(\d+)$/, (_, place, ns) => `${place}${Number(ns) + by_ns}`);

/**
 * By how much each side moves so that all anchors meet, at the latest of them: no time becomes
 * negative that was not. @param {number[]} anchors
 */
export const moves_of = (anchors) => anchors.map((ns) => Math.max(...anchors) - ns);

/** The span that covers all. @param {{from: number, to: number}[]} spans */
export const union = (spans) => ({ from: Math.min(...spans.map(({ from }) => from)),
  to: Math.max(...spans.map(({ to }) => to)) });

/** What both have, or the second where they have nothing in common. */
export function common(a, b) {
  const span = { from: Math.max(a.from, b.from), to: Math.min(a.to, b.to) };
  return span.to > span.from ? span : b;
}

/** @param {{kind: string}} event */
export const is_of_device = ({ kind }) => /kernel|memcpy|memset/.test(kind);

/**
 * Whether an event starts in a step: device work in what the step did there, which may last longer
 * than the step's call on the host.
 * @param {any} event null if there is none @param {{host: any, device: any}} step spans
 */
export function is_in_step(event, { host, device }) {
  if (!event) return false;
  const { from, to } = is_of_device(event) ? device : host;
  return event.begin_ns >= from && event.begin_ns < to;
}

const FRAME = "nn.Module: ";

/** "Qwen2DecoderLayer_3" as its class and which of that class in its parent. */
function module_step(text) {
  const match = /^(.+)_(\d+)$/.exec(text);
  return match ? { class_name: match[1], nth: Number(match[2]) } : { class_name: text, nth: 0 };
}

/**
 * The call of a module within its parent's: the nth of its class that no other of the class
 * encloses. @param {any} data a packed window @param {string} text a part of a module's path
 * @param {{from: number, to: number}} within @returns {{from: number, to: number}|null}
 */
export function module_in(data, text, within) {
  const { class_name, nth } = module_step(text);
  const is_call = (name) => name.startsWith(`${FRAME}${class_name}_`)
    && /^\d+$/.test(name.slice(FRAME.length + class_name.length + 1));
  const wanted = data.names.map(is_call);
  const calls = [];
  for (let i = 0; i < data.length; i++) {
    if (wanted[data.name[i]] && data.begin[i] >= within.from && data.end[i] <= within.to) {
      calls.push({ from: data.begin[i], to: data.end[i] });
    }
  }
  calls.sort((a, b) => a.from - b.from || b.to - a.to);
  let end = -Infinity;
  const outer = calls.filter(({ from, to }) => from >= end && (end = to));
  return outer[nth] ?? null;
}
