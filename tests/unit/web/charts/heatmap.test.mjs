// SPDX-License-Identifier: Apache-2.0
// Heatmaps: colors that one outlier cannot flatten and noise cannot light, cells that are all
// drawn, places of ranks, keys.
import assert from "node:assert/strict";
import test from "node:test";
import { band_layout, BLANK, cell_at, cell_corner, HOLE, label_every, moved_cell, turned }
  from "../../../../web/charts/heat_model.mjs";
import { heat_decimals, heat_distance, heat_scale, heat_shade }
  from "../../../../web/charts/heat_scale.mjs";
import { all_ranks, missing_ranks, places_grid, steps_grid }
  from "../../../../web/views/ranks/rank_model.mjs";
import { chosen_metric, color_floor, known_metrics, METRICS, outlier_sentence, outliers,
  rank_sentence, ranks_text, without_unrecorded }
  from "../../../../web/views/ranks/outlier_model.mjs";

test("one outlier among ranks does not take the others' colors", () => {
  const values = [10, 11, 12, 13, 14, 15, 16, 17, 1000];
  const scale = heat_scale(values);
  assert.equal(scale.median, 14);
  assert.equal(heat_shade(scale, 1000), 1);
  assert.ok(heat_shade(scale, 17) > 0.15 && heat_shade(scale, 10) < -0.15);
  assert.equal(heat_shade(scale, 14), 0);
  assert.ok(heat_distance(scale, 1000) > 100);
});

test("differences that mean nothing stay pale, and equal values have one color", () => {
  const quiet = heat_scale([1000, 1001, 1002, 1003], color_floor(1000));
  assert.equal(quiet.reach, 10, "a hundredth of the step");
  assert.ok(Math.abs(heat_shade(quiet, 1003)) < 0.25);
  const mostly_equal = heat_scale([0, 0, 0, 0, 0, 40]);
  assert.deepEqual([heat_shade(mostly_equal, 0), heat_shade(mostly_equal, 40)], [0, 1]);
  assert.equal(heat_distance(mostly_equal, 40), null);
  assert.equal(heat_shade(heat_scale([5, 5]), 5), 0);
  assert.equal(heat_scale([null, undefined, Number.NaN]), null);
  assert.equal(heat_scale([3, null, 1]).lowest, 1);
});

test("as many decimals as the colors can tell", () => {
  assert.equal(heat_decimals({ reach: 0.34e6 }, 1e6), 3);
  assert.equal(heat_decimals({ reach: 9e6 }, 1e6), 1);
  assert.equal(heat_decimals({ reach: 900e6 }, 1e6), 0);
});

test("columns wrap into bands, each cell has its place, none is narrower than a pixel", () => {
  for (const [columns, rows, width] of [[8, 1, 1300], [128, 8, 1300], [1024, 100, 1300],
    [1024, 100, 300], [8192, 100, 300], [1, 1, 300], [10, 8, 40], [3, 1, 0]]) {
    const layout = band_layout(columns, rows, { width: Math.max(1, width), height: 430 });
    assert.ok(layout.cell_wide >= 1 || layout.per_band === 1, `${columns} columns in ${width}`);
    assert.ok(layout.per_band * layout.cell_wide <= Math.max(1, width) || layout.per_band === 1);
    assert.ok(layout.bands * layout.per_band >= columns && (layout.bands - 1) * layout.per_band
      < columns);
    for (const cell of [{ column: 0, row: 0 }, { column: columns - 1, row: rows - 1 },
      { column: columns >> 1, row: rows >> 1 }]) {
      const { x, y } = cell_corner(layout, cell.column, cell.row);
      assert.ok(y + layout.cell_tall <= layout.height);
      const half = [x + layout.cell_wide / 2, y + layout.cell_tall / 2];
      assert.deepEqual(cell_at(layout, ...half), cell);
    }
    assert.equal(cell_at(layout, -1, layout.top), null);
    assert.equal(cell_at(layout, 0, layout.height + 1), null);
  }
});

