// SPDX-License-Identifier: Apache-2.0
// SIGKILL at any moment: after a restart, what was acknowledged gets finished with correct numbers,
// and nothing else remains. STEPSCOPE_KILLS sets the rounds, STEPSCOPE_SEED the moments.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import {
  chance, fast_tmpdir, run_program, temporary, until,
} from "./helpers/tools.mjs";
import { generate, small_job, small_json } from "./helpers/traces.mjs";

const ROUNDS = Number(process.env.STEPSCOPE_KILLS ?? 15);
const SEED = Number(process.env.STEPSCOPE_SEED ?? 1);
const LATEST_KILL_MS = 400;

let job;
before(async () => {
  job = await generate(small_job("--steps", "12", "--layers", "4"));
});

const COMPARED = "limit=all&fields=rank,window_ns,compute_ns,exposed_comm_ns,idle_ns";

/** What a run of the generated job must show. */
async function figures(server, run) {
  const breakdown = await server.get(`/runs/${run}/breakdown?${COMPARED}&scope=rank&sort=rank`);
  const kernels = await server.get(`/runs/${run}/kernels?limit=all&sort=name&fields=name,calls`);
  return [breakdown.items, kernels.items];
}

/** Every file below a folder. */
function files_below(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => entry.isDirectory()
    ? files_below(join(folder, entry.name)) : [join(folder, entry.name)]);
}

/** Uploads runs until the service dies; returns the names of the acknowledged ones. */
async function upload_until_killed(server, round) {
  const acknowledged = [];
  const one = async (client) => {
    for (let i = 0; server.exit === null && i < 100; i++) {
      const run = `r${round}-c${client}-${i}`;
      const parts = job.files.map(({ data, filename }) => file_part(data, filename));
      const reply = await server.post([...fields({ run }), ...parts]).catch(() => null);
      if (!reply) return;
      assert.equal(reply.status, 202, reply.text);
      acknowledged.push(run);
    }
  };
  await Promise.all([one(0), one(1)]);
  return acknowledged;
}

test(`after ${ROUNDS} kills at random moments every acknowledged upload is there and right`,
  async (t) => {
    const data = join(temporary("kills", fast_tmpdir()), "data");
    const random = chance(SEED);
    const acknowledged = [];
    let expected = null;
    for (let round = 0; round < ROUNDS; round++) {
      const server = await start_server({ data });
      if (!expected) {
        await server.analyzed("expected", job.files);
        expected = await figures(server, "expected");
      }
      const uploads = upload_until_killed(server, round);
      const moment = performance.now() + random() * LATEST_KILL_MS;
      await until("the moment of the kill", () => performance.now() >= moment);
      await server.kill();
      acknowledged.push(...await uploads);
    }
    t.diagnostic(`${acknowledged.length} uploads were acknowledged before ${ROUNDS} kills`);
    assert.ok(acknowledged.length > ROUNDS / 4, `only ${acknowledged.length} uploads`);
    const server = await start_server({ data });
    for (const run of acknowledged) {
      const found = await server.settled(run, 120_000);
      assert.equal(found.status, "done", `${run}: ${found.error}`);
      assert.equal(found.received, 2, run);
      assert.deepEqual(await figures(server, run), expected, run);
    }
    const unsettled = await until("all other runs have settled", async () => {
      const { items } = await server.get("/runs?limit=all");
      return items.every(({ status }) => !["pending", "running"].includes(status)) && items;
    });
    assert.deepEqual(unsettled.filter(({ status }) => status !== "done"), []);
    await server.stop();
    const parts = files_below(data).filter((path) => /\.part$|\.tmp$/.test(path));
    assert.deepEqual(parts, [], "files that nobody finishes");
    const blobs = readdirSync(join(data, "blobs")).flatMap((folder) =>
      files_below(join(data, "blobs", folder)));
    assert.equal(blobs.length, job.files.length, "equal bytes are stored once");
  });

test("an upload that was cut off by the kill leaves no file after the restart", async () => {
  const data = join(temporary("cut"), "data");
  const first = await start_server({ data });
  const hang = first.request("/api/v1/runs/never/ranks/0/trace", { method: "PUT",
    headers: { "Content-Length": 50_000_000 }, body: Buffer.alloc(4_000_000, '{"a":1}\n') });
  const broken = hang.catch(() => "broken");
  await until("the upload is being spooled", () => files_below(join(data, "spool")).length > 0);
  await first.kill();
  assert.equal(await broken, "broken");
  const second = await start_server({ data });
  assert.deepEqual(files_below(join(data, "spool")), []);
  assert.deepEqual((await second.get("/runs")).items, []);
  await second.stop();
});

test("results of an older analysis are recomputed at the next start", async () => {
  const data = join(temporary("stale"), "data");
  const first = await start_server({ data });
  await first.analyzed("stale", job.files);
  const expected = await figures(first, "stale");
  const { revision: _, ...before_it } = await first.get("/runs/stale");
  await first.stop();
  const [db] = files_below(data).filter((path) => /\.(db|sqlite3?)$/.test(path));
  await run_program("sqlite3", [db, "UPDATE trace SET analysis_version = 0;" +
    "DELETE FROM run_table WHERE name = 'kernels'; UPDATE trace_report SET version = 0;"]);
  const second = await start_server({ data });
  await until("the figures are back", async () =>
    (await second.settled("stale")) && (await figures(second, "stale"))[1].length > 0);
  assert.deepEqual(await figures(second, "stale"), expected);
  assert.equal((await second.get("/runs/stale")).id, before_it.id);
  await second.stop();
});

test("what was analyzed is served unchanged after an orderly stop", async () => {
  const data = join(temporary("orderly"), "data");
  const first = await start_server({ data });
  await first.analyzed("kept", job.files, { tag: "a=b", note: "still here" });
  const expected = [await figures(first, "kept"), (await first.get("/runs/kept")).tags];
  await first.stop();
  const second = await start_server({ data });
  const again = [await figures(second, "kept"), (await second.get("/runs/kept")).tags];
  assert.deepEqual(again, expected);
  await second.stop();
});

test("SIGTERM during an analysis ends the service soon and loses nothing", async () => {
  const data = join(temporary("term"), "data");
  const first = await start_server({ data });
  const big = await generate(["--ranks", "1", "--size", "60M", "--format", "zst"]);
  const reply = await first.post([...fields({ run: "term" }),
    ...big.files.map(({ data: bytes, filename }) => file_part(bytes, filename))]);
  assert.equal(reply.status, 202);
  await first.stop();
  const second = await start_server({ data });
  assert.equal((await second.settled("term")).status, "done");
  await second.stop();
});

test("two services cannot share a data directory, and a taken port is said clearly", async () => {
  const data = join(temporary("shared"), "data");
  const first = await start_server({ data });
  await assert.rejects(start_server({ data }), /directory|lock|another/);
  const twin = start_server({ options: ["--listen", `127.0.0.1:${first.port}`] });
  await assert.rejects(twin, /port|in use|taken|listen/i);
  await first.analyzed("fine", [{ filename: "a.json", data: small_json() }]);
  await first.stop();
});

