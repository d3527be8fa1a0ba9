// SPDX-License-Identifier: Apache-2.0
// The memory planner's questions: the model, how it is trained, and on which GPUs.
import { html, useState } from "../../base/ui.mjs";
import { Card } from "../../widgets/widgets.mjs";
import { preset_of, PRESETS, strategy_label } from "./plan_model.mjs";

const WORDS = {
  precision: [["mixed_bf16", "bf16, fp32 master"], ["mixed_fp16", "fp16, fp32 master"],
    ["bf16", "bf16 alone"], ["fp8", "fp8 products, bf16 weights"],
    ["fp8_weights", "fp8 weights and products"], ["fp32", "fp32"]],
  gradients: [["same", "as the weights"], ["fp32", "accumulated in fp32"]],
  optimizer: [["adamw", "AdamW"], ["adam", "Adam"], ["adam_8bit", "Adam, 8 bit"],
    ["lion", "Lion"], ["sgd_momentum", "SGD, momentum"], ["sgd", "SGD"],
    ["none", "none: weights only"]],
  attention: [["flash", "flash"], ["standard", "standard"]],
  recompute: [["none", "nothing"], ["selective", "the attention"], ["full", "whole layers"]],
  sequence_parallel: [["true", "yes"], ["false", "no"]],
  cache: [["same", "16 bits"], ["fp8", "8 bits"]],
};

const MODEL = [
  ["parameters", "Parameters", "A count such as 7e9 or 7B"],
  ["layers", "Layers", ""],
  ["hidden", "Hidden", "Width of the model, in elements"],
  ["heads", "Heads", "Attention heads"],
  ["kv_heads", "KV heads", "Key and value heads; empty: same as heads"],
  ["vocab", "Vocabulary", "Entries"],
  ["seq_len", "Sequence", "Tokens"],
  ["micro_batch", "Micro-batch", "Sequences that pass through the model together"],
];

const TRAINING = [
  ["precision", "Precision", ""],
  ["gradients", "Gradients", ""],
  ["optimizer", "Optimizer", ""],
  ["attention", "Attention", "Flash attention stores nothing for each pair of tokens"],
  ["recompute", "Recomputed", "What the backward pass recomputes instead of storing"],
  ["sequence_parallel", "Split norms too", "Sequence parallelism: norms and dropouts over tp"],
  ["interleave", "Chunks per stage", "Of an interleaved pipeline"],
  ["micro_batches", "Micro-batches", "Per step, if too few to fill the stages; empty: enough"],
  ["overhead_gb", "Overhead, GB", "An allowance for contexts, collectives, workspaces, "
    + "fragmentation"],
];

const GENERATION = [
  ["cached", "Cached sequences", "Sequences generated at once, each of the full length; with "
    + "optimizer none: weights only"],
  ["cache", "KV cache", ""],
];

const MEASURED = [
  ["run", "Measured run", "Name or id of a run whose peak is shown next to the plan"],
];

function Choice({ value, options, onchange, label }) {
  return html`<select value=${value} aria-label=${label}
    onChange=${(event) => onchange(event.target.value)}>${options.map(([key, text]) =>
      html`<option key=${key} value=${key}>${text}</option>`)}</select>`;
}

/**
 * A field that reports when it loses focus or Enter is pressed; replies do not overwrite typing.
 */
function Text({ value, onchange, label }) {
  const [typed, set_typed] = useState(/** @type {string|null} */ (null));
  const commit = (event) => {
    set_typed(null);
    onchange(event.target.value.trim());
  };
  return html`<input value=${typed ?? value} aria-label=${label} inputmode="decimal"
    autocomplete="off" spellcheck=${false} onChange=${commit}
    onInput=${(event) => set_typed(event.target.value)} />`;
}

