// SPDX-License-Identifier: Apache-2.0
// Uploads from the browser: a queue of files, three in progress at a time, each with its progress.
import { create_store } from "../base/ui.mjs";
import { send_in_pieces } from "./tus.mjs";

const AT_ONCE = 3;

/**
 * sent is what the server has plus what is in flight of the next piece; halted_until, in clock
 * milliseconds: the connection is lost, and retried then.
 * @typedef {"waiting"|"sending"|"done"|"failed"|"stopped"} State
 * @typedef {{id: number, file: File, path: string, fields: [string, string][], state: State,
 *            sent: number, halted_until: number|null, reply: any, stopper: AbortController|null,
 *            problem: {title?: string, detail?: string, fix?: string}|null}} Upload
 */

/** @type {ReturnType<typeof create_store<Upload[]>>} */
export const uploads = create_store([]);

let next_id = 1;

function change(upload, patch) {
  Object.assign(upload, patch);
  uploads.set([...uploads.get()]);
}

/**
 * Queues files for one run.
 * @param {{file: File, path: string}[]} files
 * @param {[string, string][]} fields run, project, tag ...
 */
export function enqueue(files, fields) {
  const fresh = files.map(({ file, path }) => ({
    ...{ id: next_id++, file, path, fields, state: "waiting", sent: 0, halted_until: null },
    ...{ reply: null, problem: null, stopper: null },
  }));
  uploads.set([...uploads.get(), ...fresh]);
  pump();
}

function pump() {
  const all = uploads.get();
  const room = AT_ONCE - all.filter(({ state }) => state === "sending").length;
  all.filter(({ state }) => state === "waiting").slice(0, Math.max(0, room)).forEach(send);
}

function send(upload) {
  const stopper = new AbortController();
  const report = (patch) => change(upload, patch);
  change(upload, { state: "sending", stopper, problem: null, sent: 0 });
  send_in_pieces(upload, report, stopper.signal)
    .then((reply) => change(upload, { state: "done", sent: upload.file.size, reply }))
    .catch((problem) => change(upload,
      stopper.signal.aborted ? { state: "stopped" } : { state: "failed", problem }))
    .then(() => {
      change(upload, { halted_until: null });
      pump();
    });
}

/** @param {Upload} upload */
export function retry(upload) {
  change(upload, { state: "waiting" });
  pump();
}

/** @param {Upload} upload */
export function stop(upload) {
  if (upload.state === "waiting") change(upload, { state: "stopped" });
  upload.stopper?.abort();
}

/** Forgets finished uploads. */
export function clear_finished() {
  uploads.set(uploads.get().filter(({ state }) => state === "waiting" || state === "sending"));
}
