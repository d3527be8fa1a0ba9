// SPDX-License-Identifier: Apache-2.0
// Every import of a script, and every file a page refers to, exists under that name: browsers only
// load pages when they are visited.
import { dirname, join } from "node:path/posix";
import { line_of } from "./source.mjs";

/** @typedef {import("./source.mjs").Source} Source */

const NAMED = /\b(?:import|export)\s+(?:(\w+)\s*,?\s*)?(?:\{([^}]*)\}\s*)?from\s*"(\.[^"]+)"/g;
const PATHS = /(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)"/g; // in types within comments, too
const SERVED = /"\/static\/\{\{tree\}\}\/([^"]+\.(?:m?js|css))"/g;
const BUILT = /^web\/vendor\//; // copied by vendor.sh

/** The names in the braces of an import or export, as used by the exporting module. */
const names_in = (list, at) => (list ?? "").split(",").map((one) => one.trim().split(/\s+as\s+/))
  .map((pair) => pair.at(at)).filter(Boolean);

const FILES = /^(web|tests\/(?!lint\/)).*\.(mjs|html)$/; // the lint's own contain samples

/** @param {Source} file @returns {Set<string>} */
function exports_of({ uncommented }) {
  const declared = /^export\s+(default\b|(?:async\s+)?(?:function\*?|const|let|class)\s+(\w+))/gm;
  return new Set([
    ...[...uncommented.matchAll(declared)].map((m) => m[2] ?? m[1]),
    ...[...uncommented.matchAll(/^export\s*\{([^}]*)\}/gm)].flatMap((m) => names_in(m[1], -1)),
  ]);
}

function missing_files(file, files) {
  const folder = dirname(file.path);
  const named = file.path.endsWith(".html")
    ? [...file.text.matchAll(SERVED)].map((m) => [m, join("web", m[1])])
    : [...file.text.matchAll(PATHS)].map((m) => [m, join(folder, m[1])]);
  return named.filter(([, path]) => !files.has(path) && !BUILT.test(path)).map(([m, path]) =>
    ({ path: file.path, line: line_of(file.text, m.index), what: `there is no ${path}` }));
}

function missing_names(file, files) {
  return [...file.uncommented.matchAll(NAMED)].flatMap((m) => {
    const path = join(dirname(file.path), m[3]);
    const other = files.get(path);
    if (!other) return [];
    const known = exports_of(other);
    const wanted = [...(m[1] ? ["default"] : []), ...names_in(m[2], 0)];
    return wanted.filter((name) => !known.has(name)).map((name) => ({ path: file.path,
      line: line_of(file.uncommented, m.index), what: `${path} does not export ${name}` }));
  });
}

/** Imports of names that do not exist. @param {Source[]} all */
export function broken_imports(all) {
  const files = new Map(all.map((file) => [file.path, file]));
  return all.filter(({ path }) => FILES.test(path)).flatMap((file) => [
    ...missing_files(file, files), ...missing_names(file, files)]);
}