function Fields({ fields, query, change }) {
  return fields.map(([name, label, help]) => {
    const onchange = (value) => change({ [name]: value });
    return html`<label class="field" key=${name} title=${help}><span>${label}</span>${WORDS[name]
      ? html`<${Choice} value=${query[name]} options=${WORDS[name]} onchange=${onchange} />`
      : html`<${Text} value=${query[name]} onchange=${onchange} />`}</label>`;
  });
}

/** @param {{query: Record<string, any>, change: (patch: object) => void}} props */
export function PlanForm({ query, change }) {
  const preset = preset_of(query);
  const names = Object.keys(PRESETS).map((name) => [name, name]);
  const options = preset ? names : [["", "own figures"], ...names];
  return html`<${Card} title="Model and job">
    <div class="plan-fields">
      <label class="field"><span>Start from</span><${Choice} value=${preset} options=${options}
        onchange=${(name) => change(PRESETS[name] ?? {})} /></label>
      <${Fields} fields=${MODEL} query=${query} change=${change} />
      <${Fields} fields=${TRAINING} query=${query} change=${change} />
      ${query.optimizer === "none"
        && html`<${Fields} fields=${GENERATION} query=${query} change=${change} />`}
      <${Fields} fields=${MEASURED} query=${query} change=${change} />
    </div><//>`;
}

const STRATEGIES = ["ddp", "zero1", "zero2", "zero3"].map((name) => [name, strategy_label(name)]);
const COUNTS = [["dp", "Data-parallel GPUs"], ["tp", "Tensor-parallel GPUs"],
  ["pp", "Pipeline stages"]];

function SetupRow({ setup, number, gpus, onchange, onremove }) {
  const listed = gpus.some(({ gpu }) => gpu === setup.gpu);
  const names = [...(listed ? [] : [setup.gpu]), ...gpus.map(({ gpu }) => gpu)];
  const set = (name) => (value) => onchange({ [name]: value });
  return html`<tr><td><${Choice} label=${`GPU of setup ${number}`} value=${setup.gpu}
      options=${names.map((name) => [name, name])} onchange=${set("gpu")} /></td>
    <td><${Choice} label=${`Sharding of setup ${number}`} value=${setup.strategy}
      options=${STRATEGIES} onchange=${set("strategy")} /></td>
    ${COUNTS.map(([name, help]) => html`<td key=${name}><${Text}
      label=${`${help}, setup ${number}`} value=${setup[name]} onchange=${set(name)} /></td>`)}
    <td>${onremove && html`<button type="button" class="icon" aria-label=${`Remove setup ${number}`}
      title="Remove" onClick=${onremove}>×</button>`}</td></tr>`;
}

/**
 * @typedef {import("./plan_model.mjs").Setup} Setup
 * @param {{setups: Setup[], gpus: {gpu: string}[],
 *          onchange: (update: (now: Setup[]) => Setup[]) => void}} props
 * `update` derives the next setups from those in the address, which may be newer than what is
 * shown.
 */
export function SetupTable({ setups, gpus, onchange }) {
  const put = (i) => (patch) => onchange((now) => now.with(i, { ...now[i], ...patch }));
  const remove = (i) => setups.length > 1 && (() => onchange((now) => now.toSpliced(i, 1)));
  return html`<${Card} title="Setups" note="side by side" flush actions=${html`<button
      type="button" class="small" disabled=${setups.length >= 8}
      onClick=${() => onchange((now) => [...now, now[now.length - 1]])}>Add setup</button>`}>
    <div class="table-region" role="group" tabindex="0" aria-label="Setups to compare">
    <table class="plan-setups"><thead><tr><th scope="col">GPU</th><th scope="col">Sharding</th>
      ${COUNTS.map(([name, help]) => html`<th scope="col" key=${name} title=${help}>${name}</th>`)}
      <th scope="col"><span class="visually-hidden">Remove</span></th></tr></thead>
    <tbody>${setups.map((setup, i) => html`<${SetupRow} key=${i} setup=${setup} number=${i + 1}
      gpus=${gpus} onchange=${put(i)} onremove=${remove(i)} />`)}</tbody></table></div><//>`;
}
