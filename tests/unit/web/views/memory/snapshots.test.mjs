// SPDX-License-Identifier: Apache-2.0
// What is said about memory snapshots.
import assert from "node:assert/strict";
import test from "node:test";
import { by_category, growth_verdict, oom_text, snapshot_choices }
  from "../../../../../web/views/memory/snapshot_model.mjs";

const held = (category, bytes, origin = "recorded", calls = "f (a.py:1)") =>
  ({ moment: "peak", category, bytes, origin, calls });

test("categories are sums, the largest first, and what was there before is apart", () => {
  const rows = [held("weights", 1), held("activations", 5), held("weights", 3),
    held(null, 2, "before", null), { ...held("other", 99), moment: "oom" }];
  assert.deepEqual(by_category(rows, "peak").map(({ label, bytes }) => [label, bytes]),
    [["Activations", 5], ["Weights", 4], ["Before the recording", 2]]);
});

test("growth without marks of steps is not known", () => {
  assert.equal(growth_verdict({ growth_steps: null }).word, "not known");
  assert.equal(growth_verdict({ growth_steps: 4, leak: false }).text, "over 4 steps");
  assert.equal(growth_verdict({ growth_steps: 4, leak: true, growth_bytes: 2e6 }).text,
    "+2.00 MB per step");
  assert.deepEqual(growth_verdict({ growth_steps: 4, leak: false, growth_bytes: 512 }),
    { word: "little", tone: undefined, text: "+512 B per step" });
});

test("a request that failed is explained by what was free and what held the rest", () => {
  const oom = { requested_bytes: 4e9, device_free_bytes: 1e9, allocated_bytes: 70e9,
    reserved_bytes: 78e9, cached_bytes: 8e9, cause: "fragmentation" };
  const rows = [{ ...held("activations", 70e9), moment: "oom" }];
  assert.match(oom_text(oom, rows),
    /^4.00 GB was requested, 1.00 GB free on the device; 70.0 GB of 78.0 GB reserved was in use/);
  assert.match(oom_text(oom, rows), /8.00 GB free, but in blocks too small/);
  assert.match(oom_text({ ...oom, cause: "full" }, []), /the memory is in use/);
  assert.match(oom_text({ ...oom, cause: "limit" }, []), /The device had room/);
});

test("devices are chosen by rank, or by file where the rank is not known", () => {
  const row = { file: "a.pickle", rank: 3, device: 0, events: 5, end_reserved_bytes: 0 };
  const rows = [row, { ...row, rank: null, file: "b.pickle" },
    { ...row, file: "c.pickle", events: 0 }];
  assert.deepEqual(snapshot_choices(rows).map(({ label }) => label),
    ["rank 3, a.pickle, device 0", "b.pickle, device 0"]);
});
