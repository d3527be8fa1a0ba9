// SPDX-License-Identifier: Apache-2.0
// Runs over time through the API: metadata, baselines, series with a planted change, and alerts
// with people's decisions on them, across restarts and kills.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { csv_rows } from "./helpers/csv.mjs";
import { guide_script } from "./helpers/documents.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { reply_faults } from "./helpers/openapi.mjs";
import { start_server } from "./helpers/server.mjs";
import { run_shell, temporary } from "./helpers/tools.mjs";
import { generate, small_json } from "./helpers/traces.mjs";

const USUAL = 12;    // runs before the change
const SLOWER = 6;    // runs at the new level
const SLOW = 112;    // percent of the usual time
let server;

/** One run of a series; slow and noise as in tracegen. */
async function add_run(series, number, slow = "100", more = {}) {
  const { files } = await generate(["--ranks", "1", "--world", "1", "--steps", "6", "--layers", "2",
    "--seed", String(number), "--run-noise", "1", "--slow", slow]);
  return server.analyzed(`${series}@${number}`, files, { meta: `commit=c${number}`, ...more });
}

/** A run whose step takes exactly kernel_us microseconds. */
const add_exact = (name, kernel_us, more = {}) => server.analyzed(name,
  [{ data: small_json({ kernel_us }), filename: "rank0.json" }], more);

/** A write whose answer must match the description. */
async function send(method, path, status, value, headers) {
  const described = `/api/v1${path}`.replace(/\/baselines\/[^/]+/, "/baselines/{baseline}")
    .replace(/\/alerts\/[^/]+/, "/alerts/{alert}").replace(/\/runs\/[^/]+$/, "/runs/{run}");
  const reply = value === undefined
    ? await server.request(`/api/v1${path}`, { method })
    : await server.send(method, path, value, headers);
  assert.equal(reply.status, status, `${method} ${path}: ${reply.text}`);
  assert.deepEqual(reply_faults(method, described, reply), []);
  return status === 204 ? null : reply.json;
}

const alerts = async (query = "") => (await server.get(`/alerts?limit=all${query}`)).items;
const decide = (id, change) => send("PATCH", `/alerts/${id}`, 200, change);
const patch_run = (run, change, status = 200) =>
  send("PATCH", `/runs/${encodeURIComponent(run)}`, status, change, { "If-Match": "*" });

before(async () => {
  server = await start_server();
  for (let number = 1; number <= USUAL; number++) await add_run("llama", number);
  for (let number = USUAL + 1; number <= USUAL + SLOWER; number++)
    await add_run("llama", number, String(SLOW));
});
after(() => server?.stop());

// --- metadata -----------------------------------------------------------------------------------

test("metadata come with an upload, by PUT and by PATCH, and tags stay tags", async () => {
  const meta = ["batch_size=64", "seq_len=4096", "data=synthetic", "model=llama 7b = big"];
  const run = await server.analyzed("described", [{ data: small_json(), filename: "rank0.json" }],
    { meta, tag: "branch=main" });
  assert.deepEqual(run.meta,
    { batch_size: "64", data: "synthetic", model: "llama 7b = big", seq_len: "4096" });
  assert.deepEqual(run.tags, { branch: "main" });
  const put = await server.request(
    "/api/v1/runs/described/ranks/1/trace?meta=commit%3Dabc&meta=batch_size%3D32&wait=30",
    { method: "PUT", body: small_json({ names: ["q"] }) });
  assert.ok([200, 202].includes(put.status), put.text);
  const patched = await patch_run("described", { meta: { seq_len: null, gpu: "H100" } });
  assert.deepEqual(patched.meta, { batch_size: "32", commit: "abc", data: "synthetic",
    gpu: "H100", model: "llama 7b = big" });
  const { text } = await server.request("/api/v1/runs?q=described&format=csv");
  assert.match(csv_rows(text)[0].meta, /commit=abc/);
  const made = await server.send("POST", "/runs", { name: "made", meta: { driver: "550" } });
  assert.deepEqual(made.json.meta, { driver: "550" });
});

