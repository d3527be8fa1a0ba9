// SPDX-License-Identifier: Apache-2.0
// Texts of the communication page: the sum that must add up, who gets named, what is not known.
import assert from "node:assert/strict";
import test from "node:test";
import { frame_of } from "../../../../../web/base/frame.mjs";
import { WaitBar } from "../../../../../web/charts/wait_bar.mjs";
import { chosen_rows, clocks_sentence, dimensions_sentence, exposed_split, is_mostly_unknown,
  split_segments, split_sentence, unknowns, waits_by_dimension, waits_per_step }
  from "../../../../../web/views/comm/comm_model.mjs";
import { by_product } from "../../../../../web/views/ranks/efficiency_model.mjs";
import { late_ranks, late_sentence, lateness_per_step, reason_label, reason_words, with_blame }
  from "../../../../../web/views/ranks/lateness_model.mjs";
import { SHAPE_NAMES, SHAPES } from "../../../../../web/charts/marks.mjs";

const MS = 1_000_000;
const rank = (number, exposed, wait, unrecorded = 0) => ({ rank: number, window_ns: 500 * MS,
  unrecorded_ns: unrecorded * MS, exposed_comm_ns: exposed * MS, exposed_wait_ns: wait * MS,
  exposed_transfer_ns: (exposed - wait) * MS });
/** Matched calls of all ranks and steps. */
const matched = (...transfers) => transfers.map((ms) => ({ exposed_transfer_ns: ms * MS }));

test("the verdict is one sum: exposed is waiting and transfer", () => {
  const split = exposed_split([rank(0, 70, 48), rank(1, 55.8, 34)], matched(400, 38), 10);
  assert.equal(split_sentence(split), "Exposed communication 62.9 ms per step (12.6 %) = 41.0 ms "
    + "waiting for late ranks + 21.9 ms transfer");
  const parts = split_segments(split).reduce((sum, { value }) => sum + value, 0);
  assert.equal(parts, split.exposed_ns);
  assert.match(split_sentence(split, true), /^Exposed communication 62.9 ms \(12.6 %\) = /);
});

test("calls without a match are neither waiting nor transfer", () => {
  const split = exposed_split([rank(0, 70, 10), rank(1, 50, 10)], matched(6, 6, null), 3);
  assert.equal(split_sentence(split), "Exposed communication 60.0 ms per step (12.0 %) = 10.0 ms "
    + "waiting for late ranks + 2.00 ms transfer + 48.0 ms that could not be split");
  assert.equal(split_segments(split).find(({ key }) => key === "rest").value, 48 * MS);
  assert.ok(is_mostly_unknown(split));
  assert.ok(!is_mostly_unknown(exposed_split([rank(0, 70, 10)], matched(40), 1)));
});

test("exposed communication is a share of the time that was recorded", () => {
  assert.equal(exposed_split([rank(0, 100, 0, 100)], matched(100), 1).share, 0.25);
});

test("time that cannot be attributed is shown, and ranks without waits do not count", () => {
  const nothing_known = { rank: 2, window_ns: 500 * MS, exposed_comm_ns: 999 * MS,
    exposed_wait_ns: null, exposed_transfer_ns: null };
  const split = exposed_split([rank(0, 10, 4), nothing_known], matched(3), 1);
  assert.equal(split.ranks, 1);
  assert.match(split_sentence(split), /= 4.00 ms .* \+ 3.00 ms transfer \+ 3.00 ms that could not/);
  assert.equal(exposed_split([nothing_known], matched(3), 1), null);
  assert.match(split_sentence(exposed_split([rank(0, 0, 0)], [], 1)), /compute hides all/);
});

const late = (number, late_calls, caused, reason = "compute_slower") => ({ rank: number,
  calls: 100, late_calls, lateness_ns: (caused * MS) / 7, caused_wait_ns: caused * MS, reason,
  reason_share: 0.9 });

test("the rank that the others wait for is named with its reason", () => {
  const rows = [late(5, 86, 2870), late(0, 4, 10), late(1, 4, 8), ...[2, 3, 4, 6, 7].map((n) =>
    late(n, 1, 1))];
  const [found, ...rest] = late_ranks(rows, { steps: 10, step_ns: 500 * MS });
  assert.equal(rest.length, 0);
  assert.equal(late_sentence(found, 8), "Rank 5 starts last in 86.0 % of its 100 collectives and "
    + "causes 99.2 % of all waiting: 41.0 ms per step for each of the 7 others, hidden or not. The "
    + "same kernels take longer on it (90.0 % of its lateness).");
});

