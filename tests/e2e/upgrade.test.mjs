// SPDX-License-Identifier: Apache-2.0
// From the last release to this program and back, with data of both. The other program is
// STEPSCOPE_PREVIOUS, which tests/previous builds.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { start_server } from "./helpers/server.mjs";
import { run_program, skipped, stepscope_bin, temporary } from "./helpers/tools.mjs";
import { generate, small_job } from "./helpers/traces.mjs";

const previous = process.env.STEPSCOPE_PREVIOUS ?? "";
const current = stepscope_bin();
const data = join(temporary("upgrade"), "data");
const database = join(data, "stepscope.db");

/** What the service of one of the two programs answers; it is stopped afterwards. */
async function served_by(program, body, from = data) {
  process.env.STEPSCOPE_BIN = program;
  try {
    const server = await start_server({ data: from, options: ["--auth", "required"] });
    server.credentials = credentials;
    const result = await body(server);
    await server.stop();
    return { result, log: server.log };
  } finally {
    process.env.STEPSCOPE_BIN = current;
  }
}

const credentials = {};

/** All that people would miss. */
async function all_of(server, run) {
  const summary = await server.get(`/runs/${run}/summary`);
  const { note, meta } = await server.get(`/runs/${run}`);
  const kernels = await server.get(`/runs/${run}/kernels?sort=name`);
  return { summary: summary.summary, breakdown: summary.breakdown, note, meta,
    kernels: kernels.items.map((row) => [row.name, row.calls, row.total_ns]) };
}

/** Starts the service of this program and kills it a little later, wherever it is by then. */
async function kill_after(from, wait_ms) {
  const args = ["serve", "--listen", "127.0.0.1:0", "--auth", "required", "--data", from];
  const child = spawn(current, args, { stdio: "ignore" });
  setTimeout(() => child.kill("SIGKILL"), wait_ms);
  const [, signal] = await once(child, "exit");
  assert.equal(signal, "SIGKILL");
}

const upload = async (server, run) => server.post([
  { name: "run", data: run }, { name: "meta", data: "commit=1f2e3d4" },
  { name: "trace", data: (await generate(small_job())).files[0].data, filename: "rank0.json" }],
"/upload?wait=60", credentials);

test("data of the last release opens here, and there is a way back", {
  skip: !previous && skipped("updates: STEPSCOPE_PREVIOUS names no program of the last release"),
}, async () => {
  const token = await run_program(previous, ["token", "create", "--name", "me", "--scopes", "admin",
    "--data", data]);
  credentials.Authorization = `Bearer ${token.trim()}`;
  const before = await served_by(previous, async (server) => {
    assert.equal((await upload(server, "old")).status, 200);
    await server.send("PUT", "/baselines/main", { run: "old" }, credentials);
    return all_of(server, "old");
  });
  assert.ok(before.result.kernels.length > 0);

  // Killed on the way up, again and again: the same figures.
  const killed = `${data}.killed`;
  cpSync(data, killed, { recursive: true });
  for (let wait_ms = 2; wait_ms < 100; wait_ms *= 1.4) await kill_after(killed, wait_ms);
  const risen = await served_by(current, (server) => all_of(server, "@baseline:main"), killed);
  assert.deepEqual(risen.result, before.result);

  // Up: the same figures and the same token, and new data.
  const above = await served_by(current, async (server) => {
    const same = await all_of(server, "@baseline:main");
    assert.equal((await upload(server, "new")).status, 200);
    return same;
  });
  assert.deepEqual(above.result, before.result);

  const upgraded = /database schema upgraded from (\d+) to (\d+)/.exec(above.log);
  if (upgraded) {
    // Back, with the database as it is: refused, and left alone.
    await assert.rejects(served_by(previous, () => null), (error) => {
      assert.match(String(error), new RegExp(`schema ${upgraded[2]}.* up to ${upgraded[1]}`));
      return true;
    });
    // Back, with the copy that was made before the update.
    const copy = `stepscope.db.schema-${upgraded[1].padStart(4, "0")}`;
    assert.ok(readdirSync(data).includes(copy), readdirSync(data).join(" "));
    for (const end of ["-wal", "-shm"]) rmSync(database + end, { force: true });
    copyFileSync(join(data, copy), database);
  }
  const below = await served_by(previous, async (server) => {
    const found = await server.request("/api/v1/runs/new");
    assert.equal(found.status, upgraded ? 404 : 200);
    return all_of(server, "old");
  });
  assert.deepEqual(below.result, before.result);

  // And up again, where what was lost with the copy is sent again.
  const again = await served_by(current, async (server) => {
    assert.ok([200, 202].includes((await upload(server, "new")).status));
    assert.deepEqual((await all_of(server, "new")).kernels, before.result.kernels);
    return all_of(server, "old");
  });
  assert.deepEqual(again.result, before.result);
});
