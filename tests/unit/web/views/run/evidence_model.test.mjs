// SPDX-License-Identifier: Apache-2.0
// A run without a trace leads to the pages that have something.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { evidence_pages } from "../../../../../web/views/run/evidence_model.mjs";

const file = (format, kind = "attachment", status = "done") => ({ kind, format, status });
const labels = (...files) => evidence_pages(files).map(({ label }) => label);

test("each file leads to the page that shows it, the job's first", () => {
  assert.deepEqual(labels(file("training-log")), ["Training"]);
  assert.deepEqual(labels(file("ncu-csv"), file("ibstat"), file("nvidia-smi-csv")),
    ["Training", "Communication", "Kernels"]);
  assert.deepEqual(labels(file("memory-snapshot"), file("memory-snapshot")), ["Memory"]);
  for (const links of ["nvbandwidth", "nvbandwidth-json", "perftest-json", "rccl-tests-json",
    "rccl-tests-csv"]) {
    assert.deepEqual(labels(file(links)), ["Communication"]);
  }
});

/** The names of the formats that sources of a folder read. */
const formats_in = (folder, pattern) => readdirSync(folder).filter((name) => pattern.test(name))
  .flatMap((name) => [...readFileSync(join(folder, name), "utf8")
    .matchAll(/^ {4}\.name = "([^"]+)"/gm)].map(([, format]) => format));

test("every file of links, of memory and of measured launches leads to its page", () => {
  for (const [label, folder, pattern, least] of [
    ["Communication", "ingest/links", /^format_.*\.c$/, 9],
    ["Memory", "ingest/torch", /^format_memory_snapshot.*\.c$/, 3],
    ["Kernels", "ingest/ncu", /^format_.*\.c$/, 1],
    ["Kernels", "ingest/rocm", /^format_rocm_compute\.c$/, 1]]) {
    const formats = formats_in(folder, pattern);
    assert.ok(formats.length >= least, folder);
    for (const format of formats) assert.deepEqual(labels(file(format)), [label], format);
  }
});

test("files that say nothing lead to the list of files", () => {
  for (const none of [[], [file("")], [file(null)], [file("json")], [file("text")],
    [file("tar", "archive")], [file("training-log", "attachment", "failed")]]) {
    assert.deepEqual(labels(...none), ["Data"]);
  }
});