test("nobody is named for little, in turn, or for having been kept waiting", () => {
  const of = { steps: 10, step_ns: 500 * MS };
  assert.deepEqual(late_ranks([late(0, 50, 1), late(1, 50, 1)], of), []);
  const in_turn = Array.from({ length: 8 }, (_, n) => late(n, 12, 400));
  assert.deepEqual(late_ranks(in_turn, of), []);
  const early = [{ ...late(2, 46, 1200), lateness_ns: 12 * MS }, late(5, 0, 0)];
  assert.deepEqual(late_ranks(early, of), [], "it is hardly later than the most");
  const passed_on = [late(3, 80, 2000, "communication"), late(5, 80, 3000, "host"),
    late(0, 1, 1), late(1, 1, 1)];
  assert.deepEqual(late_ranks(passed_on, of).map((row) => row.rank), [5]);
  assert.deepEqual(late_ranks([], of), []);
});

test("of two ranks the late one is named", () => {
  const found = late_ranks([late(1, 90, 900), late(0, 10, 20)], { steps: 10, step_ns: 500 * MS });
  assert.deepEqual(found.map((row) => row.rank), [1]);
  assert.match(late_sentence(found[0], 2), /: 90.0 ms per step for the other, hidden/);
});

test("every reason has words, and an unknown one does too", () => {
  for (const reason of ["compute_slower", "more_work", "data_loading", "host", "copies",
    "communication", "unknown"]) {
    assert.doesNotMatch(reason_label(reason), /_/);
    assert.match(reason_words(reason), / /);
  }
  assert.equal(reason_label("toString"), "toString");
  assert.equal(reason_label(null), "–");
});

