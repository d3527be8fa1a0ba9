// SPDX-License-Identifier: Apache-2.0
// Where device time goes: passes of a module, kernels without a category, utilization.
import assert from "node:assert/strict";
import test from "node:test";
import { other_share } from "../../../../../web/views/work/category_model.mjs";
import { metric_sentence, metric_views } from "../../../../../web/views/work/metric_model.mjs";
import { passes_of } from "../../../../../web/views/work/split_model.mjs";

test("the passes of a module sum to it, what is in none of them included", () => {
  const passes = passes_of({ total_owned_ns: 100, forward_ns: 30, backward_ns: 50,
    recompute_ns: 10 });
  assert.deepEqual(passes.map(({ key, ns }) => [key, ns]),
    [["forward_ns", 30], ["backward_ns", 50], ["recompute_ns", 10], ["other", 10]]);
  assert.ok(Math.abs(passes.reduce((sum, { share }) => sum + share, 0) - 1) < 1e-12);
  assert.equal(passes_of({ total_owned_ns: 30, forward_ns: 30 }).length, 3);
  assert.ok(passes_of({ total_owned_ns: null }).every(({ share }) => share === 0));
});

test("the share without a category is of all busy time", () => {
  const rows = [{ category: "gemm", owned_ns: 90 }, { category: "other", owned_ns: 10 }];
  assert.equal(other_share(rows), 0.1);
  assert.equal(other_share([]), 0);
});

const metric = (name, value, unit = "share") => ({ metric: name, value, unit, help: name });

test("utilization leads, precisions become one figure, and no figure appears twice", () => {
  const { leading, others } = metric_views([metric("gemm_fp8_share", 0),
    metric("gemm_bf16_share", 0.7), metric("gemm_fp32_share", 0.3), metric("something", 5, "count"),
    metric("flops_per_step", 5.76e12, "count"), metric("hfu", null), metric("mfu", 0.4)]);
  assert.deepEqual(leading.map(({ key }) => key), ["mfu", "hfu", "gemm_precision"]);
  assert.deepEqual([leading[0].value, leading[0].unit], ["40.0", "%"]);
  assert.equal(leading[1].value, "–");
  assert.deepEqual([leading[2].value, leading[2].more], ["bf16", "bf16 70.0 %, fp32 30.0 %"]);
  assert.deepEqual(others.map(({ key, value, unit }) => [key, value, unit]),
    [["something", "5", ""], ["flops_per_step", "5.76", "TFLOP"]]);
  assert.deepEqual(metric_views([]), { leading: [], others: [] });
  assert.deepEqual(metric_views([metric("recompute_ns", 0, "ns")]).others, [], "none recomputed");
});

test("the page Roofline says what share of the peak is reached, as far as it is known", () => {
  const gemm = [metric("gemm_of_peak", 0.62), metric("gemm_tflops", 613, "TFLOP/s")];
  assert.equal(metric_sentence(gemm),
    "Matrix products reach 62.0 % of the GPU's peak (613 TFLOP/s).");
  assert.match(metric_sentence([...gemm, metric("attention_of_peak", 0.091)]),
    /, attention 9\.1 %\.$/);
  assert.equal(metric_sentence([metric("mfu", 0.4)]),
    "The model reaches 40.0 % of the GPU's peak (MFU).");
  assert.equal(metric_sentence([]), "");
});