test("keys move within the grid", () => {
  const grid = { columns: ["0", "1", "2"], rows: ["a", "b"] };
  assert.deepEqual(moved_cell("ArrowRight", null, grid), { column: 0, row: 0 });
  assert.deepEqual(moved_cell("ArrowRight", { column: 2, row: 0 }, grid), { column: 2, row: 0 });
  assert.deepEqual(moved_cell("ArrowDown", { column: 2, row: 0 }, grid), { column: 2, row: 1 });
  assert.deepEqual(moved_cell("End", { column: 0, row: 1 }, grid), { column: 2, row: 1 });
  assert.equal(moved_cell("x", { column: 0, row: 0 }, grid), null);
  assert.equal(moved_cell("toString", { column: 0, row: 0 }, grid), null);
});

test("names on an axis keep apart", () => {
  assert.equal(label_every(76, 30), 1);
  assert.equal(label_every(10, 30), 4);
  assert.equal(label_every(1, 30), 32);
  assert.ok(label_every(0.01, 30) * 0.01 >= 30);
});

const node_rows = (ranks, size = 8) => ranks.map((rank) =>
  ({ rank, node: String(Math.floor(rank / size)), local_rank: rank % size, lateness_ns: rank }));

const range = (n) => Array.from({ length: n }, (_, i) => i);

test("nodes and GPUs: ranks that have not come are holes in their places", () => {
  const grid = places_grid(node_rows([0, 1, 3, 4, 6, 7], 4), 12);
  assert.deepEqual([grid.row_name, grid.column_name], ["node", "GPU"]);
  assert.deepEqual(grid.rows, ["node 0", "node 1", "node ?"]);
  assert.deepEqual([...grid.item], [0, 1, HOLE, 2, 3, HOLE, 4, 5, HOLE, HOLE, HOLE, HOLE]);
});

test("many nodes go across, their GPUs down", () => {
  const grid = places_grid(node_rows(range(1024)), 1024);
  assert.deepEqual([grid.columns.length, grid.rows.length], [128, 8]);
  assert.equal(grid.column_name, "node");
  assert.equal(grid.item[5 * 128 + 64], 517);
});

test("ranks on nodes of any order are placed by node and GPU alone", () => {
  const rows = [["b", 0, 0], ["a", 0, 1], ["b", 1, 2], ["a", 1, 3]]
    .map(([node, local_rank, rank]) => ({ rank, node, local_rank }));
  const grid = places_grid(rows, 4);
  assert.deepEqual(grid.rows, ["node a", "node b"]);
  assert.deepEqual([...grid.item], [1, 3, 0, 2]);
});

test("without nodes ranks stand in blocks of eight", () => {
  const rows = range(10).map((rank) => ({ rank, node: null, local_rank: null }));
  const grid = places_grid(rows, null);
  assert.deepEqual([grid.row_name, grid.rows], ["ranks", ["0–7", "8–9"]]);
  assert.deepEqual([...grid.item.slice(8)], [8, 9, ...Array(6).fill(BLANK)]);
  const few = places_grid([{ rank: 0 }, { rank: 5 }], null);
  assert.deepEqual([...few.item], [0, BLANK, BLANK, BLANK, BLANK, 1]);
});

test("a wrong world size cannot fill the page with holes", () => {
  assert.equal(all_ranks([{ rank: 3 }], 4_000_000_000).length, 8192);
  assert.deepEqual(missing_ranks([{ rank: 0 }, { rank: 2 }], 4), [1, 3]);
});

test("ranks and steps: few ranks go down, many go across, a missing rank is a row of holes", () => {
  const frame = { length: 3, columns: { rank: [0, 0, 2], step: [3, 4, 4], step_ns: [1, 2, 3] } };
  const grid = steps_grid(frame, [0, 1, 2]);
  assert.deepEqual([grid.columns, grid.rows], [["3", "4"], ["0", "1", "2"]]);
  assert.deepEqual([...grid.item], [0, 1, HOLE, HOLE, HOLE, 2]);
  const wide = steps_grid(frame, range(33));
  assert.deepEqual([wide.column_name, wide.columns.length, wide.rows], ["rank", 33, ["3", "4"]]);
  assert.equal(wide.item[33 + 2], 2);
  assert.deepEqual([...turned(turned(grid)).item], [...grid.item]);
});

