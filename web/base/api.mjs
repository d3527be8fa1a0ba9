// SPDX-License-Identifier: Apache-2.0
// Talks to the REST API: errors as problems, replies cached with their ETag, cheap polling.
import { has_server, login_path } from "./address.mjs";
import { use_store } from "./hooks.mjs";
import { create_store, useEffect, useRef, useState } from "./ui.mjs";

const BASE = "/api/v1";
const KEPT_REPLIES = 64;
const FRESH_MS = 1000; // parts of a page that appear reuse what was just fetched

/** An error reply (RFC 9457), or a failure to get one. */
export class Problem extends Error {
  /** @param {{title: string, detail?: string, fix?: string, status?: number,
   *           request_id?: string, type?: string}} fields */
  constructor(fields) {
    super(fields.detail || fields.title);
    Object.assign(this, { status: 0, detail: "", fix: "", request_id: "", type: "" }, fields);
  }
}

const UNREACHABLE = {
  title: "The server is not responding",
  detail: "The request could not be sent, or the response was cut short.",
  fix: "Check that stepscope is running and reachable at this address.",
};

/** Whether the session has ended since something was shown; that stays, as does what is typed. */
export const signed_out = create_store(false);

const this_page = () => globalThis.location?.pathname;

/** The path of the last page that got a reply to what it asked for. */
const answered = create_store("");

/** Of a request of that page; people may be on another one meanwhile. */
function note_answered(page) {
  if (page === this_page()) answered.set(page);
}

/**
 * A session that has ended, or a revoked token: a page that shows nothing yet loses nothing.
 * @param {{data: any}} [shown] the reply that is shown of what was asked for
 */
function note_signed_out(shown) {
  const { pathname, search } = location;
  if (shown || answered.get() === pathname) signed_out.set(true);
  else if (pathname !== "/login") location.assign(login_path(pathname + search));
}

/** Input on this page would be lost by going to the sign-in page. */
const SIGNED_OUT = {
  title: "You are signed out",
  detail: "The session has ended, and nothing was changed.",
  fix: "Sign in on another page, then try again.",
};

/** @param {Response} response */
async function problem_of(response) {
  const fallback = { title: response.statusText || "Request failed", status: response.status };
  const fields = await response.json().catch(() => ({}));
  return new Problem({ ...fallback, ...fields });
}

/** The state of stored data, which replies that every page asks for report along with the rest. */
export const storage = create_store("sound");

/** @param {string|null} word */
function note_storage(word) {
  if (word && word !== storage.get()) storage.set(word);
}

/** What answers requests: the server, or on a page without one a module that it brings. */
const answerer = create_store((path, options) => fetch(path, options));

/**
 * Has `answer` answer all requests from now on; earlier replies are forgotten.
 * @param {(path: string, options?: RequestInit) => Promise<Response>} answer
 */
export function answer_with(answer) {
  kept.clear();
  under_way.clear();
  answerer.set(answer);
}

/** @param {string} path @param {RequestInit} [options] */
async function request(path, options) {
  try {
    const response = await answerer.get()(BASE + path, options);
    note_storage(response.headers.get("Stepscope-Storage"));
    return response;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(UNREACHABLE);
  }
}

/** @type {Map<string, {etag: string|null, data: any, at: number}>} */
const kept = new Map();

/** The reply, unless one to a later request is kept. */
function latest(path, reply) {
  const known = kept.get(path);
  return known && known.at > reply.at ? known : reply;
}

/** Keeps a reply, unless one to a later request came first; returns the later one. */
function keep(path, reply) {
  const known = latest(path, reply);
  if (known !== reply) return known;
  kept.delete(path);
  kept.set(path, reply);
  if (kept.size > KEPT_REPLIES) kept.delete(kept.keys().next().value);
  return reply;
}

/** GETs JSON with the ETag of the last reply; on a 304 returns that reply itself. */
async function get_json(path, signal, keeps) {
  const at = performance.now(); // time of the request: later changes are not in the reply
  const page = this_page();
  const known = kept.get(path);
  const headers = known?.etag ? { "If-None-Match": known.etag } : {};
  const response = await request(path, { signal, headers, cache: "no-store" });
  if (response.status === 304 && known) {
    note_answered(page);
    return latest(path, known);
  }
  if (response.status === 401) note_signed_out(known);
  if (!response.ok) throw await problem_of(response);
  const reply = { etag: response.headers.get("ETag"), data: await read_json(response), at };
  if (!keeps) return reply;
  note_answered(page);
  return keep(path, reply);
}

/** Requests in flight, by path: parts of a page that ask for the same share one. */
const under_way = new Map();

function start_get(path, keeps) {
  const stop = new AbortController();
  const one = { stop, users: 0, reply: null };
  const forget = () => under_way.get(path) === one && under_way.delete(path);
  one.reply = get_json(path, stop.signal, keeps).finally(forget);
  one.leave = () => {
    if (--one.users > 0) return;
    forget();
    stop.abort();
  };
  under_way.set(path, one);
  return one;
}

/**
 * GETs JSON, or joins the same request if that is in flight.
 * @param {string} path below /api/v1
 * @param {AbortSignal} [signal]
 * @param {{keeps?: boolean}} [options] whether to cache the reply for the next time
 * @returns {Promise<{etag: string|null, data: any}>}
 */
export function api_get(path, signal, { keeps = true } = {}) {
  const one = under_way.get(path) ?? start_get(path, keeps);
  one.users++;
  return new Promise((resolve, reject) => {
    const leave = () => {
      one.leave();
      reject(signal.reason);
    };
    signal?.addEventListener("abort", leave, { once: true });
    const settle = () => signal?.removeEventListener("abort", leave);
    one.reply.finally(settle).then(resolve, reject);
  });
}

