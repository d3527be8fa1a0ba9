// SPDX-License-Identifier: Apache-2.0
// A run without a trace leads to the pages that have something.
import assert from "node:assert/strict";
import test from "node:test";
import { evidence_pages } from "../../../../../web/views/run/evidence_model.mjs";

const file = (format, kind = "attachment", status = "done") => ({ kind, format, status });
const labels = (...files) => evidence_pages(files).map(({ label }) => label);

test("each file leads to the page that shows it, the job's first", () => {
  assert.deepEqual(labels(file("training-log")), ["Training"]);
  assert.deepEqual(labels(file("ncu-csv"), file("ibstat"), file("nvidia-smi-csv")),
    ["Training", "Communication", "Kernels"]);
  assert.deepEqual(labels(file("memory-snapshot"), file("memory-snapshot")), ["Memory"]);
});

test("files that say nothing lead to the list of files", () => {
  for (const none of [[], [file("")], [file(null)], [file("json")], [file("text")],
    [file("tar", "archive")], [file("training-log", "attachment", "failed")]]) {
    assert.deepEqual(labels(...none), ["Data"]);
  }
});
