// SPDX-License-Identifier: Apache-2.0
// Trees of which only opened parts are known: visible rows and what the keys do.
import assert from "node:assert/strict";
import test from "node:test";
import { ids_of, key_effect, SHOWN_AT_ONCE, text_of_ids, visible_rows }
  from "../../../../web/widgets/tree_model.mjs";

const root = { id: 0, parent: null, children: 2 };
const model = { id: 1, parent: 0, children: 1 };
const loss = { id: 2, parent: 0, children: 0 };
const layer = { id: 3, parent: 1, children: 0 };
const done = (...nodes) => ({ state: "done", nodes });
const branches = new Map([[0, done(model, loss)], [1, done(layer)]]);

const rows_with = (open, known = branches, whole = new Set()) =>
  visible_rows(root, known, new Set(open), whole);
const keys = (rows) => rows.map(({ key }) => key);

test("only what stands below open nodes is in sight, in order", () => {
  assert.deepEqual(keys(rows_with([])), ["n0"]);
  assert.deepEqual(keys(rows_with([0])), ["n0", "n1", "n2"]);
  assert.deepEqual(keys(rows_with([0, 1])), ["n0", "n1", "n3", "n2"]);
  assert.deepEqual(keys(rows_with([1])), ["n0"], "what a closed node hides stays hidden");
});

test("rows say their level, their place among their siblings and whether they open", () => {
  const [, first, , last] = rows_with([0, 1]);
  assert.deepEqual([first.level, first.at, first.of, first.open], [2, 1, 2, true]);
  assert.deepEqual([last.level, last.at, last.of, last.open], [2, 2, 2, null]);
  assert.equal(rows_with([0])[1].open, false);
});

test("a branch that is not there yet, or never came, says so in its place", () => {
  assert.deepEqual(keys(rows_with([0], new Map())), ["n0", "loading-0"]);
  const failed = new Map([[0, done(model, loss)], [1, { state: "failed", nodes: [] }]]);
  assert.deepEqual(keys(rows_with([0, 1], failed)), ["n0", "n1", "failed-1", "n2"]);
});

test("of many children the first are shown, the rest on demand", () => {
  const many = Array.from({ length: SHOWN_AT_ONCE + 7 }, (_, i) =>
    ({ id: 10 + i, parent: 0, children: 0 }));
  const known = new Map([[0, done(...many)]]);
  const some = rows_with([0], known);
  assert.equal(some.length, 1 + SHOWN_AT_ONCE + 1);
  assert.deepEqual([some.at(-1).kind, some.at(-1).hidden], ["more", 7]);
  assert.equal(rows_with([0], known, new Set([0])).length, 1 + many.length);
});

test("a tree as deep as a stack overflow needs no stack", () => {
  const deep = 50_000;
  const known = new Map(Array.from({ length: deep }, (_, i) =>
    [i, done({ id: i + 1, parent: i, children: 1 })]));
  const rows = visible_rows(root, known, new Set(known.keys()), new Set());
  assert.equal(rows.length, deep + 1);
  assert.equal(rows.at(-1).level, deep + 1);
});

test("arrows move, open and close as in any tree", () => {
  const closed = rows_with([0]);
  const open = rows_with([0, 1]);
  assert.deepEqual(key_effect("ArrowDown", closed, 0), { at: 1 });
  assert.deepEqual(key_effect("ArrowDown", closed, 2), { at: 2 });
  assert.deepEqual(key_effect("ArrowUp", closed, 0), { at: 0 });
  assert.deepEqual(key_effect("End", open, 0), { at: 3 });
  assert.deepEqual(key_effect("Home", open, 3), { at: 0 });
  assert.deepEqual(key_effect("ArrowRight", closed, 1), { at: 1, act: "open" });
  assert.deepEqual(key_effect("ArrowRight", open, 1), { at: 2 });
  assert.deepEqual(key_effect("ArrowRight", open, 3), { at: 3 });
  assert.deepEqual(key_effect("ArrowLeft", open, 1), { at: 1, act: "close" });
  assert.deepEqual(key_effect("ArrowLeft", open, 2), { at: 1 });
  assert.deepEqual(key_effect("ArrowLeft", open, 3), { at: 0 });
});

test("Enter toggles, shows more and tries again; other keys are not the tree's", () => {
  const open = rows_with([0, 1]);
  assert.equal(key_effect("Enter", open, 1).act, "close");
  assert.equal(key_effect(" ", rows_with([0]), 1).act, "open");
  assert.equal(key_effect("Enter", open, 2).act, undefined);
  const failed = rows_with([0], new Map([[0, { state: "failed", nodes: [] }]]));
  assert.equal(key_effect("Enter", failed, 1).act, "retry");
  assert.equal(key_effect("a", open, 0), null);
  assert.equal(key_effect("Enter", [], 0), null);
});

test("open nodes survive the way into the address and back", () => {
  assert.equal(text_of_ids(ids_of("12.0.3")), "0.3.12");
  assert.deepEqual([...ids_of("none.-1.1e3.7")], [7]);
});
