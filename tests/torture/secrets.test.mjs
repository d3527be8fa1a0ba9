// SPDX-License-Identifier: Apache-2.0
// Sixty made-up secrets of all kinds, planted wherever a trace or a request has room for text:
// not a byte of them is found in the database, its log, kept traces, logs, answers or pages.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fields } from "../e2e/helpers/multipart.mjs";
import { start_server } from "../e2e/helpers/server.mjs";
import { chance, stepscope_bin } from "../e2e/helpers/tools.mjs";
import { small_json } from "../e2e/helpers/traces.mjs";
import { figure, seed } from "./helpers/torture.mjs";

const random = chance(seed);
const ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX = "0123456789abcdef";
const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Random characters from a set. */
const some = (count, set = ALNUM) =>
  Array.from({ length: count }, () => set[Math.floor(random() * set.length)]).join("");

/** For each kind: the text with the secret, and the part of it that must not be found anywhere. */
const KINDS = [
  () => { const s = `hf_${some(34)}`; return [s, s]; },
  () => { const s = `AKIA${some(16, UPPER)}`; return [s, s]; },
  () => { const s = `Aa1${some(37, `${ALNUM}/+`)}`; return [`aws secret ${s}`, s]; },
  () => { const s = `ghp_${some(36)}`; return [s, s]; },
  () => { const s = `github_pat_${some(22)}_${some(59)}`; return [s, s]; },
  () => { const s = `glpat-${some(20)}`; return [s, s]; },
  () => { const s = `sk-ant-api03-${some(93)}`; return [s, s]; },
  () => { const s = `sk-${some(48)}`; return [s, s]; },
  () => { const s = `nvapi-${some(64)}`; return [s, s]; },
  () => { const s = `xoxb-${some(12, "0123456789")}-${some(24)}`; return [s, s]; },
  () => { const s = `AIza${some(35)}`; return [s, s]; },
  () => { const s = `eyJ${some(20)}.eyJ${some(30)}.${some(43)}`; return [s, s]; },
  () => {
    const s = some(64);
    return [`-----BEGIN PRIVATE KEY-----\n${s}\n-----END PRIVATE KEY-----`, s];
  },
  () => { const s = `p${some(14)}`; return [`https://jane:${s}@example.org/x`, s]; },
  () => { const s = `Q${some(30)}`; return [`Authorization: Bearer ${s}`, s]; },
  () => { const s = `v${some(11)}`; return [`docker run -e MY_API_TOKEN=${s} image`, s]; },
  () => { const s = `sk_live_${some(24)}`; return [s, s]; },
  () => { const s = `dckr_pat_${some(27)}`; return [s, s]; },
  () => { const s = `SG.${some(22)}.${some(43)}`; return [s, s]; },
  () => { const s = `dop_v1_${some(64, HEX)}`; return [s, s]; },
  () => { const s = `dapi${some(32, HEX)}`; return [s, s]; },
  () => { const s = `${some(9, "123456789")}:AA${some(33)}`; return [s, s]; },
  () => { const s = `SK${some(32, HEX)}`; return [s, s]; },
  () => { const s = some(43); return [`https://x.example.org/c?sv=1&sig=${s}%3D`, s]; },
  () => {
    const s = `T${some(8)}/B${some(8)}/${some(24)}`;
    return [`https://hooks.slack.com/services/${s}`, s];
  },
  () => { const s = `s${some(20)}`; return [`curl -H 'Cookie: a=b; sid=${s}'`, s]; },
  () => { const s = `u${some(12)}`; return [`curl -u jane:${s} https://example.org`, s]; },
  () => { const s = `p${some(12)}`; return [`sshpass -p ${s} ssh host`, s]; },
  () => { const s = `m${some(12)}`; return [`MYSQL_PWD=${s} mysql`, s]; },
];

const planted = [];

/** A text with the next secret in it. */
function plant() {
  const [text, secret] = KINDS[planted.length % KINDS.length]();
  planted.push(secret);
  return text;
}