test("waits come per step and recorded rank", () => {
  const frame = frame_of([{ kind: "all_reduce", group_size: 8, calls: 60, wait_ns: 80 * MS,
    transfer_ns: 40 * MS, exposed_wait_ns: 40 * MS, exposed_transfer_ns: 20 * MS,
    dimension: "data", ranks: "0-3,8-11" }, { kind: "send", group_size: null, calls: 3,
    wait_ns: null, transfer_ns: 6 * MS, exposed_wait_ns: null, exposed_transfer_ns: 6 * MS,
    dimension: null, ranks: "5" }]);
  const own = waits_per_step(frame, 2, [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(own.columns.wait_per_rank_ns, [10 * MS, null]);
  assert.deepEqual(own.columns.exposed_per_rank_ns, [7.5 * MS, 3 * MS]);
  assert.deepEqual(own.columns.calls_per_step, [30, 1.5]);
  assert.equal(own.columns.wait_ns, frame.columns.wait_ns);
  assert.equal(own.units.wait_per_rank_ns, "ns");
  const of_all = waits_per_step(frame_of([{ group_size: 2, calls: 40, exposed_wait_ns: 64 * MS,
    exposed_transfer_ns: 16 * MS }]), 1, [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(of_all.columns.exposed_per_rank_ns, [10 * MS], "a row of all groups");
  const no_filter = { dimension: "", process_group: "", kind: "" };
  assert.deepEqual(chosen_rows(own, no_filter), [0, 1]);
  assert.deepEqual(chosen_rows(own, { ...no_filter, dimension: "data" }), [0]);
});

test("where no call has a match, its waits are not known", () => {
  const own = waits_per_step(frame_of([{ calls: 0, group_size: 2, exposed_wait_ns: null,
    exposed_transfer_ns: null, wait_ns: null }]), 2, [0, 1]);
  assert.deepEqual(own.columns.exposed_per_rank_ns, [null]);
  assert.equal(WaitBar({ wait_ns: null, transfer_ns: null, scale_ns: 1 }), "–");
});

test("lateness comes per step, and per other rank for what it causes", () => {
  const own = lateness_per_step(frame_of([late(5, 50, 60), { ...late(1, 0, 0), calls: 0 },
    late(2, 1, 6)]), 3);
  assert.deepEqual(own.columns.caused_per_rank_ns, [10 * MS, 0, MS]);
  assert.deepEqual(own.columns.late_share, [0.5, null, 0.01]);
});

test("waiting is split by what the groups share", () => {
  const waits = [{ dimension: "pipeline", exposed_wait_ns: 944 * MS }, { dimension: null,
    exposed_wait_ns: 32 * MS }, { dimension: "pipeline", exposed_wait_ns: 16 * MS },
  { dimension: "data", exposed_wait_ns: 0 }];
  const parts = waits_by_dimension(waits, 8, 2);
  assert.deepEqual(parts, [{ dimension: "pipeline", ns: 60 * MS }, { dimension: "", ns: 2 * MS }]);
  assert.equal(dimensions_sentence(parts),
    "Of the waiting, 60.0 ms is in pipeline groups and 2.00 ms in other groups.");
  assert.equal(dimensions_sentence(parts.slice(1)), "");
});

test("who is kept waiting itself is blamed for nothing", () => {
  const rows = with_blame([{ rank: 0 }, { rank: 1 }, { rank: 2 }],
    [late(1, 9, 60), late(0, 9, 50, "communication")], 3);
  assert.deepEqual(rows.map(({ caused_ns }) => caused_ns), [0, 20 * MS, 0]);
  assert.deepEqual(with_blame([{ rank: 0 }], [], 3), [{ rank: 0 }]);
});

test("a straggler is named among ranks that it keeps waiting elsewhere", () => {
  const rows = [late(133, 99, 2000), ...Array.from({ length: 60 }, (_, n) =>
    late(n, 18, 1500, "communication"))];
  assert.deepEqual(late_ranks(rows, { steps: 10, step_ns: 500 * MS }).map((row) => row.rank),
    [133]);
});

const clock = (number, component, offset, error = 5000) =>
  ({ rank: number, component, offset_ns: offset, error_ns: error, collectives: 100 });

test("what cannot be known is said in words", () => {
  const base = { ranks: 8, world: 8, waits: [], clocks: [], has_comm: true };
  assert.deepEqual(unknowns({ ...base, has_comm: false }), []);
  assert.match(unknowns({ ...base, ranks: 1 })[0], /only one of 8 was uploaded/);
  assert.match(unknowns({ ...base, ranks: 1, world: null })[0], /only one was uploaded/);
  assert.match(unknowns(base)[0], /No collective could be matched across ranks/);
  assert.match(unknowns({ ...base, waits: [{ calls: 0, unmatched_calls: 20 }] })[0],
    /could be matched .* \(20 calls\)/);
  const row = { process_group: "dp", bytes: 8, calls: 4, unmatched_calls: 0 };
  assert.deepEqual(unknowns({ ...base, waits: [row] }), []);
  const clocks = [[0, 0], [1, 0], [2, 1], [3, 1], [4, 1]].map(([n, part]) => clock(n, part, 0));
  const bare = { process_group: null, bytes: null, calls: 3, unmatched_calls: 7 };
  const texts = unknowns({ ...base, ranks: 6, clocks, waits: [row, bare] });
  assert.match(texts[0], /2 of 8 ranks are missing/);
  assert.match(texts[1], /1 row without a process group/);
  assert.match(texts[2], /1 row without a size/);
  assert.match(texts[3], /7 calls of single ranks match/);
  assert.match(texts[4], /ranks 2–4 \| 0, 1 cannot be aligned/);
});

test("clocks are described by how far they are apart and how well they agree", () => {
  assert.equal(clocks_sentence([clock(0, 0, 0, 2000), clock(1, 0, -40 * MS, 9000)]),
    "Clocks of the ranks are up to 40.0 ms apart; the ends of matched collectives align them to "
    + "within 9.0 µs.");
  assert.match(clocks_sentence([clock(0, 0, 0, 0), clock(1, 0, 5, 900)]), /less than 1 µs/);
  assert.equal(clocks_sentence([clock(0, 0, 0, null), clock(1, 0, MS, null)]),
    "Clocks of the ranks are up to 1.00 ms apart.");
  assert.match(clocks_sentence([clock(0, 0, 0), clock(1, 0, 2 * MS), clock(2, 1, 90 * MS),
    clock(3, 1, 93 * MS)]), /^Clocks of the ranks that can be compared are up to 3.00 ms apart/);
  assert.equal(clocks_sentence([clock(0, 0, 0), clock(1, 1, 2 * MS)]), "");
  assert.equal(clocks_sentence([clock(0, 0, 0)]), "");
  assert.equal(clocks_sentence([]), "");
});

test("efficiencies come in the order of their product, unknown ones last", () => {
  const rows = ["tensor_use", "transfer_efficiency", "load_balance", "parallel_efficiency"]
    .map((metric) => ({ metric, value: 0.5, unit: "share" }));
  assert.deepEqual(by_product([...rows, { metric: "offload_efficiency", value: null }])
    .map(({ metric }) => metric),
  ["parallel_efficiency", "load_balance", "transfer_efficiency", "tensor_use"]);
});

test("every mark is a shape of its own", () => {
  const drawn = SHAPE_NAMES.map((name) => SHAPES[name](4));
  assert.equal(new Set(drawn).size, SHAPE_NAMES.length);
  assert.ok(drawn.every((path) => /^M[-\d. a-zA-Z]+z$/.test(path)));
});
