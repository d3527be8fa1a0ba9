// SPDX-License-Identifier: Apache-2.0
// usage: node tests/run_files.mjs COUNT FILE...
// Runs test files, COUNT at a time, as `node --test` does; Debian's node has no option for that.
// At the end it prints the files that took longest.
import { relative, resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const MOST_SHOWN = 12;

const [count, ...names] = process.argv.slice(2);
const files = names.map((name) => resolve(name));
/** Seconds in the tests of each file. @type {Map<string, number>} */
const spent_s = new Map();

/** @param {{file?: string, nesting: number, details: {duration_ms: number}}} test */
function add_time({ file, nesting, details }) {
  if (file && nesting === 0)
    spent_s.set(file, (spent_s.get(file) ?? 0) + details.duration_ms / 1000);
}

process.on("exit", () => {
  const slowest = [...spent_s].sort(([, a], [, b]) => b - a).slice(0, MOST_SHOWN);
  for (const [file, s] of slowest)
    console.log(`${s.toFixed(0).padStart(5)} s  ${relative(".", file)}`);
});

run({ files, concurrency: Number(count) })
  .on("test:pass", add_time)
  .on("test:fail", (test) => {
    add_time(test);
    process.exitCode = 1;
  })
  .compose(new spec())
  .pipe(process.stdout);