/** GETs bytes. @param {string} path below /api/v1 @returns {Promise<ArrayBuffer>} */
export async function api_bytes(path) {
  const response = await request(path, { cache: "no-store" });
  if (response.status === 401) note_signed_out();
  if (!response.ok) throw await problem_of(response);
  try {
    return await response.arrayBuffer();
  } catch {
    throw new Problem(UNREACHABLE); // it was cut off
  }
}

async function read_json(response) {
  try {
    return await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ ...UNREACHABLE, status: response.status });
  }
}

/** Fetches what parts of the page will soon ask for. @param {string[]} paths below /api/v1 */
export function ask_early(paths) {
  for (const path of paths) if (!kept.has(path)) api_get(path).catch(() => null);
}

/** Whether the page's head names it to be fetched early. @param {string} path below /api/v1 */
export const is_named_early = (path) =>
  [...document.head.querySelectorAll("link[rel=preload][as=fetch]")]
    .some((link) => link.getAttribute("href") === api_href(path));

/** A run by its id, from a kept reply that has it. @param {string} id */
export function kept_run(id) {
  return [...kept.values()].flatMap(({ data }) => [data, data?.run, ...(data?.items ?? [])])
    .find((one) => one?.id === id && one.received !== undefined);
}

/** When the last change was sent or seen: older replies may lack it. */
let changed_at = -Infinity;

function is_fresh(path) {
  const at = kept.get(path)?.at ?? -Infinity;
  return at > changed_at && performance.now() - at < FRESH_MS;
}

/** How many changes this page knows of; after each, what is shown is fetched again. */
const changes = create_store(0);

/**
 * Sends a change. @param {string} method @param {string} path
 * @param {{body?: unknown, etag?: string|null, type?: string, shown?: boolean}} [options]
 *   `shown`: whether it may affect what is shown
 */
export async function api_send(method, path, { body, etag, type, shown = true } = {}) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = type ?? "application/json";
  if (etag) headers["If-Match"] = etag;
  const text = body === undefined ? undefined : JSON.stringify(body);
  const response = await request(path, { method, headers, body: text });
  if (response.status === 401 && location.pathname !== "/login") {
    throw new Problem({ ...SIGNED_OUT, status: 401 });
  }
  if (!response.ok) throw await problem_of(response);
  const reply = response.status === 204 ? null : await response.json().catch(() => null);
  note_change();
  if (shown) ask_again(); // last: the caller may leave the page at once
  return reply;
}

/** Replies to what was asked before a change may lack it. */
function note_change() {
  under_way.clear();
  changed_at = performance.now();
}

function ask_again() {
  changes.set(changes.get() + 1);
}

/** Fetches all that is shown again: the server has changed it by itself. */
export function changed_by_server() {
  note_change();
  ask_again();
}

/**
 * @typedef {{data: any, etag: string|null, problem: Problem|null, loading: boolean,
 *            reload: () => void}} Resource
 */

/**
 * A GET tied to a component: stale ones are aborted, the last data stays while the same address is
 * fetched again, and `poll_ms(data)` says when to fetch again (null: never).
 * @param {string|null} path null: no request
 * @param {(data: any) => number|null} [poll_ms]
 * @returns {Resource}
 */
export function use_api(path, poll_ms) {
  const [turn, set_turn] = useState(0);
  const changed = use_store(changes);
  const [state, set_state] = useState({ path: "", data: null, etag: null, problem: null });
  const poll = useRef(poll_ms);
  poll.current = poll_ms;

  const last_turn = useRef(turn);
  useEffect(() => {
    const fresh = last_turn.current === turn && is_fresh(path);
    last_turn.current = turn;
    if (path === null) return undefined;
    return start_watch(path, (next) => set_state({ path, ...next }), poll, fresh);
  }, [path, turn, changed]);

  const current = state.path === path;
  const early = path === null ? null : kept.get(path);
  return {
    data: current ? state.data : (early?.data ?? null),
    etag: current ? state.etag : (early?.etag ?? null),
    problem: current ? state.problem : null,
    loading: path !== null && !current && !early,
    reload: () => set_turn((n) => n + 1),
  };
}

/**
 * Fetches now, unless the kept reply is fresh, and, while the page is visible, at the interval that
 * `poll` gives. Returns a function that ends it.
 */
function start_watch(path, report, poll, fresh) {
  const stop = new AbortController();
  let timer = 0;
  let last = kept.get(path) ?? { data: null, etag: null };
  const ask = async () => {
    try {
      if (!fresh) last = await api_get(path, stop.signal);
      fresh = false;
      report({ ...last, problem: null });
    } catch (problem) {
      if (stop.signal.aborted) return;
      const is_out = problem.status === 401 && signed_out.get();
      report({ ...last, problem: is_out && last.data !== null ? null : problem });
      if (is_out) return; // asked again once signed in
    }
    const wait = stop.signal.aborted ? null : (poll.current?.(last.data) ?? null);
    if (wait !== null) timer = setTimeout(ask_when_visible, wait);
  };
  const ask_when_visible = () => {
    if (!document.hidden) ask();
    else document.addEventListener("visibilitychange", ask, { once: true, signal: stop.signal });
  };
  ask();
  return () => {
    clearTimeout(timer);
    stop.abort();
  };
}

/** The address of an API reply, for links. @param {string} path */
export function api_href(path) {
  return BASE + path;
}

/** The formats in which a table can be had, as links. @param {(format: string) => string} href */
export const table_links = (href) => [["CSV", href("csv")], ["JSON", href("json")],
  ...(has_server ? [["XLSX", href("xlsx")]] : []), ["Parquet", href("parquet")]];
