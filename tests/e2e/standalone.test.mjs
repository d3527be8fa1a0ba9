// SPDX-License-Identifier: Apache-2.0
// The page that needs no server: its module says what the command says, byte for byte.
import { test } from "node:test";
import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { run_module, skip_module } from "./helpers/module.mjs";
import { root, run_status, skipped, stepscope_bin, temporary } from "./helpers/tools.mjs";
import { generate, have_real_traces, real_file, real_names } from "./helpers/traces.mjs";

const ANALYZE = ["analyze", "--format", "json"];

/** Fails unless module and command print the same of files in one folder. */
async function assert_same(paths, what = basename(paths[0])) {
  const module = run_module(ANALYZE, paths);
  const command = await run_status(stepscope_bin(), [...ANALYZE, ...paths.map((p) => basename(p))],
    { cwd: dirname(paths[0]) });
  assert.equal(module.stderr, command.stderr, what);
  assert.equal(module.status === 0, command.status === 0, what);
  assert.ok(module.stdout.equals(Buffer.from(command.stdout)), `${what}: other tables`);
  return module;
}

test("the module's tables of generated jobs are those of the command", { skip: skip_module },
  async () => {
    const jobs = [["--flavour", "rocm", "--stacks", "--format", "gz"],
      ["--ranks", "4", "--strategy", "fsdp", "--format", "zst", "--memory", "--counters"],
      ["--ranks", "2", "--plant", "starvation", "--pretty"]];
    for (const job of jobs) {
      const { folder, files } = await generate(["--steps", "6", "--layers", "3", ...job]);
      await assert_same(files.map(({ filename }) => join(folder, filename)), job.join(" "));
    }
  });

test("the module refuses what is no trace in the words of the command", { skip: skip_module },
  async () => {
    const folder = temporary("refused");
    const refused = [["empty.json", ""], ["list.json", "[]"], ["cut.json.gz", "\x1f\x8b"],
      ["train.log", "iteration 1/10 | lm loss: 2.0\n"]];
    for (const [name, text] of refused) {
      writeFileSync(join(folder, name), text);
      const { status } = await assert_same([join(folder, name)]);
      assert.notEqual(status, 0, name);
    }
  });

const samples = join(root, "../shared/samples");
const no_real = have_real_traces() ? skip_module
  : skipped("the WASM module on real traces: ../shared/traces is absent");

test("the module's tables of every real trace are those of the command, byte for byte",
  { skip: no_real }, async () => {
    const names = real_names();
    for (const name of names) await assert_same([real_file(name)]);
    await assert_same(["pair_rank0", "pair_rank1"].map(real_file), "a job of two ranks");
    assert.ok(names.length > 20);
  });

test("so are those of other profilers' recordings", { skip: no_real }, async () => {
  const chosen = { nsys: /\.sqlite\.gz$/, xplane: /\.pb$/, paraver: /\.prv(\.gz)?$/,
    rocm: /\.(db|rpd)\.gz$|results\.json\.gz$|kernel_trace\.csv$/ };
  for (const [folder, pattern] of Object.entries(chosen)) {
    const files = readdirSync(join(samples, folder)).filter((name) => pattern.test(name));
    assert.ok(files.length > 0, folder);
    for (const name of files) await assert_same([join(samples, folder, name)]);
  }
});
