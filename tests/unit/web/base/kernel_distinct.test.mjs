// SPDX-License-Identifier: Apache-2.0
// No two kernels of a run look alike: labels that they share get what differs in the names.
import assert from "node:assert/strict";
import test from "node:test";
import { distinct_labels, distinctions } from "../../../../web/base/kernel_distinct.mjs";

test("a label of one kernel stays, a shared one gets tile, stages or variant", () => {
  const labels = distinct_labels([
    ["cutlass_gemm_64x64_32x4_nt", "GEMM"], ["cutlass_gemm_64x64_32x6_nt", "GEMM"],
    ["void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float>>", "mul"],
    ["void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float>>", "mul"],
    ["memset", "memset"]]);
  assert.deepEqual([...labels.values()],
    ["GEMM · 32x4", "GEMM · 32x6", "mul · AUnaryFunctor", "mul · BinaryFunctor", "memset"]);
});

test("a bare number comes with the word before it", () => {
  assert.deepEqual(distinctions(["f<1, reduce 256>", "f<1, reduce 512>"]),
    ["reduce 256", "reduce 512"]);
});

test("however names are made, the texts differ and are short", () => {
  const long = "x".repeat(500);
  const groups = [["a", "a a", "a a a"], ["<1>", "<2>", "<>"], [`${long}a`, `${long}b`],
    ["f(int)", "f[int]", "f{int}"], Array.from({ length: 300 }, (_, i) => `kernel_${i % 7}_${i}`),
    Array.from({ length: 40 }, (_, i) => `k_${i & 1}_${(i >> 1) & 1}_${(i >> 2) & 1}_${i >> 3}`)];
  for (const names of groups) {
    const texts = distinctions(names);
    assert.equal(new Set(texts).size, names.length, names[0]);
    assert.ok(texts.every((text) => text.length <= 31), names[0]);
  }
});
