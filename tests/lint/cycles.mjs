// SPDX-License-Identifier: Apache-2.0
// No folder includes another that includes it, directly or by others: folders in a circle cannot be
// read, built or moved one at a time.
import { dirname } from "node:path/posix";
import { line_of } from "./source.mjs";

/** @typedef {import("./source.mjs").Source} Source */

const FILES = /^(ingest|analysis|server)\/.*\.[ch]$/;

/** The first include of each folder by each other. @param {Source[]} all */
function arrows_of(all) {
  /** @type {Map<string, Map<string, {path: string, line: number}>>} */
  const arrows = new Map();
  for (const { path, uncommented } of all.filter((file) => FILES.test(file.path))) {
    for (const m of uncommented.matchAll(/^[ \t]*#[ \t]*include[ \t]*"([^"]+)"/gm)) {
      const [from, to] = [dirname(path), dirname(m[1])];
      if (!arrows.has(from)) arrows.set(from, new Map());
      if (from !== to && !arrows.get(from).has(to))
        arrows.get(from).set(to, { path, line: line_of(uncommented, m.index) });
    }
  }
  return arrows;
}

/** Whether includes lead from one folder to the other. */
function leads(arrows, from, to, seen = new Set()) {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return [...arrows.get(from)?.keys() ?? []].some((next) => leads(arrows, next, to, seen));
}

/** Includes that are part of a circle of folders. @param {Source[]} all */
export function folder_cycles(all) {
  const arrows = arrows_of(all);
  return [...arrows].flatMap(([from, targets]) => [...targets]
    .filter(([to]) => leads(arrows, to, from))
    .map(([to, { path, line }]) => ({ path, line, what: `${to} includes ${from}, if by others` })));
}
