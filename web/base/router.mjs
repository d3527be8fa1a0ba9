// SPDX-License-Identifier: Apache-2.0
// Addresses: paths name objects, queries hold the view's state; defaults are left out.
import { keep_scroll, leave_scroll, restore_scroll, save_scroll } from "./scroll.mjs";
import { create_store } from "./ui.mjs";
import { use_store } from "./hooks.mjs";
import { has_server, match_path, patch_query } from "./address.mjs";

/** @typedef {{path: string, search: string}} Place */

/** The address within the dashboard. @returns {Place} */
function here() {
  if (has_server) return { path: location.pathname, search: location.search };
  const { pathname, search } = new URL(location.hash.slice(1) || "/", location.origin);
  return { path: pathname, search };
}

/** What the browser shows of an address within the dashboard. @param {string} href */
const shown = (href) => (has_server ? href : `#${href}`);

/** @type {ReturnType<typeof create_store<Place>>} */
const place = create_store(here());

/**
 * Goes to an address inside the dashboard.
 * @param {string} href @param {{replace?: boolean}} [options]
 */
export function navigate(href, { replace = false } = {}) {
  const leaves = new URL(href, location.origin).pathname !== here().path;
  if (!replace) save_scroll();
  if (leaves) leave_scroll();
  history[replace ? "replaceState" : "pushState"](replace ? history.state : null, "", shown(href));
  place.set(here());
  if (leaves) arrive();
}

// A new page starts at its top, and a screen reader at its heading.
function arrive() {
  scrollTo(0, 0);
  focus_heading();
}

const OLD_MS = 400; // a heading that is still there then is the new page's, too
const MOST_MS = 4000;

/** Once the new page is there, as its module may have to be loaded, and unless the user goes on. */
function focus_heading() {
  const old = document.querySelector("h1");
  const focused = document.activeElement;
  let goes_on = false;
  addEventListener("keydown", () => { goes_on = true; }, { once: true, capture: true });
  // What was focused on the page that is left goes with it.
  const is_taken = () => document.activeElement !== focused
    && document.activeElement !== document.body;
  const start = performance.now();
  const step = () => {
    const heading = document.querySelector("h1");
    const passed = performance.now() - start;
    if (goes_on || is_taken()) return;
    if (heading && (heading !== old || passed > OLD_MS)) heading.focus({ preventScroll: true });
    else if (passed < MOST_MS) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

/** Back or forward: to where that page was left, with the focus on its heading. */
function return_to() {
  if (!has_server && !location.hash.startsWith("#/")) return; // a part of the page
  const leaves = here().path !== place.get().path;
  place.set(here());
  if (!leaves) return;
  restore_scroll();
  focus_heading();
}

/** Whether a click on a link is ours to handle: same origin, same window, a page of ours. */
function is_ours(event, link) {
  if (event.defaultPrevented || event.button !== 0) return false;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return false;
  if (link.target || link.hasAttribute("download") || link.origin !== location.origin) return false;
  return match_path(link.pathname).page !== "none";
}

function on_click(event) {
  const link = event.target.closest?.("a[href]");
  if (!link || !is_ours(event, link)) return;
  if (link.hash && link.pathname === here().path) return;
  event.preventDefault();
  navigate(link.pathname + link.search + link.hash);
}

/** Starts handling links and the browser's back and forward. */
export function start_router() {
  addEventListener("popstate", return_to);
  keep_scroll();
  if (history.state?.y) restore_scroll(); // reloaded
  document.addEventListener("click", on_click);
}

/** The current page and its path parameters; renders again when they change. */
export function use_route() {
  return match_path(use_store(place).path);
}

/**
 * The query with defaults filled in, and a function that changes it. A change made while typing
 * replaces the address; a committed one adds to the history. If the default is an array, the key
 * may be given several times.
 * @template {Record<string, string|string[]>} T
 * @param {T} defaults
 * @returns {[T, (patch: Partial<T>, options?: {replace?: boolean}) => void]}
 */
export function use_query(defaults) {
  const params = new URLSearchParams(use_store(place).search);
  const state = { ...defaults };
  for (const [key, value] of Object.entries(defaults)) {
    state[key] = Array.isArray(value) ? params.getAll(key) : (params.get(key) ?? value);
  }
  const change = (patch, options) => {
    const { path, search: before } = here();
    const search = patch_query(before, patch, defaults);
    if (search !== before) navigate(path + search, options);
  };
  return [state, change];
}
