// SPDX-License-Identifier: Apache-2.0
// `stepscope inspect --kernel-names`: names from files and standard input, a JSON object a line.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { stepscope_bin } from "./helpers/tools.mjs";

function inspect(paths, input) {
  const args = ["inspect", "--kernel-names", ...paths];
  return spawnSync(stepscope_bin(), args, { input, encoding: "utf8" });
}

test("names from standard input give one object a line, blank ones too, in their order", () => {
  const { status, stdout } = inspect([], "volta_sgemm_64x64_nn\n\nMemset (Device)\r\n\u{1f600}\n");
  assert.equal(status, 0);
  const lines = stdout.trimEnd().split("\n");
  const [gemm, blank, memset, unknown] = lines.map((line) => JSON.parse(line));
  assert.deepEqual(gemm, {
    name: "volta_sgemm_64x64_nn", library: "cublas", op: "gemm", dtype: "f32", arch: "sm70",
    tile: [64, 64], layout: "nn", flags: ["simt"], short: "GEMM f32 nn 64x64 sm70 simt", sure: true,
  });
  assert.equal(memset.name, "Memset (Device)");
  assert.equal(memset.op, "memset");
  assert.deepEqual(unknown, { name: "\u{1f600}", flags: [], short: "?", sure: false });
  assert.deepEqual(blank, { name: "", flags: [], short: "?", sure: false });
});

test("files are read in turn, and - is standard input", () => {
  const folder = mkdtempSync(join(tmpdir(), "kernel_names-"));
  const file = join(folder, "names.txt");
  writeFileSync(file, "ampere_sgemm_128x64_nn");
  const { status, stdout } = inspect([file, "-", file], "Memset (Device)\n");
  rmSync(folder, { recursive: true });
  assert.equal(status, 0);
  const ops = stdout.trimEnd().split("\n").map((line) => JSON.parse(line).op);
  assert.deepEqual(ops, ["gemm", "memset", "gemm"]);
});

test("a file that is not there is an error", () => {
  const { status, stderr } = inspect(["/nonexistent/names"], "");
  assert.notEqual(status, 0);
  assert.match(stderr, /names/);
});
