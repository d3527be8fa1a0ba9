// SPDX-License-Identifier: Apache-2.0
// Throughput from a run's tag, and peaks added by the user, through the whole service.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import { temporary } from "./helpers/tools.mjs";
import { generate, small_job } from "./helpers/traces.mjs";
import { megatron_log } from "./helpers/training_logs.mjs";

const HEADER = "device\tmemory_gib\tfp4\tfp8\tint8\tbf16\tfp16\ttf32\tfp32\tfp64\ttbps\tsource\n";

let server;
let files;

before(async () => {
  const peaks = join(temporary("peaks"), "peaks.tsv");
  writeFileSync(peaks, `${HEADER}H100\t-\t-\t-\t-\t77\t77\t77\t77\t77\t1.5\tours\n`);
  server = await start_server({ options: ["--peaks", peaks] });
  files = (await generate(small_job("--seed", "11"))).files;
  await server.analyzed("paced", files);
});
after(() => server?.stop());

const summary = () => server.get("/runs/paced/summary");

async function tag(value) {
  const { headers: { etag } } = await server.request("/api/v1/runs/paced");
  const reply = await server.send("PATCH", "/runs/paced", { tags: { tokens_per_step: value } },
    { "If-Match": etag });
  assert.equal(reply.status, 200, reply.text);
}

test("a run without the tag has no throughput", async () => {
  assert.equal((await summary()).throughput, null);
});

test("tokens per second stand on the headline step and the ranks of the run", async () => {
  await tag("8192");
  const { throughput, run, summary: figures } = await summary();
  const per_second = 8192e9 / figures.step_median_ns;
  assert.equal(throughput.tokens_per_step, 8192);
  assert.equal(throughput.tokens_per_second, per_second);
  assert.ok(run.world_size > 1);
  assert.equal(throughput.tokens_per_second_per_gpu, per_second / run.world_size);
  assert.equal(throughput.reason, null);
});

for (const value of ["many", "0", "-5", "8k", "1.5", "99999999999999999999"])
  test(`the tag ${value} gives no figure and the reason`, async () => {
    await tag(value);
    const { throughput } = await summary();
    assert.equal(throughput.tokens_per_step, null);
    assert.equal(throughput.tokens_per_second, null);
    assert.equal(throughput.tokens_per_second_per_gpu, null);
    assert.match(throughput.reason, /positive integer/);
  });

test("tokens per step of the metadata count, and win over the tag", async () => {
  const meta = async (tokens_per_step) => assert.equal((await server.send("PATCH", "/runs/paced",
    { meta: { tokens_per_step } }, { "If-Match": "*" })).status, 200);
  await tag("8192");
  await meta("4096");
  const { throughput, summary: figures } = await summary();
  assert.equal(throughput.tokens_per_step, 4096);
  assert.equal(throughput.tokens_per_second, 4096e9 / figures.step_median_ns);
  await meta(null);
  assert.equal((await summary()).throughput.tokens_per_step, 8192);
});

test("GPUs are those of the job, also of ranks without a trace", async () => {
  await tag("8192");
  const { run: { world_size } } = await summary();
  const resize = async (size) => server.send("PATCH", "/runs/paced", { world_size: size },
    { "If-Match": "*" });
  assert.equal((await resize(64)).status, 200);
  const { throughput } = await summary();
  assert.equal(throughput.tokens_per_second_per_gpu, throughput.tokens_per_second / 64);
  assert.equal((await resize(world_size)).status, 200);
});

test("peaks of the user's file decide the roofline", async () => {
  const { items } = await server.get("/runs/paced/roofline?limit=all");
  const modelled = items.filter(({ flops }) => flops !== null);
  assert.ok(modelled.length > 0);
  for (const row of modelled) {
    assert.equal(row.peak_tflops, 77);
    assert.equal(row.peak_tbps, 1.5);
  }
});

test("they decide the utilization of what a log states, too", async () => {
  await server.post([...fields({ run: "paced" }),
    file_part(megatron_log({ steps: 10 }), "train.log")], "/upload?wait=60");
  const { items } = await server.get("/runs/paced/figures?limit=all");
  const mfu = items.find(({ metric, source }) => metric === "mfu" && source === "computed");
  assert.equal(mfu.value, 400.5 / 77);
});
