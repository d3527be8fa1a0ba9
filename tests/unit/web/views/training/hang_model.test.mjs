// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { cell_words, hang_matrix, matrix_caption, short_group }
  from "../../../../../web/views/training/hang_model.mjs";

const row = (process_group, rank, state, unfinished, entered = unfinished) =>
  ({ process_group, ranks: "0-3", rank, state, unfinished, entered, operation:
    unfinished === null ? null : "nccl:all_reduce" });

test("ranks that are late lead, the others follow by number", () => {
  const { groups, ranks } = hang_matrix([row("dp", 0, "waits", 7), row("dp", 1, "waits", 7),
    row("dp", 2, "absent", null, 6), row("tp", 2, "waits", 4), row("tp", 10, "waits", 4)]);
  assert.deepEqual(groups, ["dp", "tp"]);
  assert.deepEqual(ranks.map(({ rank, is_late }) => [rank, is_late]),
    [[2, true], [0, false], [1, false], [10, false]]);
  assert.equal(ranks[1].cells[1], null, "rank 0 is in no waiting group of tp");
  assert.equal(matrix_caption(ranks), "1 of 4 ranks is late in a process group that waits");
});

test("of several groups of one description the one in which a rank is late counts", () => {
  const late = row("same", 5, "behind", 9);
  const { ranks } = hang_matrix([row("same", 5, "waits", 3), late, row("same", 5, "waits", 1)]);
  assert.deepEqual(ranks[0].cells, [late]);
  const { ranks: [{ cells }] } = hang_matrix([row("same", 5, "waits", 8),
    row("same", 5, "waits", 3), row("same", 5, "past", null, 9)]);
  assert.equal(cells[0].unfinished, 3, "else the one furthest back");
});

test("nobody late is said", () => {
  const { ranks } = hang_matrix([row("dp", 0, "waits", 7), row("dp", 1, "past", null, 8)]);
  assert.equal(matrix_caption(ranks), "No rank is late in a waiting process group");
});

test("a cell says who is where", () => {
  assert.equal(cell_words(row("dp", 3, "behind", 12)),
    "rank 3 is at an earlier collective: in all_reduce number 12 of dp, ranks 0-3");
  assert.equal(cell_words(row("dp", 3, "absent", null, 6)),
    "rank 3 has not entered it: last entered number 6 of dp, ranks 0-3");
  assert.equal(cell_words(row("", 3, "no_dump", null)),
    "rank 3 left no dump");
});

test("short names leave out what all share", () => {
  assert.equal(short_group("TENSOR_AND_DATA_PARALLEL_GROUP_WITH_CP"), "TENSOR_AND_DATA_WITH_CP");
  assert.equal(short_group("default_pg"), "default_pg");
  assert.equal(short_group(null), "unnamed");
});