test("metadata that cannot be are refused and change nothing", async () => {
  await server.send("POST", "/runs", { name: "plain" });
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, "v"]));
  for (const meta of [{ "a b": "v" }, { [`${"k".repeat(65)}`]: "v" }, { k: "" }, { k: 5 },
    { k: "x".repeat(201) }, { batch_size: "many" }, { tokens_per_step: `${2 ** 49}` },
    { data: "fake" }, { k: "a\nb" }, many, "text"])
    await patch_run("plain", { meta }, 400);
  assert.deepEqual((await server.get("/runs/plain")).meta, {});
  for (const meta of ["nothing", "=v", "k=", "seq_len=-1"]) {
    const reply = await server.post(
      [...fields({ run: "refused", meta }), file_part(small_json())]);
    assert.equal(reply.status, 400, meta);
  }
  assert.equal((await server.request("/api/v1/runs/refused")).status, 404);
});

// --- baselines ----------------------------------------------------------------------------------

test("a baseline is a key of its run everywhere, and moves, and goes with it", async () => {
  await add_exact("first", 20);
  const second = await add_exact("second", 30);
  await send("PUT", "/baselines/main", 200, { run: "first" });
  const one = await send("PUT", "/baselines/release-1.0", 200, { run: "default/first" });
  assert.equal(one.run_name, "first");
  assert.deepEqual((await server.get("/runs/@baseline:main")).baselines, ["main", "release-1.0"]);
  assert.equal((await server.get("/runs/%40baseline%3Amain/kernels")).items.length, 1);
  const compared = await server.get("/compare?base=@baseline:main&cand=second");
  assert.equal(compared.base.runs[0].name, "first");
  await send("PUT", "/baselines/main", 200, { run: "second~latest" });
  assert.deepEqual((await server.get("/runs/second")).baselines, ["main"]);
  const { items } = await server.get("/baselines");
  assert.deepEqual(items.map(({ name, run_name }) => [name, run_name]),
    [["main", "second"], ["release-1.0", "first"]]);
  assert.equal(items[0].step_median_ns, second.step_median_ns);
  const remove = () =>
    server.request("/api/v1/runs/second", { method: "DELETE", headers: { "If-Match": "*" } });
  const refused = await remove();
  assert.equal(refused.status, 409);
  assert.match(refused.json.detail, /'main'/);
  await send("DELETE", "/baselines/main", 204);
  assert.equal((await remove()).status, 200);
  assert.equal((await server.request("/api/v1/runs/@baseline:main")).status, 404);
  await send("DELETE", "/baselines/release-1.0", 204);
  await send("DELETE", "/baselines/release-1.0", 404);
  assert.deepEqual((await server.get("/baselines")).items, []);
});

test("baselines that cannot be are refused", async () => {
  await send("PUT", "/baselines/none", 404, { run: "no-such-run" });
  await send("PUT", "/baselines/a%20b", 400, { run: "llama@1" });
  await send("PUT", `/baselines/${"x".repeat(65)}`, 400, { run: "llama@1" });
  await send("PUT", "/baselines/ok", 400, { run: 5 });
  await send("PUT", "/baselines/ok", 400, { run: "llama@1", name: "x" });
  await send("GET", "/baselines/ok", 404);
  const upload = await server.request("/api/v1/runs/@baseline:ok/ranks/0/trace",
    { method: "PUT", body: small_json() });
  assert.equal(upload.status, 400);
});

// --- a series with a planted change -------------------------------------------------------------

test("a series shows its runs oldest first with parts that sum to the step", async () => {
  const { items } = await server.get("/series/llama/points?limit=all");
  assert.deepEqual(items.map(({ name }) => name),
    Array.from({ length: USUAL + SLOWER }, (_, i) => `llama@${i + 1}`));
  assert.equal(items[3].commit, "c4");
  for (const point of items) {
    const run = await server.get(`/runs/${point.run}`);
    assert.equal(point.step_median_ns, run.step_median_ns);
    for (const [part, ns] of Object.entries(run.parts)) assert.equal(point[part], ns, part);
    assert.ok(point.step_ci_low_ns <= point.step_median_ns);
    assert.ok(point.step_ci_high_ns >= point.step_median_ns);
    assert.equal(point.ranks, 1);
  }
  const [series] = (await server.get("/series?q=llama")).items;
  assert.equal(series.runs, USUAL + SLOWER);
  assert.equal(series.points, USUAL + SLOWER);
  assert.equal(series.last_run, items.at(-1).run);
  assert.equal(series.step_median_ns, items.at(-1).step_median_ns);
  assert.equal(series.open_alerts, 1);
});

