// SPDX-License-Identifier: Apache-2.0
// Hooks shared by the pages: stores, element sizes, key presses, one document title.
import { visible } from "./visible.mjs";
import { useEffect, useLayoutEffect, useRef, useState } from "./ui.mjs";

/** The value of a store; the component renders again when it changes. */
export function use_store(store) {
  const [, refresh] = useState(0);
  // Not after the next frame: a change until then would be missed.
  useLayoutEffect(() => store.subscribe(() => refresh((n) => n + 1)), [store]);
  return store.get();
}

/** Whether the component is still shown, for what a reply does: the user may have gone on. */
export function use_is_shown() {
  const shown = useRef(true);
  useLayoutEffect(() => () => { shown.current = false; }, []);
  return () => shown.current;
}

/**
 * Width in pixels of the element that carries the returned ref; 0 before the first layout.
 * @returns {[{current: HTMLElement|null}, number]}
 */
export function use_width() {
  const ref = useRef(null);
  const [width, set_width] = useState(0);
  useLayoutEffect(() => {
    const node = ref.current;
    if (!node) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      set_width(Math.floor(entry.contentRect.width));
    });
    observer.observe(node);
    set_width(Math.floor(node.getBoundingClientRect().width));
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

/** The page width up to which a column is left out, by priority; none: it always stays. */
export const LEFT_OUT_PX = { 2: 720, 3: 1000, 4: 1340, 5: 1500 };

const is_left_out = ({ priority }) =>
  priority !== undefined && matchMedia(`(max-width: ${LEFT_OUT_PX[priority]}px)`).matches;

/** The columns that fit the page's width. @param {{priority?: 2|3|4|5}[]} columns */
export function use_columns_in_sight(columns) {
  const [, refresh] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    for (const px of Object.values(LEFT_OUT_PX)) {
      matchMedia(`(max-width: ${px}px)`).addEventListener("change",
        () => refresh((n) => n + 1), { signal: stop.signal });
    }
    return () => stop.abort();
  }, []);
  return columns.filter((column) => !is_left_out(column));
}

/** Whether the page is laid out for paper, where nothing scrolls. */
export function use_printing() {
  const [is_printed, set_printed] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    const on = (target, event, what) =>
      target.addEventListener(event, what, { signal: stop.signal });
    on(matchMedia("print"), "change", ({ matches }) => set_printed(matches));
    on(globalThis, "beforeprint", () => set_printed(true));
    on(globalThis, "afterprint", () => set_printed(false));
    return () => stop.abort();
  }, []);
  return is_printed;
}

/** The text of a search box; the address follows shortly after the last key. */
export function use_typed(value, commit) {
  const [text, set_text] = useState(value);
  const committed = useRef(value); // comes back as `value`, maybe after a further key
  useEffect(() => {
    if (value !== committed.current) set_text(value);
    committed.current = value;
  }, [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => {
      committed.current = text;
      commit(text);
    }, 250);
    return () => clearTimeout(timer);
  }, [text, value]);
  return [text, set_text];
}

/** The page's title while the component is shown. @param {string} title */
export function use_title(title) {
  useEffect(() => {
    document.title = title ? `${visible(title)} · stepscope` : "stepscope";
  }, [title]);
}

/** A value once it has stayed the same for a while, null until then. @param {any} value */
export function use_settled(value, after_ms) {
  const text = JSON.stringify(value);
  const [settled, set_settled] = useState(null);
  useEffect(() => {
    const timer = setTimeout(() => set_settled(text), after_ms);
    return () => clearTimeout(timer);
  }, [text, after_ms]);
  return settled === text ? value : null;
}

/** The time of the last tick, so that ages stay true on an open page. */
export function use_now(every_ms = 30000) {
  const [now, set_now] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => set_now(Date.now()), every_ms);
    return () => clearInterval(timer);
  }, [every_ms]);
  return now;
}

/** As a `ref`: focuses a field that was just added. @param {HTMLElement|null} node */
export function focus_once(node) {
  if (!node || node.dataset.seen) return;
  node.dataset.seen = "yes";
  node.focus();
}
