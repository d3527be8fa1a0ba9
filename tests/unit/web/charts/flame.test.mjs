// SPDX-License-Identifier: Apache-2.0
// Flame graphs: trees from rows and paths, two as one, boxes that never overlap, moves by key.
import assert from "node:assert/strict";
import test from "node:test";
import { box_by_key, boxes_of, colors_of, found_ns, largest_nodes, merge_trees, nodes_at,
  path_above, per_step_difference, tree_of_paths, tree_of_rows }
  from "../../../../web/charts/flame_model.mjs";

const row = (id, parent, name, total_owned_ns, kind = "op") =>
  ({ id, parent, name, kind, calls: 1, total_owned_ns });
const ROWS = [row(0, null, null, 100, "root"), row(1, 0, "linear", 60), row(2, 1, "mm", 50),
  row(3, 2, "gemm", 50, "kernel"), row(4, 0, "add", 40), row(9, 77, "lost", 5)];

test("rows become a tree, without those whose parent is not there", () => {
  const root = tree_of_rows(ROWS);
  assert.deepEqual(root.children.map(({ name, ns }) => [name, ns]), [["linear", 60], ["add", 40]]);
  assert.equal(root.children[0].children[0].children[0].name, "gemm");
  const bare = tree_of_rows(ROWS, ({ kind }) => kind !== "kernel");
  assert.deepEqual(bare.children[0].children[0].children, []);
  assert.equal(tree_of_rows([]), null);
});

test("boxes lie side by side within their parent, and a zoom keeps what is above", () => {
  const root = tree_of_rows(ROWS);
  const boxes = boxes_of(root, "", 0.001);
  assert.deepEqual(boxes.map(({ path, from, share }) => [path, from, share]),
    [["", 0, 1], ["0", 0, 0.6], ["1", 0.6, 0.4], ["0.0", 0, 0.5], ["0.0.0", 0, 0.5]]);
  const zoomed = boxes_of(root, "0", 0.001);
  assert.deepEqual(zoomed.map(({ path, share, above }) => [path, share, above]),
    [["", 1, true], ["0", 1, false], ["0.0", 50 / 60, false], ["0.0.0", 50 / 60, false]]);
  assert.equal(boxes_of(root, "", 0.55).length, 2);
  assert.deepEqual(nodes_at(root, "0.0").map(({ name }) => name), ["", "linear", "mm"]);
  assert.equal(nodes_at(root, "7.3").length, 1);
  assert.deepEqual(["0.1.2", "3", ""].map(path_above), ["0.1", "", ""]);
});

test("the legend names what is drawn in a color, and what differs by shade alone", () => {
  const labels = (root, shaded) => colors_of(boxes_of(root, "", 0.001), shaded)
    .map(({ kind, label, shades }) => [kind, label, shades]);
  assert.deepEqual(labels(tree_of_rows(ROWS), "Operators"),
    [["op", "Operators", 5], ["kernel", "Kernels", 1]]);
  const modules = tree_of_rows(ROWS.map(({ kind, ...rest }) => rest));
  assert.deepEqual(labels(modules, "Modules"), [["node", "Modules", 5]]);
  const idle = tree_of_paths("", [
    { path: [["Sync", "cause"], ["item", "host"], ["mm", "op"], ["gemm", "kernel"]], ns: 5 },
    { path: [["Sync", "cause"], ["shorter gaps", "rest"]], ns: 2 }]);
  assert.deepEqual(labels(idle, "Host events").map(([, label]) => label),
    ["Host events", "Causes", "Kernels"]);
});

test("a difference per step needs the steps of both sides", () => {
  const tree = tree_of_rows(ROWS);
  const root = per_step_difference(tree, tree, [4, 2]);
  assert.deepEqual([root.base_ns, root.cand_ns], [25, 50]);
  for (const steps of [[null, 2], [4, null], [0, 2], [4, 0]]) {
    assert.equal(per_step_difference(tree, tree, steps), null);
  }
  assert.equal(per_step_difference(tree, null, [4, 2]), null);
});

test("two trees are matched by names on the way, and their difference sums exactly", () => {
  const other = tree_of_rows([row(0, null, null, 90, "root"), row(1, 0, "linear", 80),
    row(2, 1, "addmm", 80), row(3, 0, "mul", 10)]);
  const root = merge_trees(tree_of_rows(ROWS), other, [1, 0.5]);
  assert.deepEqual([root.base_ns, root.cand_ns, root.ns], [100, 45, 72.5]);
  const by_name = Object.fromEntries(root.children.map((node) => [node.name, node]));
  assert.deepEqual([by_name.linear.base_ns, by_name.linear.cand_ns], [60, 40]);
  assert.deepEqual([by_name.add.base_ns, by_name.add.cand_ns], [40, 0]);
  assert.deepEqual([by_name.mul.base_ns, by_name.mul.cand_ns], [0, 5]);
  assert.equal(by_name.linear.children.length, 2);
  assert.ok(root.children.reduce((sum, { ns }) => sum + ns, 0) <= root.ns);
  assert.equal(largest_nodes(root, 1, true)[0].node, root);
});

test("paths with times are one tree, and a search counts no time twice", () => {
  const root = tree_of_paths("idle", [
    { path: [["Sync", "cause"], ["cudaSync", "host"]], ns: 7 },
    { path: [["Sync", "cause"], ["other", "host"]], ns: 2 },
    { path: [["Sync", "cause"], ["cudaSync", "host"]], ns: 1 }]);
  assert.deepEqual([root.ns, root.children[0].ns, root.children[0].children[0].ns], [10, 10, 8]);
  const write = ({ name }) => (name === "cudaSync" ? "wait for the device" : name || "All");
  assert.equal(found_ns(root, "sync", write), 10);
  assert.equal(found_ns(root, "wait for", write), 8, "as it is written");
  assert.equal(found_ns(root, "all", write), 0, "the root is not a name");
  assert.equal(found_ns(root, "CUDA", write), 8);
  assert.equal(found_ns(root, "", write), 0);
  assert.equal(found_ns(root, "none", write), 0);
});

test("keys go along a row, to children and back", () => {
  const boxes = boxes_of(tree_of_rows(ROWS), "", 0.001);
  const at = (path) => boxes.findIndex((box) => box.path === path);
  const move = (from, key) => boxes[box_by_key(boxes, at(from), key, "ArrowDown")].path;
  assert.equal(move("0", "ArrowRight"), "1");
  assert.equal(move("1", "ArrowRight"), "1");
  assert.equal(move("1", "Home"), "0");
  assert.equal(move("0", "ArrowDown"), "0.0");
  assert.equal(move("1", "ArrowDown"), "1");
  assert.equal(move("0.0.0", "ArrowUp"), "0.0");
  assert.equal(move("", "ArrowUp"), "");
  assert.equal(box_by_key(boxes, 0, "x", "ArrowDown"), null);
  assert.equal(boxes[box_by_key(boxes, 0, "ArrowUp", "ArrowUp")].path, "0");
});