test("the planted change is found at its run, with its size, and noise is not", async () => {
  const { items } = await server.get("/series/llama/changes");
  assert.equal(items.length, 1, JSON.stringify(items));
  const [change] = items;
  assert.equal(change.run_name, `llama@${USUAL + 1}`);
  assert.equal(change.reason, "step_time");
  assert.ok(Math.abs(change.change_share - (SLOW / 100 - 1)) < 0.02, change.change_share);
  assert.ok(change.p_value < 0.001);
  const [alert, ...others] = await alerts("&series=llama");
  assert.deepEqual(others, []);
  assert.equal(alert.run, change.run);
  assert.equal(alert.previous_run, change.previous_run);
  assert.equal(alert.kind, "change");
  assert.equal(alert.status, "new");
  assert.equal(alert.before_ns, change.before_ns);
});

test("lists of series are filtered by project, tag and text", async () => {
  await add_exact("tagged@1", 20, { project: "p1", tag: "branch=dev" });
  await add_exact("tagged@1", 20, { project: "p2" });
  const names = async (query) => (await server.get(`/series?${query}`)).items
    .map(({ project, series }) => `${project}/${series}`);
  assert.deepEqual(await names("project=p1"), ["p1/tagged"]);
  assert.deepEqual(await names("q=tagg&sort=project"), ["p1/tagged", "p2/tagged"]);
  assert.deepEqual(await names("tag=branch=dev"), ["p1/tagged"]);
  assert.deepEqual(await names("tag=branch&q=tagged"), ["p1/tagged"]);
  assert.equal((await server.request("/api/v1/series/tagged/points")).status, 409);
  assert.equal((await server.get("/series/tagged/points?project=p2")).items.length, 1);
  assert.equal((await server.request("/api/v1/series/nothing/points")).status, 404);
});

test("a renamed run changes its series, and a deleted one leaves it", async () => {
  for (const number of [1, 2]) await add_exact(`here@${number}`, 20 + number);
  await patch_run("here@2", { name: "there@2" });
  assert.equal((await server.get("/series/here/points")).items.length, 1);
  assert.equal((await server.get("/series/there/points")).items.length, 1);
  await server.request("/api/v1/runs/here@1", { method: "DELETE", headers: { "If-Match": "*" } });
  assert.equal((await server.request("/api/v1/series/here/points")).status, 404);
});

test("a run that failed is no point of its series", async () => {
  await add_exact("mixed@1", 20);
  const data = gzipSync(small_json()).fill(0xff, 20);
  const broken = await server.analyzed("mixed@2", [{ data, filename: "rank0.json.gz" }]);
  assert.equal(broken.status, "failed");
  const { items } = await server.get("/series/mixed/points");
  assert.deepEqual(items.map(({ name }) => name), ["mixed@1"]);
});

// --- alerts -------------------------------------------------------------------------------------

test("what is decided of an alert is kept, commented and refused when it cannot be", async () => {
  const [{ id }] = await alerts("&series=llama");
  const decided = await decide(id, { status: "acknowledged", comment: "a new allocator <b>" });
  assert.equal(decided.status, "acknowledged");
  assert.equal(decided.comment, "a new allocator <b>");
  assert.equal((await decide(id, { comment: "known" })).status, "acknowledged");
  assert.deepEqual((await alerts("&status=new&series=llama")), []);
  await send("PATCH", `/alerts/${id}`, 400, { status: "gone" });
  assert.equal((await server.request("/api/v1/alerts?status=open")).status, 400);
  await send("PATCH", `/alerts/${id}`, 400, { comment: "x".repeat(4001) });
  await send("PATCH", `/alerts/${id}`, 400, { comment: 5 });
  await send("PATCH", `/alerts/${id}`, 400, { stat: "new" });
  await send("PATCH", "/alerts/a_none", 404, { status: "new" });
});

