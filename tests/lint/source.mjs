// SPDX-License-Identifier: Apache-2.0
// The files that lints look at, and C text with comments and strings blanked out.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SKIPPED = /^(\.git|node_modules|build(-.*)?|data|vendor|corpus|\.vendor.*|\.cache)$/;
const EXTENSION = /\.(c|h|cpp|js|mjs|css|html|sql|sh|awk|cmake|tables|md|json|txt|conf|service)$/;
const NAME = /(^|\/)(run|quickstart|Dockerfile|\.[a-z-]+)$/;
// Recorded traces contain what their machines wrote.
const INPUT = /^tests\/golden\/.*\.json$/;

/**
 * @typedef {{path: string, text: string, lines: string[],
 *            code: string, uncommented: string}} Source
 * `code` has comments and the insides of strings as blanks, `uncommented` only comments;
 * both keep every line where it is.
 */

/** Replaces everything but line breaks with blanks. @param {string} s */
function blank(s) {
  return s.replace(/[^\n]/g, " ");
}

/** Blanks comments and, with `strings`, the contents of quotes. */
function blanked(text, strings) {
  const token = /\/\*[^]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g;
  return text.replace(token, (t) => {
    if (t.startsWith("/")) return blank(t);
    return strings ? t[0] + blank(t.slice(1, -1)) + t[0] : t;
  });
}

/** @param {string} path @param {string} text @returns {Source} */
export function source(path, text) {
  return {
    path,
    text,
    lines: text.split("\n"),
    code: blanked(text, true),
    uncommented: blanked(text, false),
  };
}

/** @param {string} path */
function is_text(path) {
  return (EXTENSION.test(path) || NAME.test(path)) && !INPUT.test(path);
}

/** Every text file below root, in a fixed order. @param {string} root @returns {Source[]} */
export function sources(root) {
  const found = [];
  const folders = [""];
  while (folders.length > 0) {
    const folder = folders.pop();
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder ? `${folder}/${entry.name}` : entry.name;
      if (SKIPPED.test(entry.name)) continue;
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && is_text(path)) found.push(path);
    }
  }
  return found.sort().map((path) => source(path, readFileSync(join(root, path), "utf8")));
}

/** The number, from 1, of the line at this offset. */
export function line_of(text, offset) {
  return text.slice(0, offset).split("\n").length;
}
