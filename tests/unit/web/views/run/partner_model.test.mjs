// SPDX-License-Identifier: Apache-2.0
// Which runs did the same work on another vendor's GPU.
import assert from "node:assert/strict";
import { test } from "node:test";
import { partners_of, vendor_of } from "../../../../../web/views/run/partner_model.mjs";

const run = (name, gpu, more = {}) => ({ id: name, name, gpu, status: "done", meta: {}, received: 1,
  world_size: null, project: "p", series: name.replace(/@.*/, ""), ...more });
const H100 = "NVIDIA H100 80GB HBM3";
const MI300X = "AMD Instinct MI300X";

test("a device's name says its vendor", () => {
  assert.deepEqual([H100, MI300X, "MI250X", "A100-SXM4-80GB", "Intel Gaudi 3", null].map(vendor_of),
    ["nvidia", "amd", "amd", "nvidia", "intel", null]);
});

test("the partner did the same work on another vendor's GPU", () => {
  const own = run("h100_owlv2@3", H100);
  const found = (...runs) => partners_of(own, runs)[0]?.name ?? null;
  assert.equal(found(run("mi300x_bert", MI300X), run("mi300x_owlv2@7", MI300X)), "mi300x_owlv2@7");
  assert.equal(found(run("a100_owlv2", "NVIDIA A100")), null, "the same vendor");
  assert.equal(found(run("mi300x_owlv2", MI300X, { meta: { batch_size: "8" } })), "mi300x_owlv2");
  assert.equal(partners_of(run("h100_owlv2", H100, { meta: { batch_size: "16" } }),
    [run("mi300x_owlv2", MI300X, { meta: { batch_size: "8" } })]).length, 0, "another batch size");
  assert.equal(found(run("mi300x_owlv2@1", MI300X, { received: 8 }), run("mi300x_owlv2@0", MI300X)),
    "mi300x_owlv2@0", "as many ranks");
  assert.deepEqual(partners_of(run("cpu", null), [run("cpu", MI300X)]), []);
  assert.deepEqual(partners_of(run("h100", H100), [run("mi300x", MI300X)]), [], "no other word");
  assert.equal(found(run("mi300x_owlv2", MI300X, { status: "failed" })), null);
  assert.deepEqual(partners_of(own, [run("mi300x_owlv2_fp8", MI300X), run("mi300x_owlv2@1", MI300X),
    run("mi300x_owlv2@0", MI300X)]).map(({ name }) => name), ["mi300x_owlv2@1", "mi300x_owlv2@0"],
  "newest first");
});
