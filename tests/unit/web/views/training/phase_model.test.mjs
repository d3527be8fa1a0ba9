// SPDX-License-Identifier: Apache-2.0
// Phases of hosts: the slowest rank of each, and where ranks stopped.
import assert from "node:assert/strict";
import { test } from "node:test";
import { phases_of, stopped_text } from "../../../../../web/views/training/phase_model.mjs";

const row = (rank, phase, median_ns, more = {}) => ({ rank, phase, calls: 10,
  total_ns: 10 * median_ns, median_ns, max_ns: 2 * median_ns, max_step: rank, unfinished: 0,
  unfinished_step: null, ...more });

test("a phase has its slowest rank and how far it is behind", () => {
  const [phase] = phases_of([row(0, "optim", 10), row(1, "optim", 30), row(2, "optim", 20)]);
  assert.equal(phase.ranks, 3);
  assert.equal(phase.median_ns, 20);
  assert.deepEqual([phase.slowest, phase.slowest_ns, phase.behind_share], [1, 30, 0.5]);
  assert.equal(phase.max_at, "1, 1");
  assert.equal(phase.total_ns, 600);
  const [even] = phases_of([row(0, "optim", 10), row(1024, "optim", 30)]);
  assert.deepEqual([even.median_ns, even.slowest], [20, 1024]);
});

test("phases that never ended say where ranks stopped", () => {
  const rows = [row(0, "step", 10), row(1, "step", 10, { unfinished: 1, unfinished_step: 12 }),
    row(1, "optim", null, { calls: 0, total_ns: 0, median_ns: null, max_ns: null, max_step: null,
      unfinished: 1, unfinished_step: 12 })];
  assert.equal(phases_of(rows)[1].unfinished, "rank 1 in step 12");
  assert.equal(stopped_text(rows), "1 rank stopped in a phase that had not ended when the log was "
    + "written: rank 1 in step, optim.");
  assert.match(stopped_text([...rows, row(3, "step", 1, { unfinished: 1 })]), /: ranks 1, 3 in /);
  assert.equal(stopped_text(rows.slice(0, 1)), "");
});
