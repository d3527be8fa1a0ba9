// SPDX-License-Identifier: Apache-2.0
// Flight Recorder dumps of jobs with known faults: uploaded at once and one by one, alone and with
// traces, they give the tables that `stepscope inspect` of their folder gives.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { tar } from "./helpers/archives.mjs";
import { flight_dumps } from "./helpers/flight_jobs.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import { chance, root, run_program, skipped, stepscope_bin, temporary } from "./helpers/tools.mjs";
import { generate, small_job } from "./helpers/traces.mjs";

const TABLES = ["hang_verdict", "hang_groups", "hang_progress", "hang_ranks"];

let server;

before(async () => (server = await start_server()));
after(() => server?.stop());

async function send(run, ...files) {
  const reply = await server.post([...fields({ run }),
    ...files.map(({ data, name }) => file_part(data, name))], "/upload?wait=60");
  return { ...reply.json, code: reply.status };
}

const rows = async (run, table) =>
  (await server.get(`/runs/${encodeURIComponent(run)}/${table}?limit=all`)).items;

async function tables_of(run) {
  const found = {};
  for (const name of TABLES) found[name] = await rows(run, name);
  return found;
}

/** What the command line says about a folder with the files. */
async function inspected(files) {
  const folder = temporary("dumps");
  for (const { name, data } of files) writeFileSync(join(folder, name), data);
  const text = await run_program(stepscope_bin(), ["inspect", "--format", "json", folder]);
  return JSON.parse(text).files[0];
}

const packed = (files) => ({ name: "dumps.tar", data: tar(files) });

async function assert_as_inspected(run, files) {
  const found = await tables_of(run);
  const { verdict, tables } = await inspected(files);
  assert.equal(found.hang_verdict[0].verdict, verdict);
  for (const name of TABLES) assert.deepEqual(found[name], tables[name] ?? [], name);
  return found;
}

for (const [fault, kind] of [["host", "host"], ["device", "device"], ["mismatch", "mismatch"]]) {
  test(`dumps in an archive name the rank at fault: ${fault}`, async () => {
    const dumps = flight_dumps({ fault, culprit: 6 });
    const reply = await send(fault, packed(dumps));
    assert.equal(reply.status, "done", JSON.stringify(reply));
    const found = await assert_as_inspected(fault, dumps);
    assert.deepEqual([found.hang_verdict[0].kind, found.hang_verdict[0].ranks,
      found.hang_verdict[0].confidence], [kind, "6", "high"]);
    assert.match(found.hang_verdict[0].frames, /^step \(.*train\.py:8[01]\)/);
    assert.equal(found.hang_ranks.length, 16);
    assert.deepEqual(await rows(fault, "trust"), []);
  });
}

test("dumps that come one by one, in any order, give the same", async () => {
  const dumps = flight_dumps({ fault: "host", culprit: 3 });
  const random = chance(7);
  const order = dumps.map((dump) => [random(), dump]).sort((a, b) => a[0] - b[0]);
  for (const [, dump] of order) assert.equal((await send("one by one", dump)).status, "done");
  const found = await assert_as_inspected("one by one", dumps);
  assert.equal(found.hang_verdict[0].ranks, "3");
  await send("at once", packed(dumps));
  assert.deepEqual(await tables_of("at once"), found);
});

test("a run with traces has both its figures and the verdict", async () => {
  const { files } = await generate(small_job());
  const dumps = flight_dumps({ fault: "device", culprit: 9 });
  const reply = await send("both", packed(dumps),
    ...files.map(({ data, filename }) => ({ data, name: filename })));
  assert.equal(reply.status, "done");
  assert.equal((await rows("both", "hang_verdict"))[0].ranks, "9");
  assert.ok((await rows("both", "kernels")).length > 0);
});

test("a dump that cannot be used is a doubt, and the others still count", async () => {
  const dumps = flight_dumps({ fault: "host", culprit: 5 });
  await send("doubts", packed(dumps), { name: "dump_of_the_master", data: dumps[0].data },
    { name: "again/nccl_trace_rank_2", data: dumps[5].data });
  const [verdict] = await rows("doubts", "hang_verdict");
  assert.ok(["5", "2,5"].includes(verdict.ranks), verdict.ranks);
  const items = (await rows("doubts", "trust")).map(({ item, count }) => [item, count]);
  assert.deepEqual(items.sort(), [["dump_without_rank", 1], ["dumps_of_one_rank", 1]]);
});

test("a rank whose dump is missing is named", async () => {
  const dumps = flight_dumps({ fault: "host", culprit: 11 }).filter((_, rank) => rank !== 11);
  await send("missing", packed(dumps));
  const found = await assert_as_inspected("missing", dumps);
  assert.deepEqual([found.hang_verdict[0].kind, found.hang_verdict[0].ranks], ["no_dump", "11"]);
});

const samples = resolve(root, "../shared/samples/torch");
const absent = !existsSync(samples) && skipped(`real dumps: ${samples} is absent`);
for (const [folder, ranks] of [["fr_gpu_error_1st", "12,14"], ["fr_lock_gil_1st", "9,14"]]) {
  test(`real dumps with injected faults: ${folder}`, { skip: absent }, async () => {
    const dumps = readdirSync(join(samples, folder)).filter((name) => name.startsWith("_dump_"))
      .map((name) => ({ name, data: readFileSync(join(samples, folder, name)) }));
    await send(folder, packed(dumps));
    const found = await assert_as_inspected(folder, dumps);
    assert.equal(found.hang_verdict[0].ranks, ranks);
  });
}
