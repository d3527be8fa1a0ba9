// SPDX-License-Identifier: Apache-2.0
// The waterfall's columns must add up, at every level and however many rows are folded.
import assert from "node:assert/strict";
import test from "node:test";
import { axis_of, floating, waterfall_level } from "../../../web/charts/waterfall_model.mjs";
import { relevant_from_ns } from "../../../web/views/compare_model.mjs";

const BARS = ["gemm", "attention", "other_compute", "exposed_comm", "exposed_memory",
  "idle_host_wait", "idle_other"];

/** A small linear congruential generator, so that failures repeat. */
function random_of(seed) {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647);
}

/** Waterfall rows whose levels sum exactly, as the API promises. */
function rows_of(seed) {
  const next = random_of(seed);
  const rows = [];
  for (const bar of BARS) {
    const sums = { base_ns: 0, cand_ns: 0 };
    for (const category of [`${bar}-a`, `${bar}-b`]) {
      const own = { base_ns: 0, cand_ns: 0 };
      for (let i = 0; i < 20; i++) {
        const row = { base_ns: next() % 1e6, cand_ns: next() % 1e6 };
        own.base_ns += row.base_ns;
        own.cand_ns += row.cand_ns;
        rows.push({ level: "row", bar, category, op: i % 3 ? `op${i}` : null, ...row });
      }
      sums.base_ns += own.base_ns;
      sums.cand_ns += own.cand_ns;
      rows.push({ level: "category", bar, category, op: null, ...own });
    }
    rows.push({ level: "bar", bar, category: null, op: null, ...sums });
  }
  return rows;
}

const total = (columns, key) => columns.reduce((sum, column) => sum + column[key], 0);

test("at every level the columns sum to the difference of the ends", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const rows = rows_of(seed);
    const places = [{ bar: "", cat: "" }, { bar: "gemm", cat: "" }, { bar: "gemm", cat: "gemm-a" }];
    for (const place of places) {
      const level = waterfall_level(rows, place);
      assert.equal(total(level.columns, "delta_ns"), level.cand_ns - level.base_ns);
      assert.equal(level.delta_ns, level.cand_ns - level.base_ns);
    }
  }
});

test("a level's ends are its parent's figures, folded rows included", () => {
  const rows = rows_of(3);
  const bars = waterfall_level(rows, { bar: "", cat: "" });
  const gemm = bars.columns.find(({ key }) => key === "gemm");
  const inside = waterfall_level(rows, { bar: "gemm", cat: "" });
  assert.deepEqual([inside.base_ns, inside.cand_ns], [gemm.base_ns, gemm.cand_ns]);
  const category = inside.columns.find(({ label }) => label === "gemm-a");
  const deepest = waterfall_level(rows, { bar: "gemm", cat: "gemm-a" });
  assert.equal(deepest.columns.length, 12);
  assert.equal(deepest.columns.at(-1).label, "9 more");
  assert.deepEqual([deepest.base_ns, deepest.cand_ns], [category.base_ns, category.cand_ns]);
});

test("columns float from the base to the candidate without a gap", () => {
  const level = waterfall_level(rows_of(7), { bar: "", cat: "" });
  const places = floating(level.columns, level.base_ns);
  assert.equal(places[0].from_ns, level.base_ns);
  assert.equal(places.at(-1).to_ns, level.cand_ns);
  places.slice(1).forEach((place, i) => assert.equal(place.from_ns, places[i].to_ns));
});

test("only columns with parts of their own can be opened", () => {
  const rows = rows_of(1).filter(({ bar, level }) => bar !== "idle_other" || level === "bar");
  const bars = waterfall_level(rows, { bar: "", cat: "" });
  assert.equal(bars.columns.find(({ key }) => key === "idle_other").opens, null);
  assert.deepEqual(bars.columns.find(({ key }) => key === "gemm").opens, { bar: "gemm" });
  const rows_level = waterfall_level(rows, { bar: "gemm", cat: "gemm-a" });
  assert.ok(rows_level.columns.every(({ opens }) => opens === null));
});

test("an unknown place has no columns", () => {
  assert.equal(waterfall_level(rows_of(1), { bar: "nothing", cat: "" }).columns.length, 0);
});

test("the axis is cut only when differences would be too small to see from zero", () => {
  assert.equal(axis_of([512, 448]).is_cut, true);
  assert.ok(axis_of([512, 448]).low > 0 && axis_of([512, 448]).low < 448);
  assert.deepEqual([axis_of([10, 2]).low, axis_of([10, 2]).is_cut], [0, false]);
  assert.deepEqual([axis_of([0, 0]).low, axis_of([0, 0]).high], [0, 1]);
});

test("a change is worth a look from 0.2 % or 0.1 ms, but from 1 % in any case", () => {
  assert.equal(relevant_from_ns(500_000_000), 1_000_000);
  assert.equal(relevant_from_ns(20_000_000), 100_000);
  assert.equal(relevant_from_ns(1_000_000), 10_000);
});
