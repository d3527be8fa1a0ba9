// SPDX-License-Identifier: Apache-2.0
// Kernels are summed by what their names say, and apart those whose names do not.
import assert from "node:assert/strict";
import test from "node:test";
import { frame_of } from "../../../../../web/base/frame.mjs";
import { kernel_groups } from "../../../../../web/views/work/kernel_group_model.mjs";

const row = (arch, calls, total_ns) => ({ name: `${arch}`, arch, calls, total_ns });

test("each value has the sum of its kernels, and its share of all", () => {
  const frame = frame_of([row("sm80", 2, 300), row("sm90", 1, 500), row(null, 4, 100),
    row("sm80", 1, 100)]);
  assert.deepEqual(kernel_groups(frame, "arch"), [
    { value: "sm80", kernels: 2, calls: 3, total_ns: 400, share: 0.4 },
    { value: "sm90", kernels: 1, calls: 1, total_ns: 500, share: 0.5 },
    { value: null, kernels: 1, calls: 4, total_ns: 100, share: 0.1 },
  ]);
});

test("without kernels there is no group, and without time no share", () => {
  assert.deepEqual(kernel_groups(frame_of([]), "arch"), []);
  assert.equal(kernel_groups(frame_of([row("sm80", 1, 0)]), "arch")[0].share, null);
});
