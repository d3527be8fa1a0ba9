// SPDX-License-Identifier: Apache-2.0
// The list of runs: partners on other GPUs, a row for each series, chosen columns, tags.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hidden_columns, one_per_series, toggled_column }
  from "../../../../../web/views/runs/list_model.mjs";
import { maker_of, partner_of } from "../../../../../web/views/runs/partner_model.mjs";
import { tag_patch } from "../../../../../web/views/runs/tag_model.mjs";

const run = (name, gpu, more = {}) => ({ id: name, name, gpu, meta: {}, received: 1,
  world_size: null, project: "p", series: name.replace(/@.*/, ""), ...more });
const H100 = "NVIDIA H100 80GB HBM3";
const MI300X = "AMD Instinct MI300X";

test("a device's name says its maker", () => {
  assert.deepEqual([H100, MI300X, "MI250X", "A100-SXM4-80GB", "Intel Gaudi 3", null].map(maker_of),
    ["nvidia", "amd", "amd", "nvidia", "intel", null]);
});

test("the partner did the same work on another maker's GPU", () => {
  const own = run("h100_owlv2@3", H100);
  const found = (...runs) => partner_of(own, runs)?.name ?? null;
  assert.equal(found(run("mi300x_bert", MI300X), run("mi300x_owlv2@7", MI300X)), "mi300x_owlv2@7");
  assert.equal(found(run("a100_owlv2", "NVIDIA A100")), null, "the same maker");
  assert.equal(found(run("mi300x_owlv2", MI300X, { meta: { batch_size: "8" } })), "mi300x_owlv2");
  assert.equal(partner_of(run("h100_owlv2", H100, { meta: { batch_size: "16" } }),
    [run("mi300x_owlv2", MI300X, { meta: { batch_size: "8" } })]), null, "another batch size");
  assert.equal(found(run("mi300x_owlv2@1", MI300X, { received: 8 }), run("mi300x_owlv2@0", MI300X)),
    "mi300x_owlv2@0", "as many ranks");
  assert.equal(partner_of(run("cpu", null), [run("cpu", MI300X)]), null);
  assert.equal(partner_of(run("h100", H100), [run("mi300x", MI300X)]), null, "no other word");
});

test("one row stands for the runs of a series, and says how many", () => {
  const runs = [run("a@3", H100), run("b", H100), run("a@2", H100)];
  const { runs: shown, counts } = one_per_series(runs);
  assert.deepEqual(shown.map(({ id }) => id), ["a@3", "b"]);
  assert.deepEqual([...counts], [["a@3", 2], ["b", 1]]);
});

test("columns are left out and come back, in one order", () => {
  assert.equal(toggled_column("", "gpu"), "gpu");
  assert.equal(toggled_column("gpu", "received"), "received,gpu");
  assert.equal(toggled_column("received,gpu", "gpu"), "received");
  assert.equal(toggled_column("nonsense", "gpu"), "gpu");
  assert.ok(hidden_columns("gpu,").has("gpu"));
});

test("a tag is set, or removed without a value", () => {
  assert.deepEqual(tag_patch("branch = main"), { branch: "main" });
  assert.deepEqual(tag_patch("branch="), { branch: null });
  assert.deepEqual(tag_patch("k=a=b"), { k: "a=b" });
});
