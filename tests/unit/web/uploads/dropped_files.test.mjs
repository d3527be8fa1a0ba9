// SPDX-License-Identifier: Apache-2.0
// What people drop: which files are meant, and the run's name.
import assert from "node:assert/strict";
import test from "node:test";
import { files_of_input, guess_run_name } from "../../../../web/uploads/dropped_files.mjs";

test("a run is named after the folder, else after what its files share", () => {
  assert.equal(guess_run_name(["exp 42/rank0.json", "exp 42/rank1.json"]), "exp-42");
  assert.equal(guess_run_name(["llama_rank0.json.gz", "llama_rank1.json.gz"]), "llama");
  assert.equal(guess_run_name(["llama-r12.123.pt.trace.json.gz"]), "llama");
  assert.equal(guess_run_name(["mi300x_qwen.json.zst"]), "mi300x_qwen");
  assert.equal(guess_run_name(["rank0.json", "rank1.json"]), "");
  assert.equal(guess_run_name([]), "");
});

test("files left behind by file managers are not uploaded, ranks come in order", () => {
  const file = (path) => ({ name: path.split("/").at(-1), webkitRelativePath: path });
  const found = files_of_input(["a/rank10.json", "a/.DS_Store", "a/rank2.json", "a/__MACOSX/x"]
    .map(file));
  assert.deepEqual(found.map(({ path }) => path), ["a/rank2.json", "a/rank10.json"]);
});
