// SPDX-License-Identifier: Apache-2.0
// usage: node tests/run_files.mjs COUNT FILE...
// Runs test files, COUNT at a time, as `node --test` does; Debian's node has no option for that.
import { resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const [count, ...names] = process.argv.slice(2);
const files = names.map((name) => resolve(name));

run({ files, concurrency: Number(count) })
  .on("test:fail", () => (process.exitCode = 1))
  .compose(new spec())
  .pipe(process.stdout);
