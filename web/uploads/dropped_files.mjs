// SPDX-License-Identifier: Apache-2.0
// What was dropped or picked, as a flat list of files with paths; and a name for the run.

/** @typedef {{file: File, path: string}} Dropped */

/** Entries of a folder; the browser returns them in batches until one is empty. */
async function read_folder(reader) {
  const all = [];
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) return all;
    all.push(...batch);
  }
}

async function files_of_entry(entry) {
  const path = entry.fullPath.replace(/^\//, "");
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ file, path }];
  }
  const entries = await read_folder(entry.createReader());
  return (await Promise.all(entries.map(files_of_entry))).flat();
}

/**
 * Must be called within the drop event: the items are gone after it.
 * @param {DataTransfer} transfer @returns {Promise<Dropped[]>}
 */
export async function files_of_drop(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (entries.length === 0) return files_of_input(transfer.files);
  const found = (await Promise.all(entries.map(files_of_entry))).flat();
  return visible(found);
}

/** @param {FileList} list @returns {Dropped[]} */
export function files_of_input(list) {
  return visible([...list].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
}

/** Without the clutter of file managers, in the rank order of their names. */
function visible(found) {
  return found
    .filter(({ path }) => !/(^|\/)(\.|__MACOSX\/|Thumbs\.db$)/.test(path))
    .sort((a, b) => a.path.localeCompare(b.path, "en", { numeric: true }));
}

const ENDINGS = /(\.pt)?(\.trace)?\.json(\.gz|\.zst)?$|\.tar(\.gz|\.zst)?$|\.(gz|zst|pt|zip)$/i;
const RANK = /(^|[-_.])(rank|r)[-_]?\d+.*$/i;

/**
 * A name for the run that some files are the ranks of: their folder, else the common part of their
 * names.
 * @param {string[]} paths
 */
export function guess_run_name(paths) {
  if (paths.length === 0) return "";
  const folders = paths.map((path) => path.split("/").slice(0, -1));
  const top = folders[0][0];
  if (top && folders.every(([first]) => first === top)) return cleaned(top);
  const names = paths.map((path) => path.split("/").at(-1).replace(ENDINGS, "").replace(RANK, ""));
  return cleaned(names.reduce(common_start));
}

function common_start(a, b) {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return a.slice(0, length);
}

function cleaned(name) {
  return name.replace(/[^\w@.+-]+/g, "-").replace(/^[-_.]+|[-_.]+$/g, "");
}
