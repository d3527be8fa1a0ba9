// SPDX-License-Identifier: Apache-2.0
// A database of Nsight Systems, or what SGLang merged, may hold several processes: each becomes a
// rank of the run.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { tar } from "./helpers/archives.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import { run_program, temporary } from "./helpers/tools.mjs";

let server;

before(async () => {
  server = await start_server();
});
after(() => server?.stop());

/** An export with a kernel of 5 us on each device, of 1 us more on each further one, and of 10 us
 * more on each further node. */
async function nsys(processes, node = 0) {
  const path = join(temporary("nsys"), "job.sqlite");
  const rows = Array.from({ length: processes }, (_, i) =>
    `(1000, ${6000 + 1000 * i + 10000 * node}, ${i}, 7, 1, ${(1000 + i) * 2 ** 24}, 1)`);
  await run_program("sqlite3", [path, `
    CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    INSERT INTO StringIds VALUES (1, 'gemm');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT,
      correlationId INT, globalPid INT, demangledName INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ${rows};`]);
  return readFileSync(path);
}

async function upload(run, data, filename, more = {}) {
  const parts = [...fields({ run }), file_part(data, filename), ...fields(more)];
  const { json: reply } = await server.post(parts, "/upload?wait=60");
  const { items } = await server.get(`/runs/${run}/ranks?limit=all`);
  return { reply, busy: items.map(({ rank, busy_ns }) => [rank, busy_ns]) };
}

test("the processes of a file are ranks, however it is sent", async () => {
  const data = await nsys(3);
  const ranks = [[0, 5000], [1, 6000], [2, 7000]];
  const archive = tar([{ name: "job/node0.sqlite", data }]);
  for (const [run, bytes, name] of [["plain", data, "job.sqlite"],
    ["gzip", gzipSync(data), "job.sqlite.gz"], ["tar", archive, "job.tar"]]) {
    const { reply, busy } = await upload(run, bytes, name);
    assert.equal(reply.status, "done", run);
    assert.deepEqual(busy, ranks, run);
  }
});

/** Two ranks as SGLang merges them, with a kernel of 5 and of 6 us on device 0 of each. */
function merged_ranks() {
  const kernel = (rank) => ({ ph: "X", cat: "kernel", name: "gemm", pid: `[TP0${rank}] 0`, tid: 7,
    ts: 10, dur: 5 + rank, args: { device: 0, stream: 7, correlation: 1 } });
  return Buffer.from(JSON.stringify({ traceEvents: [kernel(0), kernel(1)] }));
}

test("ranks that SGLang merged into a file are ranks of the run, however sent", async () => {
  const data = merged_ranks(), name = "merged-1767900123.trace.json";
  for (const [run, bytes, filename] of [["merged", data, name],
    ["merged-gzip", gzipSync(data), `${name}.gz`],
    ["merged-tar", tar([{ name, data }]), "job.tar"]]) {
    const { reply, busy } = await upload(run, bytes, filename);
    assert.equal(reply.status, "done", run);
    assert.deepEqual(busy, [[0, 5000], [1, 6000]], run);
  }
});

test("a file with one process takes a rank field, one with several does not", async () => {
  const alone = await upload("alone", await nsys(1), "job.sqlite", { rank: 4 });
  assert.deepEqual(alone.busy, [[4, 5000]]);
  const several = await upload("several", await nsys(2), "job.sqlite", { rank: 4 });
  assert.match(several.reply.detail, /found several processes, expected one/);
});

test("the same file again changes nothing", async () => {
  const data = await nsys(2);
  await upload("again", data, "job.sqlite");
  const { reply, busy } = await upload("again", data, "job.sqlite");
  assert.equal(reply.traces.length, 2);
  assert.ok(reply.traces.every(({ existing }) => existing));
  assert.equal(busy.length, 2);
});

test("ranks of several files are in the order of files and devices", async () => {
  const nodes = [2, 10, 1].map((node) => ({ node, data: nsys(2, node) }));
  for (const round of [0, 1, 2]) {
    const run = `nodes-${round}`;
    const parts = await Promise.all(nodes.map(async ({ node, data }) =>
      file_part(await data, `node${node}.sqlite`)));
    await server.post([...fields({ run }), ...parts], "/upload?wait=60");
    const { items } = await server.get(`/runs/${run}/ranks?limit=all`);
    assert.deepEqual(items.map(({ rank, busy_ns }) => [rank, busy_ns]),
      [[0, 15000], [1, 16000], [2, 25000], [3, 26000], [4, 105000], [5, 106000]]);
    const trust = await server.get(`/runs/${run}/trust?limit=all`);
    assert.equal(trust.items.filter(({ item }) => item === "rank_by_order").length, 6);
  }
});