test("the farthest from the median come first, and only what matters stands out", () => {
  const rows = [100, 101, 102, 103, 104, 90, 160].map((value, rank) => ({ rank, a: value }));
  const found = outliers(rows, "a", 1000);
  assert.deepEqual(found.map(({ row }) => row).slice(0, 2), [6, 5]);
  assert.deepEqual(found.filter(({ stands_out }) => stands_out).map(({ row }) => row), [6, 5]);
  assert.deepEqual(outliers(rows, "a", 4000).filter(({ stands_out }) => stands_out).length, 1);
  assert.deepEqual(outliers([{ rank: 0 }], "a", 1), []);
});

test("metrics that no rank has a figure of are not offered", () => {
  const rows = [{ step_median_ns: 5, lateness_ns: null }, { step_median_ns: 6, idle_ns: 0 }];
  const known = known_metrics(rows);
  assert.deepEqual(known.map(({ key }) => key), ["step", "idle"]);
  assert.equal(chosen_metric(known, "lateness", rows, 5).key, "step");
  assert.equal(chosen_metric(known, "idle", rows, 5).key, "idle");
  assert.equal(chosen_metric([], "idle", rows, 5).key, "step");
});

test("the first figure by which a rank stands out is shown, with a sentence of how much", () => {
  const MS = 1e6;
  const rows = Array.from({ length: 8 }, (_, rank) => ({ rank, lateness_ns: 10_000 + rank,
    step_median_ns: 27 * MS, compute_ns: rank === 5 ? 3 * MS : 26 * MS + rank }));
  const known = known_metrics(rows);
  const metric = chosen_metric(known, "", rows, 27 * MS);
  assert.equal(metric.key, "compute");
  assert.equal(outlier_sentence(rows, metric, 27 * MS), "Rank 5 stands out by compute: 3.00 ms per "
    + "step, 23.0 ms less than the median.");
  const alike = rows.map((row) => ({ ...row, compute_ns: 26 * MS }));
  assert.equal(chosen_metric(known, "", alike, 27 * MS).key, "lateness");
  assert.match(outlier_sentence(rows, metric, 27 * MS, true), /compute: 3\.00.ms, /);
  assert.equal(outlier_sentence(alike, metric, 27 * MS), "");
  const two = alike.map((row) => ({ ...row, compute_ns: row.rank > 5 ? 30 * MS : 26 * MS }));
  assert.equal(outlier_sentence(two, metric, 27 * MS), "Ranks 6, 7 stand out by compute: 30.0 ms "
    + "per step on rank 6, 4.00 ms more than the median.");
});

test("among late ranks the one to blame is named, not those that it kept waiting", () => {
  const MS = 1_000_000;
  const lateness = [["data_loading", 130], ["communication", 10], ["communication", 10],
    ["communication", 10], [null, 0], [null, 0], [null, 0], [null, 0]].map(
    ([reason, wait], rank) => ({ rank, reason, reason_share: 1, calls: 10,
      late_calls: wait > 0 ? 5 : 0, lateness_ns: wait * MS, caused_wait_ns: wait * MS }));
  const [late, step] = ["lateness", "step"].map((key) => METRICS.find((one) => one.key === key));
  const rows = lateness.map(({ rank, lateness_ns }) => ({ rank, lateness_ns, step_median_ns: 1 }));
  const of = { steps: 5, step_ns: 27 * MS };
  assert.match(rank_sentence(rows, late, lateness, of), /^Rank 0 starts last in 50.0 % of its 10/);
  assert.equal(rank_sentence(rows, step, lateness, of), "");
});

test("work that was not recorded is not idle time", () => {
  const rows = [{ rank: 0, idle_ns: 354, unrecorded_ns: 196 }, { rank: 1, idle_ns: 100 }];
  assert.deepEqual(rows.map(without_unrecorded).map(({ idle_ns }) => idle_ns), [158, 100]);
});

test("ranks are written as people write them", () => {
  assert.equal(ranks_text([0, 1, 2, 3, 5, 8, 9]), "0–3, 5, 8, 9");
  assert.equal(ranks_text([1, 3, 5, 7], 2), "1, 3 and more");
});
