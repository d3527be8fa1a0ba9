// SPDX-License-Identifier: Apache-2.0
// Deleted runs over HTTP: in the bin and nowhere else, restored, gone for good; and which runs the
// retention rules take, in a dry run and by the service.
import assert from "node:assert/strict";
import { statfsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { start_server } from "./helpers/server.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { run_program, stepscope_bin, temporary, until } from "./helpers/tools.mjs";
import { small_json } from "./helpers/traces.mjs";

const DAY_NS = 86_400_000_000_000n;
const ANY = { "If-Match": "*" };

let server;
before(async () => {
  server = await start_server();
});
after(() => server.stop());

const file = (what) => [{ data: small_json(what), filename: "rank0.json" }];
const call = (method, path, of = server) =>
  of.request(`/api/v1${path}`, { method, headers: ANY });
const remove = async (run, of = server) => {
  const reply = await call("DELETE", `/runs/${run}`, of);
  assert.equal(reply.status, 200, reply.text);
  return reply.json;
};
const names_of = ({ items }) => items.map(({ name }) => name).sort();

test("a deleted run is in the bin and nowhere else", async () => {
  for (const number of [1, 2, 3]) await server.analyzed(`seen@${number}`, file({ kernel_us: 20 }));
  const deleted = await remove("seen@3");
  assert.equal(deleted.name, "seen@3");
  assert.equal(deleted.deleted_by, "local");
  assert.equal(Date.parse(deleted.goes) - Date.parse(deleted.deleted), 30 * 86_400_000);
  const paths = ["", "/kernels", "/summary", "/ranks/0/trace", "/timeline?rank=0"];
  for (const path of paths) {
    assert.equal((await call("GET", `/runs/${deleted.id}${path}`)).status, 404, path);
    assert.equal((await call("GET", `/runs/seen@3${path}`)).status, 404, path);
  }
  assert.deepEqual(names_of(await server.get("/runs?q=seen")), ["seen@1", "seen@2"]);
  assert.deepEqual(names_of(await server.get("/runs?series=seen")), ["seen@1", "seen@2"]);
  assert.deepEqual(names_of(await server.get("/series/seen/points")), ["seen@1", "seen@2"]);
  assert.equal((await server.get("/runs/seen~latest")).name, "seen@2");
  assert.equal((await call("GET", `/compare?base=seen@1&cand=${deleted.id}`)).status, 404);
  const gate = await server.get("/compare/gate?base=seen@1&cand=seen@*");
  assert.ok(!JSON.stringify(gate).includes(deleted.id), "a gate of the series leaves it out");
  const bin = await server.get("/bin");
  assert.deepEqual(names_of(bin), ["seen@3"]);
  assert.equal(bin.days, 30);
  assert.equal(bin.runs, 1);
  assert.ok(bin.items[0].bytes > 0 && bin.bytes === bin.items[0].bytes);
});

test("a restored run is as it was, with the same id and figures", async () => {
  const before_it = await server.analyzed("back", file({ kernel_us: 33 }));
  const kernels = await server.get("/runs/back/kernels");
  const { id } = await remove("back");
  const reply = await call("POST", `/bin/${id}/restore`);
  assert.equal(reply.status, 200, reply.text);
  const after_it = await server.settled("back");
  assert.equal(after_it.id, before_it.id);
  assert.equal(after_it.created, before_it.created);
  assert.equal(after_it.step_median_ns, before_it.step_median_ns);
  assert.deepEqual(await server.get("/runs/back/kernels"), kernels);
  assert.equal((await call("POST", `/bin/${id}/restore`)).status, 404);
});

test("the name of a deleted run is free, and a restore then says what to do", async () => {
  const parts = [...fields({ run: "again", rank: 0 }), file_part(small_json({ names: ["a"] }))];
  const first = await server.post(parts, "/upload", { "Idempotency-Key": "again-1" });
  await server.settled("again");
  await remove("again");
  const second = await server.post(parts, "/upload", { "Idempotency-Key": "again-1" });
  assert.equal(second.status, 202, "neither the name nor the key is taken");
  assert.notEqual(second.json.run, first.json.run);
  const refused = await call("POST", `/bin/${first.json.run}/restore`);
  assert.equal(refused.status, 409);
  assert.match(refused.json.detail, new RegExp(`'again'.*${second.json.run}.*rename`));
  const renamed = await server.send("PATCH", `/runs/${second.json.run}`, { name: "newer" }, ANY);
  assert.equal(renamed.status, 200);
  assert.equal((await call("POST", `/bin/${first.json.run}/restore`)).status, 200);
});

test("nothing can be added to a run in the bin by its id", async () => {
  await server.analyzed("closed", file({ names: ["c"] }));
  const { id } = await remove("closed");
  const reply = await server.post([...fields({ run: id }), file_part(small_json({}))]);
  assert.equal(reply.status, 400, reply.text);
  assert.equal((await server.send("PATCH", `/runs/${id}`, { note: "x" }, ANY)).status, 404);
  assert.equal((await server.send("PUT", "/baselines/main", { run: id })).status, 404);
});

test("a run goes for good from the bin alone, and all of it at once", async () => {
  for (const run of ["gone1", "gone2", "stays"]) await server.analyzed(run, file({ names: [run] }));
  assert.equal((await call("DELETE", `/bin/${(await server.get("/runs/stays")).id}`)).status, 404);
  const { id } = await remove("gone1");
  assert.equal((await call("DELETE", `/bin/${id}`)).status, 204);
  assert.equal((await call("POST", `/bin/${id}/restore`)).status, 404);
  await remove("gone2");
  const { runs } = await server.get("/bin");
  const emptied = await call("DELETE", "/bin");
  assert.deepEqual(emptied.json, { runs });
  assert.deepEqual(await server.get("/bin"), { days: 30, runs: 0, bytes: 0, items: [] });
  assert.equal((await server.get("/runs/stays")).status, "done");
});

test("deletions, restores and what goes for good have entries in the audit log", async () => {
  const data = join(temporary("noted"), "data");
  const out = await run_program(stepscope_bin(), ["token", "create", "--data", data, "--name",
    "root", "--scopes", "admin"]);
  const token = /ss_\S+/.exec(out)[0];
  const own = await start_server({ data, token, options: ["--auth", "required"] });
  await own.analyzed("noted", file({}));
  const { id } = await remove("noted", own);
  await call("POST", `/bin/${id}/restore`, own);
  await remove("noted", own);
  await call("DELETE", "/bin", own);
  const { items } = await own.get("/audit");
  const deeds = items.filter(({ object }) => object.includes(id)).map(({ action }) => action);
  assert.deepEqual(deeds.reverse().slice(-4), ["DELETE /api/v1/runs/{run}",
    "POST /api/v1/bin/{run}/restore", "DELETE /api/v1/runs/{run}", "delete run for good"]);
  await own.stop();
});

test("without a bin a deletion is for good", async () => {
  const own = await start_server({ options: ["--bin-days", "0"] });
  await own.analyzed("r", file({}));
  assert.equal((await call("DELETE", "/runs/r", own)).status, 204);
  assert.equal((await own.get("/bin")).runs, 0);
  await own.stop();
});

// --- retention ----------------------------------------------------------------------------------

/** Makes a run look that many days older. */
async function age_run(data, name, days) {
  await run_program("sqlite3", [join(data, "stepscope.db"),
    `UPDATE stored_run SET created_ns = created_ns - ${BigInt(days) * DAY_NS} ` +
    `WHERE name = '${name}'`]);
}

const DAYS = { "nightly@1": 100, "nightly@2": 99, "nightly@3": 50, "nightly@4": 1, pinned: 200 };

async function aged_store() {
  const data = join(temporary("retention"), "data");
  const first = await start_server({ data });
  for (const name of Object.keys(DAYS)) await first.analyzed(name, file({ names: [name] }));
  assert.equal((await first.send("PUT", "/baselines/main", { run: "pinned" })).status, 200);
  await first.stop();
  for (const [name, days] of Object.entries(DAYS)) await age_run(data, name, days);
  return data;
}

test("a dry run says what would go, why, and what that frees, and deletes nothing", async () => {
  const data = await aged_store();
  const own = await start_server({ data });
  assert.deepEqual((await own.get("/retention")).items, [], "no rule, nothing goes");
  const plan = await own.get("/retention?days=90");
  assert.deepEqual(plan.items.map(({ name, reason, to }) => [name, reason, to]),
    [["nightly@1", "age", "bin"], ["nightly@2", "age", "bin"]]);
  const sum = plan.items.reduce((bytes, item) => bytes + item.bytes, 0);
  assert.ok(sum > 0 && plan.to_bin_bytes === sum && plan.stored_bytes > sum);
  const newest = await own.get("/retention?days=30&newest=3");
  assert.deepEqual(names_of(newest), ["nightly@1"]);
  const size = await own.get(`/retention?size=${plan.stored_bytes - 1}`);
  assert.deepEqual(size.items.map(({ name, reason }) => [name, reason]), [["nightly@1", "size"]]);
  assert.ok((await own.get("/retention?size=1")).over_bytes > 0, "the baseline stays");
  assert.equal((await call("GET", "/retention?days=x", own)).status, 400);
  assert.equal((await own.get("/runs")).total, 5);

  const text = await run_program(stepscope_bin(),
    ["retention", "--data", data, "--retain-days", "90"]);
  assert.match(text, /to the bin .*older than --retain-days .*default\/nightly@1/);
  assert.match(text, /2 of 5 runs would be deleted/);
  assert.equal((await own.get("/runs")).total, 5);
  await own.stop();
});

test("what the rules take goes to the bin, by age first, and can be restored", async () => {
  const data = await aged_store();
  const own = await start_server({ data, options: ["--retain-days", "90"] });
  await until("the old runs are gone", async () => (await own.get("/bin")).runs === 2);
  const bin = await own.get("/bin");
  assert.deepEqual(names_of(bin), ["nightly@1", "nightly@2"]);
  assert.deepEqual(bin.items.map(({ deleted_by }) => deleted_by), ["retention", "retention"]);
  assert.deepEqual(names_of(await own.get("/runs")), ["nightly@3", "nightly@4", "pinned"]);
  assert.equal((await call("POST", `/bin/${bin.items[0].id}/restore`, own)).status, 200);
  await own.stop();
});

test("what was in the bin for its time goes for good", async () => {
  const data = join(temporary("bin-age"), "data");
  const first = await start_server({ data });
  for (const run of ["old", "new"]) await first.analyzed(run, file({ names: [run] }));
  const { id } = await remove("old", first);
  await remove("new", first);
  await first.stop();
  await run_program("sqlite3", [join(data, "stepscope.db"),
    `UPDATE stored_run SET deleted_ns = deleted_ns - ${31n * DAY_NS} WHERE id = '${id}'`]);
  const second = await start_server({ data });
  await until("the older one is gone", async () => (await second.get("/bin")).runs === 1);
  assert.deepEqual(names_of(await second.get("/bin")), ["new"]);
  await second.stop();
});

test("where the disk is short the bin gives way", async () => {
  const data = join(temporary("bin-room"), "data");
  const first = await start_server({ data });
  await first.analyzed("r", file({}));
  await first.analyzed("kept", file({ names: ["kept"] }));
  await remove("r", first);
  await first.stop();
  const { bavail, bsize } = statfsSync(data); // enough for uploads, but less than a quarter more
  const least = Math.floor(bavail * bsize * 0.9);
  const second = await start_server({ data, options: ["--min-free", String(least)] });
  await until("the bin is empty", async () => (await second.get("/bin")).runs === 0);
  assert.deepEqual(names_of(await second.get("/runs")), ["kept"]);
  await second.stop();
});
