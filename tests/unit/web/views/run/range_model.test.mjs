// SPDX-License-Identifier: Apache-2.0
// What a chosen range asks of the API, and what each table says about it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { range_note, range_params, ranged_view, with_range, within }
  from "../../../../../web/views/run/range_model.mjs";

test("only tables that the API gives by range are asked for by range", () => {
  assert.deepEqual(range_params("operators", "forward"), { range: "forward" });
  assert.deepEqual(range_params("operators", ""), {});
  assert.deepEqual(range_params("steps", "forward"), {});
});

test("once a range is chosen, every table says whether it is filtered", () => {
  assert.equal(range_note("operators", "", "self"), "self");
  assert.equal(range_note("operators", "forward", "self"), "within forward; self");
  assert.equal(range_note("steps", "forward"), "not filtered by the range");
  assert.equal(within("forward", ""), "within forward, typical rank");
  assert.equal(within("forward", "3"), "within forward, rank 3");
});

test("the page of a row keeps the range", () => {
  assert.equal(with_range("/runs/a/kernels/k", "## x"), "/runs/a/kernels/k?range=%23%23+x");
  assert.equal(with_range("/runs/a/kernels/k?rank=1", "x"), "/runs/a/kernels/k?rank=1&range=x");
  assert.equal(with_range("/runs/a/kernels/k", ""), "/runs/a/kernels/k");
  assert.equal(with_range(null, "x"), null);
});

test("columns that a range leaves empty are dropped, the first never", () => {
  const columns = [{ key: "name" }, { key: "a" }, { key: "b", sparse: false }];
  const view = { sort: "-a", columns };
  assert.deepEqual(ranged_view(view).columns.map(({ sparse }) => sparse), [false, true, false]);
  assert.equal(ranged_view(view).sort, "-a");
});
