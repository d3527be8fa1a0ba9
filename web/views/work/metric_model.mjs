// SPDX-License-Identifier: Apache-2.0
// The figures of the table `utilization` in the order and words of the page; pure.
import { percent } from "../../base/format.mjs";
import { label_of, value_and_unit } from "../../base/values.mjs";

const TERA = 1e12;
const IN_TERA_FROM = 1e9;

// Leading figures, in order: their name and a line below.
const LEADING = {
  mfu: ["MFU", "the model's work against the dense peak"],
  hfu: ["HFU", "all work, including recomputed"],
  step_tflops: ["Achieved", "over the steady steps"],
  flops_time_share: ["With known FLOPs", "of GEMM, attention and convolution time"],
  recompute_share: ["Recomputed", "of the busy time"],
};

const LABELS = {
  recompute_ns: "Recomputed time",
  flops_per_step: "FLOPs per step",
  model_flops_per_step: "Model FLOPs per step",
  gemm_tflops: "GEMM",
  gemm_of_peak: "GEMM, of peak",
  attention_tflops: "Attention",
  attention_of_peak: "Attention, of peak",
};

const PRECISION = /^gemm_(\w+)_share$/;

/** @typedef {{metric: string, value: number|null, unit: string, help: string}} Metric */

/** One figure in words; operation counts in units of 1e12. @param {Metric} row */
function metric_view(row) {
  const [label, more] = LEADING[row.metric] ?? [LABELS[row.metric] ?? label_of(row.metric), ""];
  const in_tera = row.unit === "count" && /flops/.test(row.metric) && row.value >= IN_TERA_FROM;
  const [value, unit] = in_tera ? value_and_unit(row.value / TERA, "TFLOP")
    : value_and_unit(row.value, row.unit);
  return { key: row.metric, label, more, value, unit, help: row.help };
}

/** The precisions of matrix products as one figure, or null. @param {Metric[]} rows */
function precision_view(rows) {
  const found = rows.filter(({ metric, value }) => PRECISION.test(metric) && value > 0)
    .map(({ metric, value, help }) => ({ name: PRECISION.exec(metric)[1], value, help }))
    .sort((a, b) => b.value - a.value);
  if (found.length === 0) return null;
  const [first] = found;
  const more = found.map(({ name, value }) => `${name} ${percent(value)}`).join(", ");
  return { key: "gemm_precision", label: "GEMM precision", value: first.name, unit: "", more,
    help: "Time of matrix products by the precision of their inputs." };
}

/**
 * "Matrix products reach 62.0 % of the GPU's peak (613 TFLOP/s), attention 9.1 %."
 * @param {Metric[]} rows
 */
export function metric_sentence(rows) {
  const value = (name) => rows.find(({ metric }) => metric === name)?.value ?? null;
  const speed = value("gemm_tflops");
  const attention = value("attention_of_peak");
  if (value("gemm_of_peak") === null) {
    return value("mfu") > 0 ? `The model reaches ${percent(value("mfu"))} of the GPU's peak (MFU).`
      : "";
  }
  return `Matrix products reach ${percent(value("gemm_of_peak"))} of the GPU's peak${
    speed > 0 ? ` (${value_and_unit(speed, "TFLOP/s").join(" ")})` : ""}${
    attention > 0 ? `, attention ${percent(attention)}` : ""}.`;
}

// Without recomputation its figures say nothing.
const is_nothing = ({ metric, value }) => metric.startsWith("recompute_") && value === 0;

/**
 * Leading figures and the others, once each; a figure without a value stays, and its help says why.
 * @param {Metric[]} all
 */
export function metric_views(all) {
  const rows = all.filter((row) => !is_nothing(row));
  const leading = Object.keys(LEADING).map((name) => rows.find(({ metric }) => metric === name))
    .filter(Boolean).map(metric_view);
  const precision = precision_view(rows);
  const others = rows.filter(({ metric }) =>
    !Object.hasOwn(LEADING, metric) && !PRECISION.test(metric)).map(metric_view);
  return { leading: precision ? [...leading, precision] : leading, others };
}
