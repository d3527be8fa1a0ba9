// SPDX-License-Identifier: Apache-2.0
// Pointer and wheel on a timeline's canvas: drag, pinch, select, wheel, click, reported as
// gestures.

const CLICK_PX = 4;
const WHEEL_PAUSE_MS = 400;

/**
 * @typedef {{start: () => void, zoom: (x: number, factor: number) => void,
 *            pan: (dx: number, dy: number) => void, select: (x0: number, x1: number) => void,
 *            selected: () => void, click: (x: number, y: number) => void, end: () => void,
 *            hover: (x: number, y: number, event: PointerEvent) => void, leave: () => void,
 *            selects: () => boolean}} Gestures
 * A gesture runs from `start` to `end`; all positions are pixels of the canvas.
 */

const LINE_PX = 30; // pixels per line for wheels that count lines

function zoom_factor(delta, mode) {
  const px = mode ? delta * LINE_PX : delta;
  return 1.0016 ** Math.min(400, Math.max(-400, px));
}

/** The wheel zooms at the pointer; sideways or with shift it pans. */
function watch_wheel(node, act, signal) {
  let timer = 0;
  const on_wheel = (event) => {
    event.preventDefault();
    if (!timer) act.start();
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = 0;
      act.end();
    }, WHEEL_PAUSE_MS);
    const { deltaX: dx, deltaY: dy } = event;
    if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) act.pan(-(dx || dy), 0);
    else act.zoom(event.offsetX, zoom_factor(dy, event.deltaMode));
  };
  node.addEventListener("wheel", on_wheel, { passive: false, signal });
  signal.addEventListener("abort", () => clearTimeout(timer));
}

/** Two fingers: their distance zooms, their middle pans. */
function pinch([a, b], [c, d], act) {
  const apart = (p, q) => Math.max(12, Math.abs(p.x - q.x));
  const middle = (c.x + d.x) / 2;
  act.zoom(middle, apart(a, b) / apart(c, d));
  act.pan(middle - (a.x + b.x) / 2, 0);
}

/** @param {HTMLCanvasElement} node @param {Gestures} act @returns {() => void} stops watching */
export function watch_gestures(node, act) {
  const stop = new AbortController();
  const { signal } = stop;
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  let mode = "";
  let first = null;
  const point = (event) => {
    const box = node.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const begin = (next) => {
    if (mode === "press") act.start();
    mode = next;
  };
  const on_down = (event) => {
    if (event.button !== 0) return;
    node.setPointerCapture(event.pointerId);
    const at = point(event);
    down.set(event.pointerId, at);
    if (down.size === 2) begin("pinch");
    if (down.size > 1) return;
    first = at;
    mode = "press";
    first.selects = event.shiftKey || act.selects();
  };
  const move_one = (at, last) => {
    if (mode === "press" && Math.hypot(at.x - first.x, at.y - first.y) > CLICK_PX) {
      begin(first.selects ? "select" : "pan");
    }
    if (mode === "select") act.select(first.x, at.x);
    if (mode === "pan") act.pan(at.x - last.x, at.y - last.y);
  };
  const on_move = (event) => {
    const at = point(event);
    const last = down.get(event.pointerId);
    if (!last) return act.hover(at.x, at.y, event);
    if (mode === "pinch" && down.size === 2) {
      const other = [...down].find(([id]) => id !== event.pointerId)[1];
      pinch([last, other], [at, other], act);
    } else move_one(at, last);
    if (mode !== "press") down.set(event.pointerId, at);
    return undefined;
  };
  const on_up = (event) => {
    if (!down.delete(event.pointerId) || down.size > 0) return;
    if (mode === "press" && event.type === "pointerup") act.click(first.x, first.y);
    if (mode === "select") act.selected();
    if (mode === "select" || mode === "pan" || mode === "pinch") act.end();
    mode = "";
  };
  node.addEventListener("pointerdown", on_down, { signal });
  node.addEventListener("pointermove", on_move, { signal });
  node.addEventListener("pointerup", on_up, { signal });
  node.addEventListener("pointercancel", on_up, { signal });
  node.addEventListener("pointerleave", () => act.leave(), { signal });
  watch_wheel(node, act, signal);
  return () => stop.abort();
}
