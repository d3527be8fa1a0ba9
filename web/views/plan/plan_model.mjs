// SPDX-License-Identifier: Apache-2.0
// The memory planner's state and figures; pure.
import { address } from "../../base/address.mjs";
import { bytes, percent_signed } from "../../base/format.mjs";

/** Models to start from, with the figures of their papers. */
const MODELS = {
  "Llama 2 7B": { parameters: "7e9", layers: "32", hidden: "4096", heads: "32", vocab: "32000",
    seq_len: "4096" },
  "Llama 2 13B": { parameters: "13e9", layers: "40", hidden: "5120", heads: "40", vocab: "32000",
    seq_len: "4096" },
  "Llama 2 70B": { parameters: "70e9", layers: "80", hidden: "8192", heads: "64", vocab: "32000",
    seq_len: "4096" },
  "Llama 3 8B": { parameters: "8.03e9", layers: "32", hidden: "4096", heads: "32", kv_heads: "8",
    vocab: "128256", seq_len: "8192" },
  "Llama 3 70B": { parameters: "70.6e9", layers: "80", hidden: "8192", heads: "64", kv_heads: "8",
    vocab: "128256", seq_len: "8192" },
  "GPT-3 175B": { parameters: "175e9", layers: "96", hidden: "12288", heads: "96", vocab: "51200",
    seq_len: "2048" },
  "MT-NLG 530B": { parameters: "530e9", layers: "105", hidden: "20480", heads: "128",
    vocab: "51200", seq_len: "2048" },
};

export const PRESETS = Object.fromEntries(Object.entries(MODELS).map(([name, model]) =>
  [name, { kv_heads: "", ...model }]));

/** Used if the address says nothing. */
export const DEFAULTS = {
  ...PRESETS["Llama 2 7B"],
  precision: "mixed_bf16",
  gradients: "same",
  optimizer: "adamw",
  micro_batch: "1",
  attention: "flash",
  recompute: "none",
  sequence_parallel: "true",
  micro_batches: "",
  interleave: "1",
  overhead_gb: "2",
  cached: "0",
  cache: "same",
  run: "",
  gpus: "8",
  on: /** @type {string[]} */ ([]),
};

/** Shown side by side at first. */
export const FIRST_SETUPS = ["H100 SXM,ddp,1,1,1", "MI300X,ddp,1,1,1", "H100 SXM,zero3,8,1,1",
  "MI300X,zero3,8,1,1"];

/** @typedef {{gpu: string, strategy: string, dp: string, tp: string, pp: string}} Setup */

/** @param {string} text "H100 SXM,zero3,8,1,1" @returns {Setup} */
export function read_setup(text) {
  const [gpu, strategy, dp, tp, pp] = text.split(",");
  return { gpu: gpu || "H100 SXM", strategy: strategy || "ddp", dp: dp || "1", tp: tp || "1",
    pp: pp || "1" };
}

/** The setups of an address. @param {string[]} texts @returns {Setup[]} */
export const read_setups = (texts) => (texts.length > 0 ? texts : FIRST_SETUPS).map(read_setup);

/** @param {Setup} setup */
export const write_setup = ({ gpu, strategy, dp, tp, pp }) => [gpu, strategy, dp, tp, pp].join(",");

/** The preset whose figures are in the form, or "". @param {Record<string, any>} query */
export function preset_of(query) {
  const same = ([, model]) => Object.entries(model).every(([key, value]) => query[key] === value);
  return Object.entries(PRESETS).find(same)?.[0] ?? "";
}

/** The API request for one setup. @param {Record<string, any>} query @param {Setup} setup */
export function plan_path(query, setup) {
  const { on, gpus, ...model } = query;
  return address("/plan", { ...generating(model), ...setup });
}

// Only what is not trained has a cache.
const generating = (model) => (model.optimizer === "none" ? model : { ...model, cached: "0" });

/** The API request for ways to split the model over GPUs. @param {Record<string, any>} query */
export function setups_path(query, gpu) {
  const { on, run, recompute, interleave, ...model } = query;
  return address("/plan/setups", { ...generating(model), gpu, limit: "8" });
}

