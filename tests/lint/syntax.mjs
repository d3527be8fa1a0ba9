// SPDX-License-Identifier: Apache-2.0
// Every module named on the command line parses; one process, since starting node costs more.
import { readFileSync } from "node:fs";
import { SourceTextModule } from "node:vm";

let wrong = 0;
const paths = process.argv.slice(2);
for (const path of paths) {
  try {
    new SourceTextModule(readFileSync(path, "utf8"), { identifier: path });
  } catch (error) {
    console.log(`${path}: ${error.message}\n${error.stack.split("\n", 4).join("\n")}`);
    wrong++;
  }
}
console.log(`${paths.length} modules, ${wrong} wrong`);
process.exitCode = wrong === 0 && paths.length > 0 ? 0 : 1;
