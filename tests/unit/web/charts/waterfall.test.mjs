// SPDX-License-Identifier: Apache-2.0
// The waterfall's columns must add up, at every level and however many rows are folded.
import assert from "node:assert/strict";
import test from "node:test";
import {
  axis_of, floating, path_to, place_at, row_label, ticks_of, TOP_PLACE, tree_of, waterfall_level,
} from "../../../../web/charts/waterfall_model.mjs";

const BARS = ["gemm", "attention", "other_compute", "exposed_comm", "exposed_memory",
  "idle_host_wait", "idle_other", "unrecorded"];
const LEVELS = ["bar", "category", "op", "shape", "kernel"];

/** A small linear congruential generator, so that failures repeat. */
function random_of(seed) {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647);
}

/** A row below its parent, with the texts its level adds. */
function row_below(parent, level, i, id) {
  const own = {
    bar: () => ({ bar: BARS[i], category: null, op: null, dims: null, base_kernel: null,
      cand_kernel: null }),
    category: () => ({ category: `cat${i}` }),
    op: () => ({ op: `aten::op${i}` }),
    shape: () => ({ dims: `[[${i},8],[]]` }),
    kernel: () => ({ base_kernel: `nv_${i}`, cand_kernel: `amd_${i}` }),
  }[level]();
  return { ...parent, ...own, level, id, parent: parent?.id ?? null };
}

/** A waterfall table whose levels sum exactly, as the API promises. */
function rows_of(seed, counts = [2, 20, 2, 2]) {
  const next = random_of(seed);
  const rows = [];
  const grow = (parent, level, i) => {
    const row = row_below(parent, level, i, rows.length + 1);
    rows.push(row);
    const deep = LEVELS.indexOf(level);
    const children = Array.from({ length: counts[deep] ?? 0 }, (_, j) =>
      grow(row, LEVELS[deep + 1], j));
    for (const side of ["base_ns", "cand_ns"]) {
      row[side] = children.length === 0 ? next() % 1e6 : total(children, side);
    }
    return row;
  };
  BARS.forEach((_, i) => grow(null, "bar", i));
  return rows;
}

const total = (columns, key) => columns.reduce((sum, column) => sum + column[key], 0);
const ends = ({ base_ns, cand_ns }) => [base_ns, cand_ns];
const place_of = (row) => place_at([row], 0);

test("at every place the columns sum to the place's own figures, folded ones included", () => {
  for (let seed = 1; seed <= 5; seed++) {
    const rows = rows_of(seed);
    const tree = tree_of(rows);
    for (const row of rows.filter(({ level }) => level !== "kernel")) {
      const level = waterfall_level(tree, place_of(row));
      assert.equal(level.path.at(-1).id, row.id);
      assert.deepEqual(ends(level), ends(row));
      assert.equal(total(level.columns, "delta_ns"), row.cand_ns - row.base_ns);
      assert.equal(level.delta_ns, row.cand_ns - row.base_ns);
    }
    const top = waterfall_level(tree, TOP_PLACE);
    assert.equal(top.columns.length, 8);
    assert.equal(top.delta_ns, total(rows.filter(({ level }) => level === "bar"), "cand_ns") -
      total(rows.filter(({ level }) => level === "bar"), "base_ns"));
  }
});

test("many rows fold into the largest differences and one column for the others", () => {
  const { columns } = waterfall_level(tree_of(rows_of(3)), { bar: "gemm", cat: "cat1", node: "" });
  assert.equal(columns.length, 12);
  assert.equal(columns.at(-1).label, "9 more");
  const sizes = columns.slice(0, -1).map(({ delta_ns }) => Math.abs(delta_ns));
  assert.deepEqual(sizes, [...sizes].sort((a, b) => b - a));
});

test("a column opens at the first fork below it", () => {
  const open_of = (counts, bar = "gemm") => {
    const { columns } = waterfall_level(tree_of(rows_of(1, counts)), TOP_PLACE);
    return columns[BARS.indexOf(bar)].opens;
  };
  assert.deepEqual(open_of([2, 1, 1, 1]), { bar: "gemm", cat: "", node: "" });
  assert.deepEqual(open_of([1, 2, 1, 1]), { bar: "gemm", cat: "cat0", node: "" });
  assert.equal(open_of([1, 1, 2, 1]).cat, "cat0");
  assert.notEqual(open_of([1, 1, 2, 1]).node, "");
  assert.equal(open_of([1, 1, 1, 1]), null);
});

test("work whose parts are not known yet may be opened, idle time without parts not", () => {
  const { columns } = waterfall_level(tree_of(rows_of(1, [1])), TOP_PLACE);
  assert.deepEqual(columns[0].opens, { bar: "gemm", cat: "cat0", node: "" });
  assert.equal(columns[5].opens, null);
  assert.equal(columns[6].opens, null);
});

