// SPDX-License-Identifier: Apache-2.0
// Takes out what keeps several services right, piece by piece, and shows that tests notice: each
// mutant is one source compiled with a change, put in front of a build with shared libraries.
//
//     node tests/torture/mutants.mjs [--real] [--only=WORD] [BUILD]
//
// --real: by the test of the whole cluster on Ceph, which takes minutes each. --only: those with a
// word in their name, beside the source without a change, which has to pass. BUILD: build/dev.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { root, temporary } from "../e2e/helpers/tools.mjs";

const args = process.argv.slice(2);
const is_real = args.includes("--real");
const only = args.find((arg) => arg.startsWith("--only="))?.slice("--only=".length) ?? "";
const build = resolve(args.find((arg) => !arg.startsWith("-")) ?? join(root, "build/dev"));
const folder = temporary("mutants");

const MUTANTS = [
  { name: "nothing is changed", source: "server/files/pieces_shared.c", is_control: true,
    from: "if (next == found->count)", to: "if (next == found->count)",
    test: "an upload in pieces goes on" },
  { name: "the fence is removed", source: "server/store/store_jobs.c",
    from: "WHERE id = ? AND state = 'running' AND attempts = ?",
    to: "WHERE id = ? AND attempts <> -1 - ?", test: "after its lease had run out" },
  { name: "the reaper is off", source: "server/store/store_job_care.c",
    from: "AND coalesce(lease_until_ns, 0) < ?", to: "AND lease_until_ns < ? AND 1 = 0",
    test: "a job whose service died" },
  { name: "pieces are not brought", source: "server/files/pieces_shared.c",
    from: "if (next == found->count)", to: "if (next <= found->count)",
    test: "an upload in pieces goes on" },
];

/** The compiler's command for a source, for a library instead. */
function compile({ source, from, to }, library) {
  const text = readFileSync(join(root, source), "utf8");
  if (text.split(from).length !== 2) throw new Error(`${source}: found no single ${from}`);
  const mutant = join(folder, "mutant.c");
  writeFileSync(mutant, text.replace(from, to));
  const commands = JSON.parse(readFileSync(join(build, "compile_commands.json"), "utf8"));
  const { command, directory } = commands.find(({ file }) => file === join(root, source));
  const line = command.replace(/ -o \S+/, "").replace(/ -c \S+/, "");
  const done = spawnSync("sh", ["-c", `${line} -fPIC -shared -Wno-error ${mutant} -o ${library}`],
    { cwd: directory, encoding: "utf8" });
  if (done.status !== 0) throw new Error(done.stderr);
}

/** Whether tests fail with a library in front of the program. */
function is_noticed(library, file, pattern) {
  const asan = spawnSync("cc", ["-print-file-name=libasan.so"], { encoding: "utf8" }).stdout.trim();
  const program = join(folder, "stepscope");
  const line = `LD_PRELOAD="${asan} ${library}" exec ${build}/stepscope "$@"`;
  writeFileSync(program, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  const env = { ...process.env, STEPSCOPE_BIN: program, STEPSCOPE_TORTURE: "long",
    STEPSCOPE_TRACEGEN: join(build, "tests/tracegen/tracegen") };
  const done = spawnSync(process.execPath, ["--test", ...(pattern
    ? [`--test-name-pattern=${pattern}`] : []), join(root, file)], { env, encoding: "utf8" });
  const passed = /^# pass (\d+)/m.exec(done.stdout)?.[1];
  const failures = done.stdout.match(/(?<=error: )(\|-\s*)?.*/g) ?? [];
  const why = failures[0]?.replace(/^\|-\s*/, "");
  console.log(`  ${file}: ${done.status === 0 ? `passed (${passed})` : why}`);
  return done.status !== 0;
}

let missed = 0;
for (const mutant of MUTANTS.filter(({ name, is_control }) => is_control || name.includes(only))) {
  const library = join(folder, "mutant.so");
  compile(mutant, library);
  console.log(mutant.name);
  const noticed = is_real ? is_noticed(library, "tests/torture/cluster.test.mjs", "three")
    : is_noticed(library, "tests/e2e/cluster.test.mjs", mutant.test);
  if (mutant.is_control && noticed) throw new Error("the tests fail without a change");
  missed += Number(!mutant.is_control && !noticed);
}
console.log(missed === 0 ? "all were noticed" : `${missed} were not noticed`);
process.exit(missed === 0 ? 0 : 1);
