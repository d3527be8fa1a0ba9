// SPDX-License-Identifier: Apache-2.0
// Uploads from the browser: a queue of files, three on the way at a time, each with its progress.
import { create_store } from "./ui.mjs";

const AT_ONCE = 3;

/**
 * @typedef {"waiting"|"sending"|"done"|"failed"|"stopped"} State
 * @typedef {{id: number, file: File, path: string, fields: [string, string][], state: State,
 *            sent: number, reply: any, request: XMLHttpRequest|null,
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
    ...{ id: next_id++, file, path, fields, state: "waiting", sent: 0 },
    ...{ reply: null, problem: null, request: null },
  }));
  uploads.set([...uploads.get(), ...fresh]);
  pump();
}

function pump() {
  const all = uploads.get();
  const room = AT_ONCE - all.filter(({ state }) => state === "sending").length;
  all.filter(({ state }) => state === "waiting").slice(0, Math.max(0, room)).forEach(send);
}

function form_of(upload) {
  const form = new FormData();
  for (const [name, value] of upload.fields) form.append(name, value);
  form.append("trace", upload.file, upload.path);
  return form;
}

function send(upload) {
  const request = new XMLHttpRequest();
  request.open("POST", "/api/v1/uploads");
  request.setRequestHeader("Accept", "application/json");
  request.upload.onprogress = ({ loaded }) =>
    change(upload, { sent: Math.min(loaded, upload.file.size) });
  request.onload = () => finish(upload, request);
  request.onerror = () => fail(upload, { title: "The connection was lost before the answer" });
  request.onabort = () => change(upload, { state: "stopped" });
  request.onloadend = pump;
  change(upload, { state: "sending", request, problem: null, sent: 0 });
  request.send(form_of(upload));
}

function finish(upload, request) {
  let reply = null;
  try {
    reply = JSON.parse(request.responseText);
  } catch {
    // An answer that is not ours, from a proxy perhaps; its status says enough.
  }
  if (request.status >= 200 && request.status < 300) {
    change(upload, { state: "done", sent: upload.file.size, reply });
  } else {
    fail(upload, reply ?? { title: `The server answered ${request.status}` });
  }
}

function fail(upload, problem) {
  change(upload, { state: "failed", problem });
}

/** @param {Upload} upload */
export function retry(upload) {
  change(upload, { state: "waiting" });
  pump();
}

/** @param {Upload} upload */
export function stop(upload) {
  if (upload.state === "waiting") change(upload, { state: "stopped" });
  upload.request?.abort();
}

/** Forgets the uploads that are over. */
export function clear_finished() {
  uploads.set(uploads.get().filter(({ state }) => state === "waiting" || state === "sending"));
}
