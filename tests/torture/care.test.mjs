// SPDX-License-Identifier: Apache-2.0
// What is deleted is nowhere, what is old goes, what rots is reported, and a failed flush is never
// trusted.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fields, file_part } from "../e2e/helpers/multipart.mjs";
import { start_server } from "../e2e/helpers/server.mjs";
import { run_program, temporary, until } from "../e2e/helpers/tools.mjs";
import { small_json } from "../e2e/helpers/traces.mjs";
import { ACTIONS, Faults } from "./helpers/faults.mjs";
import { files_below, if_there } from "./helpers/ledger.mjs";
import { figure } from "./helpers/torture.mjs";

const GONE = { method: "DELETE", headers: { "If-Match": "*" } };

const DAY_S = 86_400;

/** The files below a folder that contain one of some texts. */
const holding = (folder, texts) => files_below(folder).filter((path) => {
  const bytes = if_there(() => readFileSync(path));
  return bytes !== null && texts.some((text) => bytes.includes(text));
});

const sql = (data, text) => run_program("sqlite3", [join(data, "stepscope.db"), text]);

const file = (what) => ({ filename: "t.json", data: small_json(what) });

test("of a deleted run no byte is left in the data folder", async () => {
  const data = join(temporary("gone"), "data");
  const server = await start_server({ data, options: ["--bin-days", "0"] });
  const words = ["ZebraRun", "ZebraTag", "ZebraNote", "ZebraKernel", "ZebraFile", "ZebraMeta",
    "ZebraSecond"];
  const kept = await server.analyzed("kept", [file({ names: ["kept_kernel"] })]);
  const names = Array.from({ length: 300 }, (_, i) => `ZebraKernel${i}`);
  const whole = small_json({ names });
  const ids = []; // deleting by name puts that name in the audit log
  for (const run of ["ZebraRun", "ZebraSecond"]) {
    const parts = [...fields({ run, tag: "k=ZebraTag", note: "ZebraNote", meta: "m=ZebraMeta" }),
      file_part(whole, "ZebraFile.json")];
    const reply = await server.post(parts);
    assert.equal(reply.status, 202, reply.text);
    await server.settled(run);
    ids.push(reply.json.run);
  }
  const before = holding(data, words);
  assert.ok(before.length >= 2, "rows and the trace's file hold them");
  for (const id of ids) {
    const reply = await server.request(`/api/v1/runs/${id}`, GONE);
    assert.ok([200, 204].includes(reply.status), reply.text);
  }
  const begin = performance.now();
  await until("their bytes are gone", () => holding(data, words).length === 0);
  const took_s = (performance.now() - begin) / 1000;
  assert.equal((await server.get(`/runs/${kept.id}`)).status, "done");
  await server.stop();
  assert.deepEqual(holding(data, words), []);
  figure("S6", `2 deleted runs of ${(whole.length / 1e6).toFixed(1)} MB: 0 bytes of ` +
    `${words.length} texts found in the data folder ${took_s.toFixed(1)} s later`);
});

test("runs that are too old go, but baselines and younger ones stay", async () => {
  const data = join(temporary("retain"), "data");
  const first = await start_server({ data });
  for (const run of ["old", "pinned", "young"]) {
    await first.analyzed(run, [file({ names: [`${run}_kernel_name`] })]);
  }
  const { status } = await first.send("PUT", "/baselines/main", { run: "pinned" });
  assert.ok([200, 201, 204].includes(status));
  const { id: old } = await first.get("/runs/old");
  await first.stop();
  await sql(data, `UPDATE stored_run SET created_ns = created_ns - ${3 * DAY_S}000000000 ` +
    "WHERE name IN ('old', 'pinned')");
  const second = await start_server({ data, options: ["--retain-days", "2", "--bin-days", "0"] });
  await until("the old run is gone", async () => (await second.get("/runs")).items.length === 2);
  const { items } = await second.get("/runs");
  assert.deepEqual(items.map(({ name }) => name).sort(), ["pinned", "young"]);
  const noted = await until("the audit log says so", async () => {
    const found = (await second.get("/audit")).items.filter(({ who }) => who === "retention");
    return found.length > 1 && found;
  });
  assert.deepEqual(noted.map(({ action, object }) => [action, object]).reverse(),
    [["delete run", old], ["delete run for good", old]]);
  await until("its bytes are gone", () => holding(data, ["old_kernel_name"]).length === 0);
  await second.stop();
});