/** A secret that only the name next to it gives away. */
function plant_bare() {
  const secret = `w${some(13)}`;
  planted.push(secret);
  return secret;
}

/** A trace with secrets in names, arguments, labels and metadata. */
function make_trace() {
  const at = (i) => ({ ts: 1000 + i * 100, dur: 50 });
  const events = [];
  for (let i = 0; i < 32; i++) {
    const args = { device: 0, stream: 7, correlation: i };
    events.push({ ph: "X", cat: "kernel", name: `gemm ${plant()}`, pid: 0, tid: 7, args,
      ...at(i) });
  }
  for (let i = 0; i < 6; i++) {
    const args = { "Input Dims": [[2, 2]], "Concrete Inputs": [plant()],
      "Module Hierarchy": plant() };
    events.push({ ph: "X", cat: "cpu_op", name: "aten::mm", pid: 1, tid: 1, args, ...at(i) });
  }
  events.push({ ph: "X", cat: "user_annotation", name: `ProfilerStep#1 ${plant()}`, pid: 1, tid: 1,
    ...at(0) });
  events.push({ ph: "M", name: "thread_name", pid: 0, tid: 7, args: { name: plant() } });
  events.push({ ph: "X", cat: "cpu_op", name: plant(), pid: plant(), tid: plant(), ...at(7) });
  return JSON.stringify({
    schemaVersion: 1, env: { HF_TOKEN: plant_bare(), PATH: plant(), DB_PASSWORD: plant_bare() },
    argv: ["train.py", "--api-key", plant_bare(), `--token=${plant_bare()}`, plant()],
    nested: JSON.stringify({ WANDB_API_KEY: plant_bare(), line: plant() }),
    MY_SECRET: plant_bare(), [plant()]: 1, traceName: `/x/${plant()}.json`, traceEvents: events,
  });
}

/** Every file below a folder. @returns {string[]} */
const files_of = (folder) => readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path,
    entry.name));

/** Which of the planted secrets occur in some bytes. @param {Buffer | string} bytes */
const found_in = (bytes) => planted.filter((secret) => bytes.includes(secret));

/**
 * A file's bytes, plus the contents of its zstd frames: traces and reports are stored compressed.
 */
function unpacked(path) {
  const bytes = readFileSync(path);
  const parts = [bytes];
  const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
  for (let at = bytes.indexOf(magic); at >= 0; at = bytes.indexOf(magic, at + 4))
    parts.push(spawnSync("zstd", ["-dcq"], { input: bytes.subarray(at) }).stdout);
  return Buffer.concat(parts);
}

/**
 * Everything that can be requested about a run in every format the service describes; and pages.
 */
async function addresses(server, run) {
  const { paths } = await server.get("/openapi.json");
  const asked = Object.keys(paths).filter((path) => paths[path].get && !path.includes("/trace"))
    .map((path) => path.replace("{run}", run)).filter((path) => !path.includes("{"));
  const forms = asked.flatMap((path) => [path, ...["csv", "columns"].flatMap((form) =>
    [`${path}?format=${form}`, `${path}?format=${form}&rank=0`])]);
  return [...forms, `/runs/${run}`, `/runs/${run}/trust`];
}

/** Sends secrets in every field that people fill in. @returns {Promise<string>} the run */
async function send_all(server) {
  const file = { name: "trace", filename: `trace ${plant()}.json`, data: make_trace() };
  const sent = [...fields({ run: "planted", note: `see ${plant()}`,
    tag: `api_key=${plant_bare()}` }),
    ...fields({ meta: `launcher=${plant()}` })];
  const reply = await server.post([...sent, file]);
  assert.equal(reply.status, 202, reply.text);
  assert.deepEqual(found_in(reply.text), []);
  await server.settled("planted");
  const changed = await server.send("PATCH", "/runs/planted", { note: plant(),
    tags: { owner: plant(), password: plant_bare() } }, { "If-Match": "*" });
  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual(found_in(changed.text), []);
  return reply.json.run;
}

