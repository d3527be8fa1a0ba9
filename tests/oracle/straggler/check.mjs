// SPDX-License-Identifier: Apache-2.0
// usage: node check.mjs STRAGGLER hand|published
// Two small jobs whose answers follow from their comments, or the published jobs of
// ../shared/whatif.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [, , straggler, jobs] = process.argv;
const folder = "../shared/whatif";
const columns = "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc";

/** Throws unless both have the same keys and, within the tolerance, numbers. */
function compare(name, found, expected, tolerance) {
  if (typeof expected === "number") {
    if (!(Math.abs(found - expected) <= tolerance))
      throw new Error(`${name}: found ${found}, expected ${expected}`);
    return;
  }
  const keys = (object) => Object.keys(object).sort().join();
  if (keys(found) !== keys(expected))
    throw new Error(`${name}: found ${keys(found)}, expected ${keys(expected)}`);
  for (const key of Object.keys(expected))
    compare(`${name}.${key}`, found[key], expected[key], tolerance);
}

function answer(trace, meta) {
  return JSON.parse(execFileSync(straggler, [trace, meta], { encoding: "utf8" }));
}

// --- by hand ------------------------------------------------------------------------------------

/** Rows of "data rank, stage, type, begin, duration, seq, chunk, chunk of the model". */
function rows(text) {
  return text.trim().split("\n").map((line) => {
    const [data, stage, type, begin, dur, seq = 0, ...chunks] = line.trim().split(/\s+/);
    const [chunk = -1, whole = -1] = chunks;
    const rank = Number(data) + 2 * Number(stage);
    return [data, stage, rank, 7, type, begin, dur, seq, chunk, 0, whole];
  });
}

// Two data ranks. Without delays: parameters 1, then rank 0 needs 3 + 4 + 2 until it may scatter at
// 10, and its partner waits; 2 + 1, then 3 for rank 1's optimizer: 16. Usually a forward takes 2, a
// backward 3 and an optimizer 2: 1 + 5 + 2 + 3 + 2 = 13.
const two_data_ranks = {
  dsp_size: 1,
  rows: rows(`
    0 0 params-all-gather 0 2 0 0
    1 0 params-all-gather 1 1 0 0
    0 0 forward-compute 2 3 0 0 0
    1 0 forward-compute 2 1 0 0 0
    0 0 backward-compute 5 4 0 0 0
    1 0 backward-compute 3 2 0 0 0
    0 0 gc 9 0
    1 0 gc 5 0
    0 0 layernorm-grads-all-reduce 9 1
    1 0 layernorm-grads-all-reduce 5 1
    0 0 embedding-grads-all-reduce 10 1
    1 0 embedding-grads-all-reduce 6 1
    0 0 grads-reduce-scatter 11 2 0 0
    1 0 grads-reduce-scatter 7 6 0 0
    0 0 optimizer-clip-main-grad 13 1
    1 0 optimizer-clip-main-grad 13 1
    0 0 optimizer 14 1
    1 0 optimizer 14 3`),
  answer: {
    S: 16 / 13,
    by_type: {
      "forward-compute": 14 / 13, "backward-compute": 14 / 13, optimizer: 14 / 13, gc: 1,
      "params-all-gather": 1, "grads-reduce-scatter": 1, "layernorm-grads-all-reduce": 1,
      "embedding-grads-all-reduce": 1, "optimizer-clip-main-grad": 1,
    },
    by_dp_rank: { 0: 15 / 13, 1: 14 / 13 },
    by_stage: { 0: 16 / 13 },
    Ms: 1, // the only stage is the last one
    Mw: (16 - 14) / (16 - 13), // rank 0 is the worst, and without it 14 remain
  },
};

