// SPDX-License-Identifier: Apache-2.0
// The time span shown by a timeline: zoom, pan, ticks, and which window to request; pure.

/** @typedef {{from: number, to: number}} Span nanoseconds since the start of the trace */

export const MIN_SPAN_NS = 100;
const MARGIN = 0.5; // of the span, requested on either side so that panning finds a picture
const COARSEST = 2.4; // most pixels per bin before a finer window is requested: a new
// window has bins of two, as any two neighbors of its slices are wider than one
const MOST_PX = 8192; // the API's limit

const limited = (value, low, high) => Math.min(high, Math.max(low, value));

/** @param {Span} view */
export const span_of = ({ from, to }) => to - from;

/** The nearest span within the bounds that is not too short. @param {Span} view */
export function clamp_view(view, bounds) {
  const whole = Math.max(MIN_SPAN_NS, span_of(bounds));
  const span = limited(span_of(view), MIN_SPAN_NS, whole);
  const centered = view.from + (span_of(view) - span) / 2;
  const from = limited(centered, bounds.from, bounds.from + whole - span);
  return { from, to: from + span };
}

/**
 * Zooms so that the instant stays in place on the screen.
 * @param {Span} view @param {number} at_ns @param {number} factor of the span, below 1 zooms in
 */
export function zoom_view(view, at_ns, factor, bounds) {
  const whole = Math.max(MIN_SPAN_NS, span_of(bounds));
  const span = limited(span_of(view) * factor, MIN_SPAN_NS, whole);
  const share = (at_ns - view.from) / span_of(view);
  const from = at_ns - share * span;
  return clamp_view({ from, to: from + span }, bounds);
}

/** Moves by nanoseconds; stops at the bounds, keeping the span's length. */
export function pan_view(view, by_ns, bounds) {
  return clamp_view({ from: view.from + by_ns, to: view.to + by_ns }, bounds);
}

/** A view around a span with some space on both sides. @param {Span} span */
export function view_around(span, bounds, air = 0.15) {
  const more = Math.max(span_of(span) * air, MIN_SPAN_NS / 2);
  return clamp_view({ from: span.from - more, to: span.to + more }, bounds);
}

/** The smallest move that makes the span visible. @param {Span} view @param {Span} span */
export function view_showing(view, span, bounds) {
  const air = span_of(view) * 0.1;
  const is_in_sight = span.to > view.from && span.from < view.to;
  if (is_in_sight && (span.from >= view.from || span.to <= view.to)) return view;
  if (span.from < view.from) return pan_view(view, span.from - air - view.from, bounds);
  return pan_view(view, Math.min(span.to + air, span.from + span_of(view) - air) - view.to, bounds);
}

/** @param {Span} a @param {Span} b */
export const same_span = (a, b) => a.from === b.from && a.to === b.to;

/** A span in whole nanoseconds. @param {Span} span */
export const whole_span = ({ from, to }) => ({ from: Math.round(from), to: Math.round(to) });

/** "from-to" in nanoseconds, null if it is not one. @param {string} text @returns {Span|null} */
export function parse_span(text) {
  const match = /^(\d+)-(\d+)$/.exec(text);
  if (!match) return null;
  const [from, to] = [Number(match[1]), Number(match[2])];
  return to > from && Number.isSafeInteger(to) ? { from, to } : null;
}

/** The span in two parameters of an address, null if it is not one. */
export const parse_view = (from, to) => parse_span(`${from}-${to}`);

const STEPS = [1, 2, 5, 10];

/**
 * Round instants in the view, about `apart_px` apart, with their text in milliseconds.
 * @param {Span} view @param {number} width pixels
 * @returns {{ns: number, label: string}[]}
 */
export function axis_ticks(view, width, apart_px = 110) {
  const raw = (span_of(view) * apart_px) / Math.max(1, width);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, STEPS.map((m) => m * power).find((s) => s >= raw * 0.999));
  const decimals = limited(Math.ceil(6 - Math.log10(step) - 1e-9), 0, 6);
  const ticks = [];
  for (let i = Math.ceil(view.from / step); i * step <= view.to; i++) {
    const ns = Math.round(i * step);
    const label = (ns / 1e6).toLocaleString("en",
      { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
    ticks.push({ ns, label });
  }
  return ticks;
}

/**
 * The window to request: the view with margins, on a grid so that neighboring views share it.
 * @param {Span} view @param {number} width pixels @returns {Span & {px: number}}
 */
export function window_for(view, width, bounds) {
  const span = span_of(view);
  const grid = 2 ** Math.max(0, Math.floor(Math.log2(span / 4)));
  const from = Math.max(bounds.from, Math.floor((view.from - span * MARGIN) / grid) * grid);
  const to = Math.min(bounds.to, Math.ceil((view.to + span * MARGIN) / grid) * grid);
  const px = Math.round(limited((width * (to - from)) / span, 200, MOST_PX));
  return { from, to: Math.max(to, from + 1), px };
}

/** Whether a window's picture is complete and fine enough for the view. */
export function is_enough(data, view, width) {
  return data.from <= view.from && data.to >= view.to &&
    (!data.has_merged || data.resolution_ns <= (COARSEST * span_of(view)) / Math.max(1, width));
}

/** The share of the view that a window covers, 0 to 1. */
export function coverage(data, view) {
  const common = Math.min(data.to, view.to) - Math.max(data.from, view.from);
  return Math.max(0, common) / span_of(view);
}

/**
 * The window to show: the finest sufficient one, else the one that covers most of the view.
 * @template T @param {T[]} windows @returns {{data: T|null, enough: boolean}}
 */
export function best_window(windows, view, width) {
  const finer = (a, b) => (b.resolution_ns < a.resolution_ns ? b : a);
  const enough = windows.filter((one) => is_enough(one, view, width));
  if (enough.length > 0) return { data: enough.reduce(finer), enough: true };
  const covering = windows.filter((one) => coverage(one, view) > 0);
  const better = (a, b) => {
    const more = coverage(b, view) - coverage(a, view);
    return more > 0.2 ? b : more < -0.2 ? a : finer(a, b);
  };
  return { data: covering.length > 0 ? covering.reduce(better) : null, enough: false };
}
