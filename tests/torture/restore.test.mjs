// SPDX-License-Identifier: Apache-2.0
// The drill: a backup is made while runs come and go, a folder is restored from it, and a service
// started there shows what was acknowledged before the backup began.
import assert from "node:assert/strict";
import { readdirSync, renameSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fields, file_part } from "../e2e/helpers/multipart.mjs";
import { start_server } from "../e2e/helpers/server.mjs";
import { run_status, stepscope_bin, temporary } from "../e2e/helpers/tools.mjs";
import { generate, small_job, small_json } from "../e2e/helpers/traces.mjs";
import { figure, is_long } from "./helpers/torture.mjs";

const GONE = { method: "DELETE", headers: { "If-Match": "*" } };

const BEFORE = is_long ? 200 : 12; // runs present when the backup starts
const COMPARED = "limit=all&fields=rank,window_ns,compute_ns,exposed_comm_ns,idle_ns";

/** What a run shows, without what changes over time. */
async function shown(server, run) {
  const { items } = await server.get(`/runs/${run}/breakdown?${COMPARED}&scope=rank&sort=rank`);
  const kernels = await server.get(`/runs/${run}/kernels?limit=all&sort=name&fields=name,calls`);
  const raw = await server.request(`/api/v1/runs/${run}/ranks/0/trace`);
  const timeline = await server.request(`/api/v1/runs/${run}/timeline?rank=0`);
  return [items, kernels.items, raw.body.length, timeline.status];
}

/** Uploads and deletes its own runs until stopped; returns how many were uploaded. */
async function churn(server, state) {
  for (let i = 0; !state.over; i++) {
    const run = `churn${i}`;
    const data = small_json({ names: [`kernel_of_${run}`] });
    const reply = await server.post([...fields({ run }), file_part(data)]);
    assert.equal(reply.status, 202, reply.text);
    state.uploaded++;
    if (i < 2) continue;
    const gone = await server.request(`/api/v1/runs/churn${i - 2}`, GONE);
    assert.ok([200, 204].includes(gone.status), gone.text);
  }
}

const program = (...args) => run_status(stepscope_bin(), args);

async function must(...args) {
  const { status, stdout, stderr } = await program(...args);
  assert.equal(status, 0, `stepscope ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

test("what a backup was made of beside uploads and deletions is restored whole", async () => {
  const root = temporary("backup");
  const [data, to, back] = ["data", "backup", "restored"].map((name) => join(root, name));
  const job = await generate(small_job());
  const server = await start_server({ data, options: ["--bin-days", "0"] });
  const expected = new Map();
  await server.analyzed("job", job.files);
  for (let i = 1; i < BEFORE; i++) {
    await server.analyzed(`r${i}`, [{ filename: "t.json", data: small_json({ kernel_us: i }) }]);
  }
  for (const run of ["job", ...Array.from({ length: BEFORE - 1 }, (_, i) => `r${i + 1}`)]) {
    expected.set(run, await shown(server, run));
  }
  const state = { over: false, uploaded: 0 };
  const churning = churn(server, state);
  const saved = [];
  for (let round = 0; round < (is_long ? 10 : 3); round++) {
    saved.push(await must("backup", "--data", data, "--to", to));
    assert.match(saved[round], /; 0 damaged/);
  }
  state.over = true;
  await churning;
  assert.ok(state.uploaded > 3, `only ${state.uploaded} uploads beside the backups`);
  await server.stop();

  const output = await must("restore", "--from", to, "--data", back);
  assert.match(output, /what was revoked since has to be revoked again/);
  const checked = await must("check", "--data", back, "--blobs");
  assert.match(checked, /^database: sound$/m);
  assert.match(checked, /, 0 damaged$/m);
  const restored = await start_server({ data: back });
  for (const [run, figures] of expected) assert.deepEqual(await shown(restored, run), figures, run);
  await restored.stop();
  const files = /files: (\d+) of/.exec(checked)[1];
  figure("R16", `${saved.length} backups beside ${state.uploaded} uploads, restored: database ` +
    `sound, ${files} of ${files} files have their hash, ${expected.size} runs show their figures`);
});

test("a database that was emptied is reported as damaged, not as an internal error", async () => {
  const root = temporary("emptied");
  const [data, to, back] = ["data", "backup", "restored"].map((name) => join(root, name));
  await (await start_server({ data })).stop();
  await must("backup", "--data", data, "--to", to);
  truncateSync(join(to, "stepscope.db"));
  const restore = await program("restore", "--from", to, "--data", back);
  assert.equal(restore.status, 7, restore.stderr);
  assert.match(restore.stderr, /the database is damaged: it has none of our tables/);
  assert.ok(!readdirSync(back).some((name) => name.startsWith("stepscope.db")), "nothing is left");
  const check = await program("check", "--data", to);
  assert.equal(check.status, 7, check.stderr);
  assert.match(check.stdout, /^database: it has none of our tables/);
});

test("files that went bad or missing are reported by name, and the rest is saved", async () => {
  const root = temporary("damage");
  const [data, to] = ["data", "backup"].map((name) => join(root, name));
  const server = await start_server({ data });
  for (let i = 0; i < 3; i++) {
    const data_of_run = small_json({ kernel_us: i + 5 });
    await server.analyzed(`r${i}`, [{ filename: "t.json", data: data_of_run }]);
  }
  await server.stop();
  const shards = readdirSync(join(data, "blobs")).filter((shard) =>
    readdirSync(join(data, "blobs", shard)).length > 0);
  const [sha256] = readdirSync(join(data, "blobs", shards[0]));
  renameSync(join(data, "blobs", shards[0], sha256), join(root, "away"));
  const backup = await program("backup", "--data", data, "--to", to);
  assert.equal(backup.status, 7);
  assert.match(backup.stdout, new RegExp(`^file ${sha256} is missing$`, "m"));
  const check = await program("check", "--data", data);
  assert.equal(check.status, 1);
  assert.match(check.stdout, new RegExp(`^file ${sha256} is missing$`, "m"));
  assert.equal((await program("check", "--data", to)).status, 1);
  assert.ok(statSync(join(to, "stepscope.db")).size > 0);
});