test("no planted secret is found anywhere but in the file as it came", async () => {
  const server = await start_server();
  const run = await send_all(server);
  assert.ok(planted.length >= 60, `planted ${planted.length}`);
  const answered = new Map();
  for (const path of await addresses(server, run)) {
    const reply = await server.request(path);
    assert.deepEqual(found_in(reply.text), [], path);
    if (reply.status === 200) answered.set(path, reply.text);
  }
  assert.ok(answered.size > 80, [...answered.keys()].join(" "));
  assert.match(answered.get(`/api/v1/runs/${run}/kernels?format=csv&rank=0`), /\[redacted:/);
  assert.match(answered.get(`/api/v1/runs/${run}/trust?format=csv&rank=0`), /"secrets"/);
  await server.stop();
  assert.deepEqual(found_in(server.log), [], "log");
  const files = files_of(server.data).filter((path) => !path.includes("/blobs/"));
  const kept = files.find((path) => path.endsWith(".sst"));
  assert.ok(unpacked(kept).includes("[redacted:"), "the kept trace was not looked into");
  for (const path of files) assert.deepEqual(found_in(unpacked(path)), [], path);
  figure("S4", `0 bytes of ${planted.length} planted secrets of ${KINDS.length} kinds found`);
});

test("a key that is a secret is refused, and nothing keeps it", async () => {
  const server = await start_server();
  const sent = [];
  const key = () => sent.at(sent.push(`hf_${some(34)}`) - 1);
  const data = '{"traceEvents":[{"ph":"i","ts":1}]}';
  const refused = async (reply) => {
    const { status, text } = await reply;
    assert.equal(status, 400, text);
    assert.ok(!sent.some((secret) => text.includes(secret)), text);
  };
  const put = (query) => server.request(`/api/v1/runs/kept/ranks/0/trace?${query}`,
    { method: "PUT", body: data });
  const any = { "If-Match": "*" };
  assert.equal((await server.send("POST", "/runs", { name: "kept" })).status, 201);
  await refused(put(`meta=${key()}=b`));
  await refused(server.send("PATCH", "/runs/kept", { meta: { [key()]: "b" } }, any));
  await refused(server.send("PATCH", "/runs/kept", { tags: { [key()]: "b" } }, any));
  await refused(server.send("PUT", `/baselines/${key()}`, { run: "kept" }));
  const gone = await server.send("PATCH", "/runs/kept", { meta: { [key()]: null } }, any);
  assert.equal(gone.status, 200, gone.text); // one from before can be removed
  const keyed = () => server.post([...fields({ run: "kept" }),
    { name: "trace", filename: "t.json", data: small_json() }], "/upload",
  { "Idempotency-Key": sent.at(-1) });
  key();
  const first = await keyed();
  assert.equal(first.status, 202, first.text);
  assert.equal((await keyed()).json.upload, first.json.upload);
  await server.stop();
  const token = spawnSync(stepscope_bin(), ["token", "create", "--scopes", "read",
    "--data", server.data, "--name", key()], { encoding: "utf8" });
  assert.equal(token.status, 2, token.stderr);
  assert.match(token.stderr, /token name contains text at byte 0 that looks like a secret/);
  const found = (bytes) => sent.filter((secret) => bytes.includes(secret));
  assert.deepEqual(found(server.log + token.stdout + token.stderr), []);
  for (const path of files_of(server.data)) assert.deepEqual(found(readFileSync(path)), [], path);
});

test("a name that holds a secret is refused, and the refusal does not repeat it", async () => {
  const server = await start_server();
  for (const make of KINDS) {
    const [text, secret] = make();
    const reply = await server.post([...fields({ run: text.replaceAll("\n", " ") }),
      { name: "trace", filename: "t.json", data: '{"traceEvents":[{"ph":"i","ts":1}]}' }]);
    assert.ok(reply.status >= 400 && reply.status < 500, `${text}: ${reply.status}`);
    assert.ok(!reply.text.includes(secret), reply.text);
  }
  assert.equal((await server.get("/runs")).runs?.length ?? 0, 0);
  await server.stop();
});
