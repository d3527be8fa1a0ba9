// SPDX-License-Identifier: Apache-2.0
// The short answers below a verdict.
import assert from "node:assert/strict";
import { test } from "node:test";
import { doubted, rank_answer } from "../../../../../web/views/compare/answer_model.mjs";

test("a rank that moved otherwise than the others is named", () => {
  const row = (rank, delta_ns) => ({ rank, delta_ns, base_step_ns: 100e6 });
  assert.equal(rank_answer([row(0, 1e6), { rank: null, delta_ns: 5e6 }]), "", "one rank");
  assert.equal(rank_answer([row(0, -1e6), row(1, -1.1e6), row(2, -1e6)]),
    "All 3 ranks moved alike: 1.00 ms faster.");
  assert.equal(rank_answer([row(0, 1e6), row(1, 1e6), row(2, 20e6)]),
    "Rank 2 changed most: 20.0 ms slower, the median rank 1.00 ms slower.");
  assert.equal(rank_answer([row(0, 0), row(1, 9e6)]), "Rank 0: unchanged, Rank 1: 9.00 ms slower.");
});

test("only warnings and errors of the trust report limit a comparison", () => {
  assert.deepEqual(doubted([{ id: "a", trust_severity: "info" },
    { id: "b", trust_severity: "warning" }, { id: "c", trust_severity: null },
    { id: "b", trust_severity: "warning" }]).map(({ id }) => id),
  ["b"]);
});
