// SPDX-License-Identifier: Apache-2.0
// The compare tray: the runs picked last, kept across pages and visits; the first is the base.
import { create_store } from "./ui.mjs";
import { address } from "./address.mjs";

const KEY = "compare-tray";
export const ROOM = 9; // a base plus as many candidates as a comparison takes

/** @typedef {{id: string, name: string}} Picked */

function load() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((run) => run?.id && run?.name).slice(0, ROOM) : [];
  } catch {
    return [];
  }
}

/** @type {ReturnType<typeof create_store<Picked[]>>} */
export const tray = create_store(load());

/** @param {Picked[]} runs */
export function set_tray(runs) {
  const next = runs.slice(-ROOM).map(({ id, name }) => ({ id, name }));
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // Without storage the tray lasts as long as the page.
  }
  tray.set(next);
}

/** Adds a run, dropping the oldest if full, or removes it. @param {Picked} run */
export function toggle_in_tray(run) {
  const others = tray.get().filter(({ id }) => id !== run.id);
  set_tray(others.length < tray.get().length ? others : [...others, run]);
}

/** The compare page for the runs in the tray. @param {Picked[]} runs */
export function compare_address(runs) {
  const [base, ...candidates] = runs.map(({ id }) => id);
  return address("/compare", { base, cand: candidates });
}
