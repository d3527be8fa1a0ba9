// SPDX-License-Identifier: Apache-2.0
// The list of runs: partners on other GPUs, a row for each series, chosen columns, tags.
import assert from "node:assert/strict";
import { test } from "node:test";
import { group_choices, grouped, hidden_columns, one_per_series, others_of, toggled_column }
  from "../../../../../web/views/runs/list_model.mjs";
import { tag_patch } from "../../../../../web/views/runs/tag_model.mjs";

const run = (name, gpu, more = {}) => ({ id: name, name, gpu, meta: {}, received: 1,
  world_size: null, project: "p", series: name.replace(/@.*/, ""), ...more });
const H100 = "NVIDIA H100 80GB HBM3";
const MI300X = "AMD Instinct MI300X";

test("one row stands for the runs of a series, and says how many", () => {
  const runs = [run("a@3", H100), run("b", H100), run("a@2", H100)];
  const { runs: shown, counts } = one_per_series(runs);
  assert.deepEqual(shown.map(({ id }) => id), ["a@3", "b"]);
  assert.deepEqual([...counts], [["a@3", 2], ["b", 1]]);
});

test("a row of a series counts all of its runs, and says when it counts those of a page", () => {
  const series = new Map([["p\na", { runs: 250 }]]);
  const counts = new Map([["a@3", 100], ["b", 1]]);
  const found = (name, is_search) => others_of(run(name, H100), counts, series, is_search);
  assert.deepEqual(found("a@3", false), { others: 249, of_page: false });
  assert.deepEqual(found("a@3", true), { others: 99, of_page: true });
  assert.deepEqual(found("b", false), { others: 0, of_page: true });
  assert.equal(others_of(run("a@3", H100), new Map(), series, false).others, 0, "a row for a run");
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

test("runs are grouped by what tells them apart, those without a value last", () => {
  const runs = [run("a", H100), run("b", MI300X, { meta: { model: "llama" } }),
    run("c", H100, { tags: { model: "llama", branch: "main" } })];
  assert.deepEqual(group_choices(runs, "").map(([key]) => key), ["gpu", "model", "tag:branch"]);
  assert.deepEqual(group_choices(runs, "project").map(([key]) => key),
    ["gpu", "model", "project", "tag:branch"], "the chosen one can be left");
  const names = (by) => grouped(runs, by).map(({ name, runs: of }) =>
    [name, of.map(({ id }) => id).join("")]);
  assert.deepEqual(names("gpu"), [[H100, "ac"], [MI300X, "b"]]);
  assert.deepEqual(names("model"), [["llama", "bc"], ["not given", "a"]]);
  assert.deepEqual(names("tag:branch"), [["main", "c"], ["not given", "ab"]]);
  assert.deepEqual(names("nonsense"), [["", "abc"]]);
});

test("a group is by what a run was given, not by what every object has", () => {
  const runs = [run("a", H100, { tags: { model: "not given" } }), run("b", H100),
    run("c", H100, { meta: { model: 7 } })];
  for (const key of ["__proto__", "constructor", "toString"])
    assert.deepEqual(grouped(runs, `tag:${key}`).map((group) => [group.key, group.runs.length]),
      [[null, 3]], key);
  assert.deepEqual(grouped(runs, "model").map(({ key, name, runs: of }) => [key, name, of.length]),
    [["not given", "not given", 1], [null, "not given", 2]]);
});