/** How a measured peak compares, in words. @param {any} measured @returns {string} */
export function measured_text({ memory_bytes: peak, planned_bytes: planned }) {
  if (peak === null) return "unknown";
  const share = peak > 0 ? planned / peak - 1 : 0;
  return `${bytes(peak)}; the plan has ${bytes(planned)} (${percent_signed(share)})`;
}

const STRATEGY = { ddp: "DDP", zero1: "ZeRO-1", zero2: "ZeRO-2", zero3: "ZeRO-3" };
export const strategy_label = (strategy) => STRATEGY[strategy] ?? strategy;

/** "ZeRO-3, dp 8, tp 2"; "" for one GPU. @param {Omit<Setup, "gpu">} setup */
export function split_label({ strategy, dp, tp, pp }) {
  const split = [["dp", dp], ["tp", tp], ["pp", pp]].filter(([, n]) => n !== "1")
    .map(([name, n]) => `${name} ${n}`);
  return [...(dp === "1" ? [] : [strategy_label(strategy)]), ...split].join(", ");
}

/** "8 × H100 SXM, ZeRO-3" and what it is split by. @param {Setup} setup */
export function setup_label(setup) {
  const gpus = Number(setup.dp) * Number(setup.tp) * Number(setup.pp);
  return [`${gpus > 1 ? `${gpus} × ` : ""}${setup.gpu}`, split_label(setup)].filter(Boolean)
    .join(", ");
}

/** How each part is drawn: the class of its color and a short name. */
export const PARTS = {
  parameters: { part: "gemm", label: "Parameters" },
  gradients: { part: "other_compute", label: "Gradients" },
  master: { part: "attention", label: "Master copy" },
  optimizer: { part: "exposed_memory", label: "Optimizer" },
  activations: { part: "exposed_comm", label: "Activations" },
  output: { part: "idle_other", label: "Output layer" },
  recomputed: { part: "idle_host_wait", label: "Recomputed" },
  cache: { part: "plan_cache", label: "KV cache" },
  gathered: { part: "plan_gathered", label: "Gathered" },
  overhead: { part: "plan_overhead", label: "Overhead" },
};

/** Whether the plan fits the requested GPU, in words. @param {any} plan */
export function verdict_of(plan) {
  const { fits, headroom_bytes: free } = plan.gpus[0];
  if (fits === false) return { tone: "bad", text: `does not fit: ${bytes(-free)} over` };
  if (fits === null) return { tone: "warn", text: "unknown: no layers given" };
  return { tone: "good", text: `fits, ${bytes(free)} free` };
}

/** "3 of 4 setups fit; H100 SXM is 52.9 GB over." @param {{setup: any, plan: any}[]} shown */
export function plan_lead(shown) {
  const judged = shown.map(({ setup, plan }) => ({ name: setup_label(setup), ...plan.gpus[0] }))
    .filter(({ fits }) => fits !== null)
    .sort((a, b) => a.headroom_bytes - b.headroom_bytes);
  if (judged.length === 0) return "";
  const fitting = judged.filter(({ fits }) => fits);
  const [tightest] = judged;
  const many = judged.length > 1;
  if (fitting.length === judged.length) {
    return many ? `All ${judged.length} setups fit; ${tightest.name} has the least room: ${
      bytes(tightest.headroom_bytes)}.`
      : `${tightest.name} fits, with ${bytes(tightest.headroom_bytes)} to spare.`;
  }
  return `${many ? `${fitting.length} of ${judged.length} setups fit; ` : ""}${tightest.name} is ${
    bytes(-tightest.headroom_bytes)} over.`;
}

/** What the full width of the bars represents, in bytes. @param {any[]} plans */
export function scale_of(plans) {
  const most = plans.flatMap((plan) => [plan.total_bytes, plan.gpus[0].memory_bytes]);
  return Math.max(1, ...most) * 1.02;
}

/** One row per part: its bytes, formula and numbers in each plan. @param {any[]} plans */
export function part_rows(plans) {
  return Object.keys(PARTS).map((name) => {
    const cells = plans.map((plan) => plan.parts.find(({ part }) => part === name));
    return { name, ...PARTS[name], cells, help: cells[0].help,
      sources: [...new Set(cells.map(({ source }) => source))] };
  });
}
