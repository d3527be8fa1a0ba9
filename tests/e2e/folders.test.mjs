// SPDX-License-Identifier: Apache-2.0
// Folders of many ranks as jobs leave them: all in one request, or each host its own file at the
// same time.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { guide_script } from "./helpers/documents.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import { run_shell, temporary } from "./helpers/tools.mjs";
import { small_json } from "./helpers/traces.mjs";

let server;
before(async () => {
  server = await start_server({ crowd: true });
});
after(() => server?.stop());

const numbers = (count) => Array.from({ length: count }, (_, i) => i);
const trace_of = (rank) => small_json({ names: [`kernel_${rank}`], steps: 2 });
const rank_numbers = async (run) =>
  (await server.get(`/runs/${run}/ranks?limit=all&sort=rank`)).items.map(({ rank }) => rank);

test("one request takes 64 ranks, known by the folders that their files came from", async () => {
  const parts = numbers(64).map((rank) =>
    file_part(trace_of(rank), `exp/rank-${rank}/step_20.pt.trace.json`));
  const reply = await server.post([...fields({ run: "tree" }), ...parts]);
  assert.equal(reply.status, 202, reply.text);
  await server.settled("tree");
  assert.deepEqual(await rank_numbers("tree"), numbers(64));
  const { traces } = await server.get(`/uploads/${reply.json.upload}`);
  assert.ok(traces.every(({ rank_from }) => rank_from === "filename"));
  const more = [...parts, file_part(trace_of(64), "rank-64.json")];
  assert.equal((await server.post([...fields({ run: "tree2" }), ...more])).status, 413);
});

test("many hosts upload their own ranks at once into one run", async () => {
  const folder = temporary("hosts");
  const ranks = numbers(48);
  for (const rank of ranks) {
    mkdirSync(join(folder, `rank-${rank}`));
    writeFileSync(join(folder, `rank-${rank}`, "trace.json"), trace_of(rank));
  }
  // Each is one host's command; xargs merely starts them all at once.
  await run_shell(`cd ${folder} && ls -d rank-*/trace.json | xargs -P 48 -I{} ` +
    `curl -sS --fail-with-body --retry 20 --retry-all-errors -o /dev/null ` +
    `-F run=hosts -F "trace=@{};filename={}" ${server.base}/upload`);
  await server.settled("hosts");
  assert.deepEqual(await rank_numbers("hosts"), ranks);
  const list = await server.get("/runs?q=hosts");
  assert.equal(list.items.length, 1);
});

test("the guide's lines for a job's folder work as they stand", async () => {
  const folder = temporary("exp42");
  const files = ["rank0.json.gz", "rank1.json.gz", "rank-2/t.json.gz", "rank-3/t.json.gz"];
  files.forEach((name, rank) => {
    const path = join(folder, "exp42", name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, gzipSync(trace_of(rank)));
  });
  const script = guide_script("rank-*").replaceAll("http://HOST", server.base);
  await run_shell(`set -e\n${script.replaceAll("curl ", "curl -sS ")}`, { cwd: folder });
  const run = await server.settled("exp42");
  assert.equal(run.complete, true);
  assert.deepEqual(await rank_numbers("exp42"), numbers(4));
});

test("a run is complete with its last rank, or when no more are said to come", async () => {
  const upload = (rank) => server.post([...fields({ run: "few", rank, world_size: 3 }),
    file_part(trace_of(rank))]);
  await upload(0);
  await upload(1);
  await server.settled("few");
  assert.equal((await server.get("/runs/few")).complete, false);
  const reply = await server.request("/api/v1/runs/few/finalize", { method: "POST" });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.json.complete, true);
  await upload(2);
  assert.equal((await server.settled("few")).complete, true);
  assert.deepEqual(await rank_numbers("few"), [0, 1, 2]);
});

test("a finding is dismissed with a reason and taken back", async () => {
  const { items } = await server.get("/runs/tree/findings?limit=all");
  assert.ok(items.length > 0, "idle kernels of 20 us are worth a finding");
  const path = `/api/v1/runs/tree/dismissals/${encodeURIComponent(items[0].id)}`;
  const put = (body) => server.request(path, { method: "PUT", body: JSON.stringify(body),
    headers: { "Content-Type": "application/json" } });
  assert.equal((await put({ reason: "" })).status, 400);
  assert.equal((await put({ why: "x" })).status, 400);
  const reply = await put({ reason: "a synthetic job" });
  assert.equal(reply.status, 200, reply.text);
  const [dismissal] = (await server.get("/runs/tree/dismissals")).items;
  assert.equal(dismissal.finding, items[0].id);
  assert.equal(dismissal.reason, "a synthetic job");
  assert.equal((await server.request(path, { method: "DELETE" })).status, 200);
  assert.equal((await server.request(path, { method: "DELETE" })).status, 404);
  assert.deepEqual((await server.get("/runs/tree/dismissals")).items, []);
});
