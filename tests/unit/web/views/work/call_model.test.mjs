// SPDX-License-Identifier: Apache-2.0
// What the pages of kernels and operators say about calls, and where their counterpart is found.
import assert from "node:assert/strict";
import test from "node:test";
import { callers_of, counterpart_of, fit_time, histogram_columns, history_figures, quantile_marks,
  step_columns, steps_caption, steps_of_rank, sum_parts, times_caption }
  from "../../../../../web/views/work/call_model.mjs";

const bins = (edges, calls) => calls.map((n, i) =>
  ({ from_ns: edges[i], to_ns: edges[i + 1], calls: n }));
const times = { calls: 10, total_ns: 10_000, min_ns: 100, p10_ns: 150, median_ns: 900,
  p90_ns: 2500, p99_ns: 3999, max_ns: 3999,
  histogram: bins([100, 200, 1000, 2000, 4000], [1, 6, 0, 3]) };

test("times are written in the unit of their size", () => {
  assert.deepEqual([0, 7, 999, 1234, 56_789, 1_076_000, 2_500_000_000, null].map(fit_time),
    ["0 ns", "7 ns", "999 ns", "1.23 µs", "56.8 µs", "1.08 ms", "2.50 s", "–"]);
});

test("percentiles lie in their bins, and close ones share a label", () => {
  assert.deepEqual(quantile_marks(times).map(({ at, label }) => [at, label]),
    [[0.5, "p10"], [1.875, "p50"], [3.25, "p90"]]);
  const narrow = { ...times, median_ns: 151 };
  assert.deepEqual(quantile_marks(narrow).map(({ label }) => label), ["p10, p50", "p90"]);
});

test("columns and captions say counts and times in words", () => {
  assert.equal(histogram_columns(times)[1].text, "6 calls from 200 ns to below 1.00 µs");
  assert.equal(times_caption(times),
    "10 calls: half take 900 ns or less, eight of ten 150 ns to 2.50 µs; the longest 4.00 µs");
  assert.equal(times_caption({ calls: 0 }), "No calls");
  const steps = [{ step: 4, steady: false, calls: 2, total_ns: 9000, max_ns: 8000 },
    { step: 5, steady: true, calls: 1, total_ns: 3000, max_ns: 3000 },
    { step: 6, steady: true, calls: 0, total_ns: 0, max_ns: 0 }];
  assert.equal(step_columns(steps)[0].text,
    "Step 4: 9.00 µs in 2 calls, the longest 8.00 µs; not a steady step");
  assert.equal(steps_caption(steps),
    "Median of 2 steady steps: 0 ns; most in step 5, 3.00 µs in 1 call");
});

test("an operator below itself is not its own caller, and what is left out is counted", () => {
  const node = (id, parent, total_owned_ns) => ({ id, parent, calls: 2, total_owned_ns });
  const tree = { name: "f", total: 9,
    nodes: [node(5, 1, 50), node(6, 5, 30), node(7, 2, 20), node(8, 0, 4), node(9, 77, 3)],
    parents: [{ id: 0, name: null, kind: "root" }, { id: 1, name: "g", kind: "op" },
      { id: 2, name: "g", kind: "op" }, { id: 5, name: "f", kind: "op" }] };
  const { callers, left } = callers_of(tree);
  assert.deepEqual(callers.map(({ caller, calls, owned_ns }) => [caller, calls, owned_ns]),
    [["g", 4, 70], [null, 2, 4]]);
  assert.equal(left, 5);
});

test("the steps of one rank are counted, not those of all", () => {
  const row = (rank, step) => ({ rank, step });
  assert.equal(steps_of_rank([row(0, 3), row(0, 4), row(1, 3), row(1, 4), row(2, 4)]), 2);
  assert.equal(steps_of_rank([row(null, 1)]), 1);
  assert.equal(steps_of_rank([]), 0);
});

test("a run in the history of a name is divided by its steps, and a gap where it cannot be", () => {
  const row = { calls: 3, owned_ns: 600, median_ns: 7 };
  const ns = (...args) => history_figures(...args).ns;
  assert.deepEqual([ns(row, "owned_ns", 4), ns(row, "owned_ns", null), ns(row, "owned_ns", 0)],
    [150, 600, null]);
  assert.equal(ns({ ...row, owned_ns: null }, "owned_ns", 4), null);
  assert.deepEqual(history_figures(undefined, "owned_ns", 4), { calls: 0, ns: 0, median_ns: null });
});

test("a counterpart is the operator at the same shapes, else at any", () => {
  const part = (op, dims, kernel, owned_ns) => ({ op, dims, kernel, owned_ns, calls: 1 });
  const parts = [part("mm", "a", "k1", 5), part("mm", "a", "k1", 6), part("mm", "b", "k2", 20),
    part("add", "a", "k3", 9)];
  const found = counterpart_of(part("mm", "a", "own", 1), parts);
  assert.equal(found.same_shapes, true);
  assert.deepEqual(found.rows.map(({ kernel, owned_ns, calls }) => [kernel, owned_ns, calls]),
    [["k1", 11, 2]]);
  const other = counterpart_of(part("mm", "c", "own", 1), parts);
  assert.equal(other.same_shapes, false);
  assert.deepEqual(other.rows.map(({ kernel }) => kernel), ["k2", "k1"]);
  assert.deepEqual(counterpart_of(part("sub", "a", "own", 1), parts).rows, []);
  assert.deepEqual(sum_parts([], ({ kernel }) => kernel), []);
});
