// SPDX-License-Identifier: Apache-2.0
// Where a page was scrolled to, kept with its entry of the history, so that Back finds it again.

const PAUSE_MS = 200; // browsers limit how often an entry may be changed
const LEAST_MS = 1000; // pages grow while their figures arrive
const MOST_MS = 4000;

let restoring = null;

/** Notes how far the page is scrolled, before it is left: the timer would come too late. */
export function save_scroll() {
  if (!restoring) history.replaceState({ ...history.state, y: Math.round(scrollY) }, "");
}

/** Starts noting how far the page is scrolled. */
export function keep_scroll() {
  let timer = 0;
  history.scrollRestoration = "manual";
  addEventListener("scroll", () => {
    timer ||= setTimeout(() => {
      timer = 0;
      save_scroll();
    }, PAUSE_MS);
  }, { passive: true });
}

/** Stops restoring: a page was opened, or the user took over. */
export function leave_scroll() {
  restoring?.abort();
  restoring = null;
}

/** Scrolls to where the current entry was left, as soon as the page is long enough. */
export function restore_scroll() {
  leave_scroll();
  const wanted = history.state?.y ?? 0;
  const stop = restoring = new AbortController();
  const start = performance.now();
  for (const type of ["wheel", "pointerdown", "keydown", "touchstart"]) {
    addEventListener(type, leave_scroll, { signal: stop.signal, passive: true });
  }
  const step = () => {
    if (stop.signal.aborted) return;
    scrollTo(0, wanted);
    const passed = performance.now() - start;
    if (passed > MOST_MS || (passed > LEAST_MS && Math.abs(scrollY - wanted) <= 1)) leave_scroll();
    else requestAnimationFrame(step);
  };
  step();
}
