// SPDX-License-Identifier: Apache-2.0
// Training logs: uploaded alone, with traces, in archives, and sent again while they grow.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { tar } from "./helpers/archives.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { reply_faults } from "./helpers/openapi.mjs";
import { start_server } from "./helpers/server.mjs";
import { small_json } from "./helpers/traces.mjs";
import { megatron_log, titan_log } from "./helpers/training_logs.mjs";

let server;

before(async () => (server = await start_server()));
after(() => server?.stop());

/** Uploads files of [content, name] and waits for them. */
async function send(run, ...files) {
  const reply = await server.post([...fields({ run }),
    ...files.map(([data, name]) => file_part(data, name))], "/upload?wait=60");
  return { ...reply.json, code: reply.status };
}

const rows = async (run, table) =>
  (await server.get(`/runs/${encodeURIComponent(run)}/${table}?limit=all`)).items;

test("a log alone makes a run with its figures", async () => {
  const reply = await send("alone", [megatron_log({ steps: 40 }), "train.log"]);
  assert.equal(reply.status, "done");
  assert.equal(reply.received, 0);
  const [log] = await rows("alone", "logs");
  assert.equal(log.framework, "megatron-lm");
  assert.equal(log.steps, 40);
  assert.equal(log.step_median_ns, 2_000_000_000);
  assert.equal(log.global_batch, 128);
  assert.equal(log.samples_per_s, 64);
  assert.equal(log.checkpoints, 1);
  assert.deepEqual((await rows("alone", "job_settings")).map(({ name, value }) => [name, value]),
    [["global_batch_size", "128"], ["seq_length", "4096"]]);
  const slow = await rows("alone", "log_slow_steps");
  assert.deepEqual(slow.map(({ step, kind, lost_ns }) => [step, kind, lost_ns]),
    [[21, "checkpoint", 3_000_000_000]]);
  assert.equal((await rows("alone", "log_steps")).length, 40);
  const { items } = await server.get("/runs?sort=-log.last_loss&limit=all");
  assert.ok(items.some(({ name, evidence }) => name === "alone" && evidence === 1));
});

test("a compressed log is read, and its secrets are not kept", async () => {
  const text = `HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345\n${titan_log({ steps: 10 })}`;
  const { inputs: [input] } = await send("titan", [gzipSync(text), "rank0.log.gz"]);
  assert.equal(input.kind, "attachment");
  assert.equal(input.format, "training-log");
  const kept = await server.request(`/api/v1/inputs/${input.id}/file`);
  assert.ok(kept.text.includes("[redacted:"));
  assert.ok(!kept.text.includes("hf_abc"));
  const [log] = await rows("titan", "logs");
  assert.equal(log.framework, "torchtitan");
  assert.equal(log.steps, 10);
});

test("a compressed log that is cut is read as far as it goes, and says so", async () => {
  // Steps differ, so that the cut falls within them.
  const whole = gzipSync(megatron_log({ steps: 2000 }));
  const { status, inputs: [input] } = await send("cut",
    [whole.subarray(0, whole.length / 2), "train.log.gz"]);
  assert.equal(status, "done");
  assert.match(input.reason, /gzip/);
  const [log] = await rows("cut", "logs");
  assert.ok(log.steps > 100 && log.steps < 2000, `${log.steps}`);
});

test("a compressed log that grows beyond measure is refused", async () => {
  const blank = Buffer.alloc(200 << 20, "\n");
  const text = Buffer.concat([Buffer.from(megatron_log({ steps: 3 })), blank]);
  const reply = await send("bomb", [gzipSync(text, { level: 9 }), "train.log.gz"]);
  assert.equal(reply.code, 422);
  assert.match(reply.detail, /decompresses to more than 200 times its size/);
});

test("a log joins the traces of its run, and a growing one replaces itself", async () => {
  await send("both", [small_json({ rank: 0, kernel_us: 20 }), "rank0.json"]);
  await send("both", [megatron_log({ steps: 10 }), "train.log"]);
  const reply = await send("both", [megatron_log({ steps: 20 }), "train.log"]);
  assert.equal(reply.received, 1);
  const logs = await rows("both", "logs");
  assert.deepEqual(logs.map(({ steps }) => steps), [20]);
  assert.equal((await rows("both", "kernels")).length > 0, true);
});

test("logs in an archive are read, and other text stays an attachment", async () => {
  const { inputs } = await send("archive", [tar([
    { name: "job/rank0.json", data: small_json({ rank: 0, kernel_us: 20 }) },
    { name: "job/train.log", data: `${"loading\n".repeat(2000)}${megatron_log({ steps: 8 })}` },
    { name: "job/notes.txt", data: "nothing but notes\n" },
  ]), "job.tar"]);
  assert.deepEqual(inputs.map(({ format, status }) => [format, status]),
    [["tar", "done"], ["training-log", "done"], ["text", "done"]]);
  assert.deepEqual((await rows("archive", "logs")).map(({ file, steps }) => [file, steps]),
    [["job/train.log", 8]]);
});

test("text without a step fails and says so", async () => {
  const reply = await send("empty", ["just words\n", "train.log"]);
  assert.equal(reply.code, 422);
  assert.match(reply.detail, /found text without a training step/);
});

test("analyzing again gives the same", async () => {
  const before_that = await rows("alone", "log_steps");
  await server.request("/api/v1/runs/alone/reanalyze", { method: "POST" });
  await server.settled("alone");
  assert.deepEqual(await rows("alone", "log_steps"), before_that);
});

test("a comparison without traces says what is missing", async () => {
  const reply = await server.request("/api/v1/compare?base=alone&cand=titan");
  assert.equal(reply.status, 409);
  assert.match(reply.json.type, /no-trace$/);
  assert.deepEqual(reply_faults("GET", "/api/v1/compare", reply), []);
});
