// SPDX-License-Identifier: Apache-2.0
// The view of a timeline in motion: updated faster than the page, which is notified now and then.
import { clamp_view, pan_view, same_span, whole_span, zoom_view } from "./timeline_view.mjs";

const TELL_MS = 150;
const KEY_PAUSE_MS = 700;

/**
 * Each movement is one entry in the browser's history: its first report adds the entry, later ones
 * replace it.
 * @param {{view: any, onview: (view: any, replace: boolean) => void, redraw: () => void}} what
 */
export function create_motion({ view, onview, redraw }) {
  let timer = 0;
  let reported = whole_span(view);
  let has_entry = false;
  let last_key = 0;
  const tell = () => {
    clearTimeout(timer);
    timer = 0;
    const next = whole_span(motion.view);
    if (same_span(next, reported)) return;
    reported = next;
    motion.onmove?.(motion.view, true);
    motion.onview(next, has_entry);
    has_entry = true;
  };
  const moved = (next) => {
    motion.view = next;
    motion.onmove?.(next, false);
    redraw();
    timer ||= setTimeout(tell, TELL_MS);
  };
  const take = (next, is_reported) => {
    clearTimeout(timer);
    timer = 0;
    motion.view = next;
    if (is_reported) reported = whole_span(next);
  };
  const start = () => void (has_entry = false);
  const motion = {
    view,
    bounds: view,
    onview,
    start, end: tell,
    stop: () => clearTimeout(timer),
    zoom: (at_ns, factor) => moved(zoom_view(motion.view, at_ns, factor, motion.bounds)),
    pan: (by_ns) => moved(pan_view(motion.view, by_ns, motion.bounds)),
    /** Jumps there. */
    go(next) {
      has_entry = false;
      moved(clamp_view(next, motion.bounds));
      tell();
    },
    /** Keys in quick succession are one movement. @param {() => void} move */
    by_key(move) {
      const now = performance.now();
      if (now - last_key > KEY_PAUSE_MS) start();
      last_key = now;
      move();
    },
    /** Shows what another timeline shows, which reports it; echoes of that are not adopted. */
    follow(next, is_reported) {
      take(next, is_reported);
      redraw();
    },
    /** Adopts the address's view, unless it only echoes what was reported. */
    adopt(next) {
      if (!same_span(whole_span(next), reported)) take(next, true);
    },
  };
  return motion;
}