// Two stages of two chunks each: the forward of chunks 0 to 3 alternates between them, the backward
// goes back, each transfer takes 0.5. Chunk 3's forward takes 2, the others 1, which is 1.25 on
// average; a backward 2. 5 + 8 + 6 transfers, shared embedding and clip 0.5 each: 17, then
// optimizers of 1 and 3. The first stage's first receive and last send are not recorded.
const two_chunks = {
  dsp_size: 1,
  rows: rows(`
    0 0 forward-compute 0 1 0 0 0
    0 0 forward-compute 3 1 1 1 2
    0 1 forward-compute 1.5 1 0 0 1
    0 1 forward-compute 4.5 2 1 1 3
    0 1 backward-compute 6.5 2 0 1 3
    0 0 backward-compute 9 2 0 1 2
    0 1 backward-compute 11.5 2 1 0 1
    0 0 backward-compute 14 2 1 0 0
    0 0 forward-send 1 0.5 0
    0 0 forward-send 4 0.5 1
    0 0 forward-recv 1 2 0
    0 1 forward-recv 0 1.5 0
    0 1 forward-recv 2.5 2 1
    0 1 forward-send 2.5 0.5 0
    0 1 forward-send 6.5 0 1
    0 1 backward-send 8.5 0.5 0
    0 1 backward-send 13.5 0.5 1
    0 0 backward-recv 4 5 0
    0 0 backward-recv 11 3 1
    0 0 backward-send 11 0.5 0
    0 1 backward-recv 8.5 3 0
    0 0 gc 16 0
    0 1 gc 13.5 0
    0 0 layernorm-grads-all-reduce 16 0
    0 1 layernorm-grads-all-reduce 13.5 0
    0 0 embedding-grads-all-reduce 16 0.5
    0 1 embedding-grads-all-reduce 13.5 3
    0 0 optimizer-clip-main-grad 16.5 0.5
    0 1 optimizer-clip-main-grad 16.5 0.5
    0 0 optimizer 17 1
    0 1 optimizer 17 3`),
  answer: {
    S: 20 / 19,
    by_type: {
      "forward-compute": 1, "backward-compute": 1, "forward-pp-comm": 1, "backward-pp-comm": 1,
      optimizer: 20 / 19, gc: 1, "layernorm-grads-all-reduce": 1, "embedding-grads-all-reduce": 1,
      "optimizer-clip-main-grad": 1,
    },
    by_dp_rank: { 0: 20 / 19 },
    by_stage: { 0: 18.5 / 19, 1: 20.5 / 19 },
    Ms: (20 - 18.5) / (20 - 19),
    Mw: (20 - 18.5) / (20 - 19),
  },
};

function check_hand() {
  const place = mkdtempSync(join(tmpdir(), "straggler-"));
  try {
    for (const [name, job] of Object.entries({ two_data_ranks, two_chunks })) {
      writeFileSync(join(place, "job.csv"), [columns, ...job.rows].join("\n") + "\n");
      writeFileSync(join(place, "meta.yaml"), `dsp_size: ${job.dsp_size}\n`);
      compare(name, answer(join(place, "job.csv"), join(place, "meta.yaml")), job.answer, 1e-9);
    }
  } finally {
    rmSync(place, { recursive: true });
  }
}

// --- published ----------------------------------------------------------------------------------

function published(job) {
  const read = (kind) => JSON.parse(readFileSync(`${folder}/${kind}-${job}.json`, "utf8"));
  const result = read("result");
  return {
    S: result.blocking_slowdown,
    by_type: result.blocking_decompose_by_optype,
    by_dp_rank: result.blocking_decompose_by_dp_rank,
    by_stage: result.blocking_decompose_by_stage,
    Ms: read("ms").Ms,
    Mw: read("mw").Mw,
  };
}

function check_published() {
  if (!existsSync(folder)) {
    console.log(`SKIPPED: ${folder} is absent`);
    process.exit(77);
  }
  for (const job of ["ST", "AR"])
    compare(job, answer(`${folder}/trace-${job}.csv.zst`, `${folder}/meta-${job}.yaml`),
      published(job), 1e-6);
}

if (jobs === "hand") check_hand();
else check_published();
