// SPDX-License-Identifier: Apache-2.0
// The memory planner's address, its setups in words, and the contents of its rows.
import assert from "node:assert/strict";
import test from "node:test";
import {
  DEFAULTS, FIRST_SETUPS, part_rows, PARTS, plan_lead, plan_path, preset_of, PRESETS, read_setup,
  scale_of, setup_label, verdict_of, write_setup,
} from "../../../../../web/views/plan/plan_model.mjs";

const GB = 1e9;

/** A plan of one GPU whose parts all have the same size. */
function plan_of({ each = GB, memory = 80 * GB, fits = true, source = "s" } = {}) {
  const parts = Object.keys(PARTS).map((part) => ({ part, bytes: each, help: "", source }));
  const total = each * parts.length;
  return { parts, total_bytes: total,
    gpus: [{ memory_bytes: memory, fits, headroom_bytes: memory - total }] };
}

test("a setup survives the way into the address and back", () => {
  for (const text of FIRST_SETUPS) assert.equal(write_setup(read_setup(text)), text);
});

test("the page says how many setups fit and which is tightest", () => {
  const of = (gpu, what) => ({ setup: read_setup(`${gpu},ddp,1,1,1`), plan: plan_of(what) });
  const total = Object.keys(PARTS).length;
  const h100 = of("H100 SXM", { each: 10 * GB, fits: false });
  const mi300x = of("MI300X", { each: GB, memory: 192 * GB });
  assert.equal(plan_lead([h100, mi300x]),
    `1 of 2 setups fit; H100 SXM is ${total * 10 - 80}.0 GB over.`);
  assert.match(plan_lead([mi300x]), /^MI300X fits, with 1\d\d GB to spare\.$/);
  assert.match(plan_lead([mi300x, of("H200", {})]), /^All 2 setups fit; H200 has the least room: /);
  assert.equal(plan_lead([of("H200", { fits: null })]), "");
});

test("a damaged setup in the address becomes one that can be asked for", () => {
  assert.deepEqual(read_setup(""),
    { gpu: "H100 SXM", strategy: "ddp", dp: "1", tp: "1", pp: "1" });
});

test("setups are named by how many GPUs they take and how the model is split", () => {
  assert.equal(setup_label(read_setup("MI300X,ddp,1,1,1")), "MI300X");
  assert.equal(setup_label(read_setup("H100 SXM,zero3,4,8,2")),
    "64 × H100 SXM, ZeRO-3, dp 4, tp 8, pp 2");
  assert.equal(setup_label(read_setup("H200,zero1,1,2,1")), "2 × H200, tp 2");
});

test("the API is asked for one setup with all that the form holds and nothing empty", () => {
  const query = new URLSearchParams(plan_path(DEFAULTS, read_setup(FIRST_SETUPS[2])).split("?")[1]);
  assert.equal(query.get("gpu"), "H100 SXM");
  assert.equal(query.get("dp"), "8");
  assert.equal(query.get("parameters"), "7e9");
  assert.equal(query.has("on") || query.has("micro_batches"), false);
});

test("a model is recognized by its figures, and custom figures are no model", () => {
  assert.equal(preset_of(DEFAULTS), "Llama 2 7B");
  assert.equal(preset_of({ ...DEFAULTS, ...PRESETS["GPT-3 175B"] }), "GPT-3 175B");
  assert.equal(preset_of({ ...DEFAULTS, hidden: "4097" }), "");
});

test("the verdict says by how much a plan fits, or that it is not known", () => {
  assert.equal(verdict_of(plan_of({ memory: 19 * GB })).text, "fits, 9.00 GB free");
  assert.equal(verdict_of(plan_of({ memory: 5 * GB, fits: false })).text,
    "does not fit: 5.00 GB over");
  assert.equal(verdict_of(plan_of({ fits: null })).tone, "warn");
});

test("all bars have one scale, in which the largest GPU or plan has room", () => {
  assert.ok(scale_of([plan_of(), plan_of({ memory: 192 * GB })]) >= 192 * GB);
  assert.ok(scale_of([plan_of({ each: 50 * GB })]) >= 450 * GB);
});

test("each part has one row with a cell per plan and each source once", () => {
  const rows = part_rows([plan_of(), plan_of({ source: "t" }), plan_of()]);
  assert.equal(rows.length, 10);
  assert.deepEqual(rows[0].sources, ["s", "t"]);
  assert.equal(rows[0].cells.length, 3);
});