test("a file that rots is reported, and mended by the same bytes", async () => {
  const data = join(temporary("rot"), "data");
  const first = await start_server({ data });
  await first.analyzed("r", [file({})]);
  await first.analyzed("sound", [file({ kernel_us: 40 })]);
  await first.stop();
  const [sha256] = (await sql(data, "SELECT sha256 FROM trace JOIN run ON run.id = run_id " +
    "WHERE name = 'r'")).trim().split("\n");
  const path = join(data, "blobs", sha256.slice(0, 2), sha256);
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1] ^= 1;
  writeFileSync(path, bytes);
  await sql(data, "UPDATE blob SET checked_ns = 0");
  const second = await start_server({ data });
  const reported = await until("the damage is reported", async () => {
    const { damaged_files } = await second.get("/storage");
    return damaged_files.length > 0 && damaged_files;
  });
  assert.deepEqual(reported.map((one) => [one.sha256, one.damage, one.filename]),
    [[sha256, "differs from the uploaded bytes", "t.json"]]);
  await until("all were looked at", async () =>
    (await sql(data, "SELECT count(*) FROM blob WHERE checked_ns = 0")).trim() === "0");
  assert.equal((await second.get("/storage")).damaged_files.length, 1);
  const again = await second.post([...fields({ run: "r" }), file_part(small_json({}), "t.json")]);
  assert.equal(again.status, 200, again.text);
  assert.deepEqual((await second.get("/storage")).damaged_files, []);
  assert.ok(!readFileSync(path).equals(bytes));
  await second.stop();
});

test("a file that rots is analyzed again once the same bytes came, not before", async () => {
  const data = join(temporary("rot"), "data");
  const first = await start_server({ data });
  const { step_median_ns } = await first.analyzed("r", [file({})]);
  const [{ sha256, id }] = (await first.get("/runs/r")).traces;
  await first.stop();
  const path = join(data, "blobs", sha256.slice(0, 2), sha256);
  const text = readFileSync(path, "utf8");
  const kept = join(data, "traces", id.slice(2, 4), `${id}.sst`);
  const other = text.replace(/\d(?=\D*$)/, (digit) => (Number(digit) + 1) % 10);
  assert.notEqual(other, text);
  const spoil = [() => writeFileSync(path, other), () => unlinkSync(path)];
  for (const harm of spoil) {
    harm();
    unlinkSync(kept);
    await sql(data, "UPDATE blob SET checked_ns = checked_ns - 7200000000000");
    const server = await start_server({ data });
    await server.send("POST", "/runs/r/reanalyze");
    const run = await server.settled("r");
    assert.equal(run.status, "failed");
    assert.match(run.traces[0].error, /^the stored file .*: upload it again$/);
    assert.equal((await server.get("/storage")).damaged_files.length, 1);
    const again = await server.post([...fields({ run: "r" }), file_part(text, "t.json")]);
    assert.equal(again.status, 200, again.text);
    const mended = await server.settled("r");
    assert.deepEqual([mended.status, mended.step_median_ns], ["done", step_median_ns]);
    assert.deepEqual((await server.get("/storage")).damaged_files, []);
    await server.stop();
  }
});

test("after a flush failed uploads are refused until a restart, and reading goes on", async () => {
  const data = join(temporary("flush"), "data");
  const faults = new Faults(data);
  const first = await faults.start({ data });
  await first.analyzed("before", [file({})]);
  faults.arm({ kind: "sync", action: ACTIONS.EIO });
  const parts = (run, kernel_us) => [...fields({ run }), file_part(small_json({ kernel_us }))];
  const failed = await first.post(parts("failed", 31));
  assert.ok(failed.status >= 500, failed.text);
  assert.ok(faults.clear() > 0, "no call was made to fail");
  for (let i = 0; i < 3; i++) {
    const refused = await first.post(parts(`refused${i}`, 32 + i));
    assert.equal(refused.status, 503, refused.text);
    assert.match(refused.json.detail, /a disk write failed/);
  }
  assert.equal((await first.request("/readyz")).status, 503);
  assert.equal((await first.get("/runs")).items.length, 1);
  assert.equal((await first.request("/healthz")).status, 200);
  assert.notEqual((await first.get("/storage")).disk_fault, "");
  await first.kill();
  faults.close();
  const second = await start_server({ data });
  assert.deepEqual((await second.get("/runs")).items.map(({ name }) => name), ["before"]);
  assert.equal((await second.post(parts("after", 50))).status, 202);
  assert.equal((await second.settled("after")).status, "done");
  assert.deepEqual(readdirSync(join(data, "spool")), []);
  await second.stop();
});
