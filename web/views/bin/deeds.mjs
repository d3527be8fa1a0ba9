// SPDX-License-Identifier: Apache-2.0
// Deleting runs and undoing that, with the last action kept so that a page can show it.
import { create_store } from "../../base/ui.mjs";
import { announce } from "../../base/announce.mjs";
import { api_get, api_send } from "../../base/api.mjs";
import { run_path } from "../../base/address.mjs";
import { plural, when } from "../../base/format.mjs";
import { set_tray, tray } from "../../base/tray.mjs";

/**
 * @typedef {import("../../base/tray.mjs").Picked} Picked
 * @typedef {{text: string, note?: string, deleted?: Picked[], link?: [string, string],
 *            problem?: import("../../base/api.mjs").Problem|null}} Deed
 *   `deleted`: what can be restored
 */

/** @type {ReturnType<typeof create_store<Deed|null>>} */
export const last_deed = create_store(null);

/** @param {Deed} deed */
function say(deed) {
  last_deed.set(deed);
  announce(deed.text);
}

export const forget_deed = () => last_deed.set(null);

/** "r1", or "2 runs". @param {Picked[]} runs */
const what_of = (runs) => (runs.length === 1 ? runs[0].name : plural(runs.length, "run"));

/** Deletes a run in its current state; returns when it goes for good, null: at once. */
async function delete_run({ id }) {
  const path = `/runs/${encodeURIComponent(id)}`;
  const { etag } = await api_get(path);
  return (await api_send("DELETE", path, { etag }))?.goes ?? null;
}

/**
 * Deletes runs one after another, up to the first that cannot be deleted.
 * @param {Picked[]} runs
 * @returns {Promise<{deleted: Picked[], goes: string|null, problem: any}>}
 */
export async function delete_runs(runs) {
  const deleted = [];
  let goes = null;
  try {
    for (const run of runs) {
      goes = await delete_run(run);
      deleted.push(run);
    }
  } catch (problem) {
    return { deleted, goes, problem };
  }
  return { deleted, goes, problem: null };
}

/** Reports what was deleted, and removes it from the tray. */
export function say_deleted({ deleted, goes }) {
  if (deleted.length === 0) return;
  const gone = new Set(deleted.map(({ id }) => id));
  set_tray(tray.get().filter(({ id }) => !gone.has(id)));
  say(goes === null ? { text: `Deleted ${what_of(deleted)} for good` }
    : { text: `Deleted ${what_of(deleted)}`, note: `in the bin until ${when(goes).slice(0, 10)}`,
      deleted });
}

/** @type {WeakSet<Deed>} */
const shown = new WeakSet();

/** Whether this is shown for the first time: then it gets the focus. @param {Deed} deed */
export function take_focus(deed) {
  const is_new = !shown.has(deed);
  shown.add(deed);
  return is_new;
}

/** Ids of runs being restored: a second click does not request them again. */
const returning = new Set();

/**
 * Takes runs out of the bin; those that cannot be restored stay in the message.
 * @param {Picked[]} runs
 */
export async function restore_runs(runs) {
  const asked = runs.filter(({ id }) => !returning.has(id));
  for (const { id } of asked) returning.add(id);
  if (asked.length > 0) await restore_all(asked);
  for (const { id } of asked) returning.delete(id);
}

/** @param {Picked[]} runs */
async function restore_all(runs) {
  const left = [];
  let problem = null;
  for (const run of runs) {
    try {
      await api_send("POST", `/bin/${encodeURIComponent(run.id)}/restore`);
    } catch (error) {
      left.push(run);
      problem = error;
    }
  }
  const back = runs.filter((run) => !left.includes(run));
  const link = back.length === 1 ? ["Open it", run_path(back[0].id)] : undefined;
  say(left.length > 0 ? { text: `${what_of(left)} could not be restored`, deleted: left, problem }
    : { text: `Restored ${what_of(back)}`, link });
}