test("everything of a series outlives kill -9", async () => {
  const look = async () => [await alerts(), (await server.get("/baselines")).items,
    (await server.get("/series?limit=all")).items,
    (await server.get("/series/llama/points?limit=all")).items,
    (await server.get("/runs/llama@1")).meta];
  await send("PUT", "/baselines/kept", 200, { run: "llama@1" });
  const seen = await look();
  await server.kill();
  server = await start_server({ data: server.data });
  assert.deepEqual(await look(), seen);
});

test("an expected change begins a level, and an alert is fixed when the step is back", async () => {
  for (let number = 1; number <= 10; number++) await add_run("gpt", number);
  await add_run("gpt", 11, "140");
  const [outlier] = await alerts("&series=gpt");
  assert.equal(outlier.kind, "outlier");
  assert.equal(outlier.run_name, "gpt@11");
  await add_run("gpt", 12);
  assert.equal((await alerts("&series=gpt"))[0].status, "fixed");
  await add_run("gpt", 13, "70");
  const faster = (await alerts("&series=gpt&status=new"))[0];
  assert.ok(faster.change_share < -0.2, faster.change_share);
  await decide(faster.id, { status: "expected" });
  await add_run("gpt", 14, "70");
  assert.deepEqual(await alerts("&series=gpt&status=new"), []);
  const { items } = await server.get("/series/gpt/points");
  assert.deepEqual(items.filter(({ outlier: is }) => is).map(({ name }) => name), ["gpt@11"]);
});

test("a difference marked as noise is not reported again", async () => {
  for (let number = 1; number <= 10; number++) await add_run("vit", number);
  await add_run("vit", 11, "120");
  const [{ id }] = await alerts("&series=vit");
  await decide(id, { status: "noise", comment: "a shared node" });
  await add_run("vit", 12);
  await add_run("vit", 13, "118");
  assert.deepEqual((await alerts("&series=vit")).map(({ status }) => status), ["noise"]);
});

test("runs that come at once are each judged once", async () => {
  const jobs = Array.from({ length: 14 }, (_, i) => add_run("many", i + 1, i < 13 ? "100" : "160"));
  await Promise.all(jobs);
  const found = await alerts("&series=many");
  const { items } = await server.get("/series/many/points");
  assert.equal(items.length, 14);
  const runs = new Set(found.map(({ run }) => run));
  assert.equal(runs.size, found.length);
  assert.equal((await server.get("/series?q=many")).items[0].points, 14);
});

test("the guide's lines for runs over time work as they stand", async () => {
  const folder = temporary("readme");
  writeFileSync(join(folder, "rank0.json.gz"), gzipSync(small_json()));
  const own = await start_server();
  const script = guide_script("/baselines/main").replaceAll("http://HOST", own.base);
  const said = await run_shell(`set -e\n${script.replaceAll("curl ", "curl -sS --fail-with-body ")
    .replace("/upload", "/upload?wait=60")}`, { cwd: folder });
  assert.match(said, /commit,step_median_ns/);
  const { meta } = await own.get("/runs/@baseline:main");
  assert.deepEqual(meta, { commit: "1f2e3d4", data: "real" });
  await own.stop();
});

test("tables of series answer in every format and know when they did not change", async () => {
  for (const path of ["/series", "/series/llama/points", "/series/llama/changes", "/alerts",
    "/baselines"]) {
    const json = await server.get(`${path}?limit=all`);
    const { text } = await server.request(`/api/v1${path}?format=csv`);
    assert.equal(csv_rows(text).length, json.items.length, path);
    const first = await server.request(`/api/v1${path}`);
    const again = await server.request(`/api/v1${path}`,
      { headers: { "If-None-Match": first.headers.etag } });
    assert.equal(again.status, 304, path);
    const refused = await server.request(`/api/v1${path}?nonsense=1`);
    assert.equal(refused.status, 400, path);
  }
});