test("a place that is not there leads to what is known of it", () => {
  const tree = tree_of(rows_of(1));
  const path = (place) => path_to(tree, { ...TOP_PLACE, ...place }).map(({ level }) => level);
  assert.deepEqual(path({ bar: "nothing" }), []);
  assert.deepEqual(path({ bar: "gemm", cat: "nothing" }), ["bar"]);
  assert.deepEqual(path({ bar: "gemm", cat: "cat0", node: "99999" }), ["bar", "category"]);
  const other = tree.below.get(tree.below.get(null)[1].id)[0];
  assert.deepEqual(path({ bar: "gemm", cat: "cat0", node: String(other.id) }),
    ["bar", "category"], "a row of another bar");
});

test("the way back has only places where there was a choice", () => {
  const only = tree_of(rows_of(2, [1, 2, 1, 1]));
  const path = (tree, place) => waterfall_level(tree, { ...TOP_PLACE, ...place }).path
    .map(({ level }) => level);
  assert.deepEqual(path(only, { bar: "gemm", cat: "cat0" }), ["category"], "GEMM has one category");
  const several = tree_of(rows_of(2, [2, 2, 1, 1]));
  assert.deepEqual(path(several, { bar: "gemm", cat: "cat0" }), ["bar", "category"]);
});

test("each level is called by what it adds", () => {
  const rows = rows_of(1, [1, 1, 1, 1]);
  const labels = rows.slice(0, 5).map((row) => row_label(row));
  assert.deepEqual(labels, ["GEMM / matmul", "cat0", "aten::op0", "0×8", "nv_0 → amd_0"]);
  const nameless = { ...rows[2], op: null, base_kernel: "void at::native::k<2>(int)",
    cand_kernel: null };
  assert.equal(row_label(nameless), "k<2>");
  assert.equal(row_label(nameless, (name) => name), "void at::native::k<2>(int)");
});

test("columns float from the base to the candidate without a gap", () => {
  const level = waterfall_level(tree_of(rows_of(7)), TOP_PLACE);
  const places = floating(level.columns, level.base_ns);
  assert.equal(places[0].from_ns, level.base_ns);
  assert.equal(places.at(-1).to_ns, level.cand_ns);
  places.slice(1).forEach((place, i) => assert.equal(place.from_ns, places[i].to_ns));
});

test("the axis is cut only when differences would be too small to see from zero", () => {
  assert.equal(axis_of([512, 448]).is_cut, true);
  assert.ok(axis_of([512, 448]).low > 0 && axis_of([512, 448]).low < 448);
  assert.deepEqual([axis_of([10, 2]).low, axis_of([10, 2]).is_cut], [0, false]);
  assert.deepEqual([axis_of([0, 0]).low, axis_of([0, 0]).high], [0, 1]);
});

test("at the top a bridge leads from the means to the medians of the verdict", () => {
  const tree = tree_of(rows_of(1));
  const { base_ns, cand_ns } = waterfall_level(tree, TOP_PLACE);
  const summary = { base_mean_ns: base_ns, cand_mean_ns: cand_ns, base_step_ns: base_ns - 5,
    cand_step_ns: cand_ns + 2, bridge_ns: 7 };
  const level = waterfall_level(tree, TOP_PLACE, summary);
  assert.equal(level.columns.at(-1).key, "bridge");
  assert.equal(level.columns.at(-1).delta_ns, 7);
  assert.equal(level.columns.at(-1).full, "Odd steps: from the mean to the median step");
  const whole = { ...summary, base_no_steps: true, cand_no_steps: true };
  assert.equal(waterfall_level(tree, TOP_PLACE, whole).columns.at(-1).full,
    "Odd runs: from the mean to the median recording");
  assert.equal(level.base_ns, summary.base_step_ns);
  assert.equal(level.cand_ns, summary.cand_step_ns);
  const same = { ...summary, base_step_ns: base_ns, cand_step_ns: cand_ns, bridge_ns: 0 };
  assert.ok(waterfall_level(tree, TOP_PLACE, same).columns.every(({ key }) => key !== "bridge"));
  const below = waterfall_level(tree, { bar: "gemm", cat: "", node: "" }, summary);
  assert.ok(below.columns.every(({ key }) => key !== "bridge"));
});

test("an axis that is not in milliseconds says its unit", () => {
  const seconds = ticks_of({ low: 0, high: 15e9 });
  assert.equal(seconds.unit, "s");
  assert.ok(seconds.ticks.some(({ ns, text }) => ns === 10e9 && text === "10"));
  assert.equal(ticks_of({ low: 0, high: 1200e9 }).unit, "min");
  const short = ticks_of({ low: 0, high: 15e6 });
  assert.equal(short.unit, "");
  assert.ok(short.ticks.some(({ ns, text }) => ns === 10e6 && text === "10"));
});
