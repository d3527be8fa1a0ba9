// SPDX-License-Identifier: Apache-2.0
// A run without a trace has tabs only for what can say something.
import assert from "node:assert/strict";
import test from "node:test";
import { shown_tabs } from "../../../../../web/views/run/tab_model.mjs";

const GROUPS = [[["", "Overview"], ["findings", "Findings"]], [["kernels", "Kernels"],
  ["flame", "Flame"]], [["idle", "Idle"], ["memory", "Memory"]],
[["training", "Training"], ["data", "Data"]]];
const file = (format) => ({ kind: "attachment", format, status: "done" });
const shown = (run, files, page) => shown_tabs(GROUPS, { run: { findings: 0, ...run }, files,
  page }).map((group) => group.map(([, label]) => label));

test("a run with a trace has all tabs, also while it is analyzed or has failed", () => {
  assert.equal(shown_tabs(GROUPS, { run: { received: 1 }, files: [], page: "overview" }), GROUPS);
});

test("a log alone is the job's; other files add the pages that show them", () => {
  const none = { received: 0, evidence: 1 };
  assert.deepEqual(shown(none, [file("training-log")], "overview"),
    [["Overview"], ["Training", "Data"]]);
  assert.deepEqual(shown(none, [file("ncu-csv"), file("memory-snapshot")], "overview"),
    [["Overview"], ["Kernels"], ["Memory"], ["Training", "Data"]]);
  assert.deepEqual(shown({ ...none, findings: 1 }, [], "overview"),
    [["Overview", "Findings"], ["Training", "Data"]]);
});

test("a page that a link leads to has its tab", () => {
  assert.deepEqual(shown({ received: 0, evidence: 1 }, [file("training-log")], "idle"),
    [["Overview"], ["Idle"], ["Training", "Data"]]);
});
