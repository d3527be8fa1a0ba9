// SPDX-License-Identifier: Apache-2.0
// Settings and results in files of a run: alone, in archives beside other text, and compared.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { tar } from "./helpers/archives.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { reply_faults } from "./helpers/openapi.mjs";
import { start_server } from "./helpers/server.mjs";
import { small_json } from "./helpers/traces.mjs";
import { megatron_log } from "./helpers/training_logs.mjs";

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

const YAML = `
modules:
  pre_trainer:
    model: llama3.1_8B.yaml
    overrides:
      wandb_api_key: 0123456789abcdef0123456789abcdef01234567
      micro_batch_size: 2
      global_batch_size: 128
      seq_length: 4096
      tensor_model_parallel_size: 1
`;
const ENV = `PATH=/usr/bin
HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345
USER=jane
NCCL_ALGO=Ring
CUDA_DEVICE_MAX_CONNECTIONS=1
`;
const DEEPSPEED = JSON.stringify({ train_batch_size: 256, bf16: { enabled: true },
  zero_optimization: { stage: 3 } });
const RESULTS = JSON.stringify({
  training_config: { global_batch_size: 64, sequence_length: 2048 },
  performance_metrics: { tokens_per_second: 53943.5, step_ms: { mean: 2430, max: 3174 } },
  step_times: [9.5, 2.5, 2.4, 2.4, 2.3], loss_values: [11.5, 11, 10, 9, 8],
}, null, 2);

const standards = async (run) => Object.fromEntries((await rows(run, "job_settings"))
  .filter(({ standard }) => standard).map((row) => [row.standard, row.standard_value]));

test("a configuration alone makes a run with its settings, without secrets", async () => {
  const reply = await send("yaml", [YAML, "pretrain.yaml"]);
  assert.equal(reply.status, "done");
  assert.deepEqual(await standards("yaml"), { model: "llama3.1_8B.yaml", micro_batch_size: "2",
    global_batch_size: "128", seq_length: "4096", tensor_parallel_size: "1" });
  const settings = await rows("yaml", "job_settings");
  assert.equal(settings.find(({ name }) => name.endsWith("wandb_api_key")).value,
    "[redacted:named]");
  assert.equal(settings.find(({ standard }) => standard === "seq_length").unit, "tokens");
});

test("results have figures with units, and their lists are steps", async () => {
  const reply = await send("results", [RESULTS, "benchmark.json"]);
  assert.equal(reply.status, "done");
  assert.deepEqual((await rows("results", "job_results"))
    .map(({ name, value, unit }) => [name, value, unit]),
  [["performance_metrics.tokens_per_second", 53943.5, "tokens/s"],
    ["performance_metrics.step_ms.mean", 2430, "ms"],
    ["performance_metrics.step_ms.max", 3174, "ms"]]);
  const [log] = await rows("results", "logs");
  assert.equal(log.steps, 5);
  assert.equal(log.last_loss, 8);
  const reply_of_table = await server.request("/api/v1/runs/results/job_results");
  assert.deepEqual(reply_faults("GET", "/api/v1/runs/{run}/job_results", reply_of_table), []);
});

test("what is no setting of a job stays an attachment of an archive", async () => {
  const { inputs, status } = await send("mixed", [tar([
    { name: "job/rank0.json", data: small_json({ rank: 0, kernel_us: 20 }) },
    { name: "job/pretrain.yaml", data: YAML },
    { name: "job/ci.yaml", data: "on: push\njobs: {}\n" },
    { name: "job/broken.yaml", data: "a: b: c: [\n" },
    { name: "job/Cargo.toml", data: "[package]\nname = \"x\"\n" },
    { name: "job/notes.json", data: "{\"name\": \"x\"}" },
    { name: "job/env.txt", data: ENV },
  ]), "job.tar"]);
  assert.equal(status, "done");
  const formats = Object.fromEntries(inputs.map(({ filename, format }) => [filename, format]));
  assert.equal(formats["job/pretrain.yaml"], "config-yaml");
  assert.equal(formats["job/env.txt"], "env");
  for (const name of ["ci.yaml", "broken.yaml", "Cargo.toml"])
    assert.equal(formats[`job/${name}`], "text", name);
  assert.deepEqual((await rows("mixed", "job_settings"))
    .filter(({ file }) => file === "job/env.txt").map(({ name, value }) => [name, value]),
  [["NCCL_ALGO", "Ring"], ["CUDA_DEVICE_MAX_CONNECTIONS", "1"]]);
});

test("a configuration of something else says so", async () => {
  const reply = await send("other", ["on: push\njobs: {}\n", "ci.yaml"]);
  assert.equal(reply.code, 422);
  assert.match(reply.detail, /YAML without settings of a training job/);
});

test("what differs is compared under one name, with the file that says so", async () => {
  const trace = (us) => [small_json({ rank: 0, kernel_us: us }), "rank0.json"];
  await send("base", trace(20), [megatron_log({ steps: 8 }), "train.log"], [YAML, "pretrain.yaml"],
    [ENV, "env.txt"]);
  await send("cand", trace(22), [DEEPSPEED, "ds_config.json"],
    [YAML.replace("global_batch_size: 128", "x: 1").replace("4096", "8192"), "pretrain.yaml"],
    [ENV.replace("Ring", "Tree"), "env.txt"]);
  const reply = await server.request("/api/v1/compare/settings?base=base&cand=cand&limit=all");
  assert.deepEqual(reply_faults("GET", "/api/v1/compare/settings", reply), []);
  const by_key = Object.fromEntries(reply.json.items.map((row) => [row.key, row]));
  const batch = by_key.global_batch_size;
  assert.deepEqual([batch.base, batch.cand_value, batch.differs, batch.unit],
    ["128", "256", true, "samples"]);
  assert.deepEqual([batch.base_source, batch.cand_file], ["file", "ds_config.json"]);
  assert.deepEqual([by_key.seq_length.base, by_key.seq_length.cand_value], ["4096", "8192"]);
  assert.equal(by_key.seq_length.base_contradicts, false);
  assert.equal(by_key.NCCL_ALGO.cand_value, "Tree");
  assert.equal(by_key.zero_stage.differs, false); // the base has no such file
  assert.equal(by_key.CUDA_DEVICE_MAX_CONNECTIONS, undefined); // the same, of no standard name
  assert.equal(reply.json.items[0].differs, true);
});

test("settings of runs without a trace are compared", async () => {
  const reply = await server.request("/api/v1/compare/settings?base=yaml&cand=results&limit=all");
  assert.equal(reply.status, 200);
  const [first] = reply.json.items;
  assert.deepEqual([first.key, first.base, first.cand_value, first.differs],
    ["global_batch_size", "128", "64", true]);
  assert.equal((await server.request("/api/v1/compare/runs?base=yaml&cand=results")).status, 409);
});
