// SPDX-License-Identifier: Apache-2.0
// Jobs that agents can record.
import assert from "node:assert/strict";
import test from "node:test";
import { job_name, jobs_of } from "../../../../../web/views/runs/record_model.mjs";

const process = (job, busy = false) => ({ pid: 1, job, rank: null, busy });

test("processes of all nodes make jobs, the largest first", () => {
  const jobs = jobs_of({ nodes: [
    { node: "a", processes: [process("7"), process("0")] },
    { node: "b", processes: [process("7", true), process("7")] }] });
  assert.deepEqual(jobs, [
    { job: "7", processes: 3, nodes: ["a", "b"], busy: 1 },
    { job: "0", processes: 1, nodes: ["a"], busy: 0 }]);
  assert.deepEqual(jobs.map(job_name), ["job 7", "outside Slurm"]);
  assert.deepEqual(jobs_of(undefined), []);
});
