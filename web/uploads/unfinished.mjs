// SPDX-License-Identifier: Apache-2.0
// The server addresses of uploads in progress, kept across reloads: the same file for the same run
// is then resumed.
const KEY = "unfinished-uploads";
const LAST_MS = 24 * 3600 * 1000; // the server forgets them after that, too
const ROOM = 100;

/** @typedef {{file: File, path: string, fields: [string, string][]}} Upload */

/** @param {Upload} upload */
const name_of = ({ file, path, fields }) =>
  JSON.stringify([path, file.size, file.lastModified, fields]);

/** @returns {{name: string, url: string, at_ms: number}[]} */
function load() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    const fresh = ({ at_ms }) => Date.now() - at_ms < LAST_MS;
    return Array.isArray(kept) ? kept.filter((one) => one?.name && one?.url && fresh(one)) : [];
  } catch {
    return [];
  }
}

function save(list) {
  try {
    localStorage.setItem(KEY, JSON.stringify(list.slice(-ROOM)));
  } catch {
    // Without storage an upload can be resumed as long as the page lives.
  }
}

const others = (upload) => load().filter(({ name }) => name !== name_of(upload));

/** The server address of the upload, null if there is none. @param {Upload} upload */
export function unfinished_find(upload) {
  return load().find(({ name }) => name === name_of(upload))?.url ?? null;
}

/** @param {Upload} upload @param {string} url */
export function unfinished_keep(upload, url) {
  save([...others(upload), { name: name_of(upload), url, at_ms: Date.now() }]);
}

/** @param {Upload} upload */
export function unfinished_forget(upload) {
  save(others(upload));
}
