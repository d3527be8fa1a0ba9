// SPDX-License-Identifier: Apache-2.0
// What the service reports to its operators: metrics, readiness, the log; and partial downloads.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import { run_status, stepscope_bin, temporary, until } from "./helpers/tools.mjs";
import { small_json } from "./helpers/traces.mjs";

const SECRET = "hidden-7c1e";

let server;
let json;

before(async () => {
  server = await start_server();
  json = await start_server({ options: ["--log-format", "json"] });
});
after(async () => {
  await server?.stop();
  await json?.stop();
});

/** Prometheus text as a map; fails on an invalid line. @returns {Promise<Map<string, number>>} */
async function metrics() {
  const reply = await server.request("/metrics");
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
  assert.equal(reply.headers["cache-control"], "no-store");
  const found = new Map();
  const typed = new Set();
  assert.ok(reply.text.endsWith("\n"));
  for (const line of reply.text.slice(0, -1).split("\n")) {
    const type = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(line);
    if (type) {
      assert.ok(!typed.has(type[1]), `${type[1]} is described twice`);
      typed.add(type[1]);
    } else if (!line.startsWith("# HELP ")) {
      const sample = /^((\w+)(?:\{\w+="[^"\\]*"(?:,\w+="[^"\\]*")*\})?) (-?[\d.e+-]+)$/.exec(line);
      assert.ok(sample, `found "${line}", expected a sample`);
      const base = sample[2].replace(/_(bucket|sum|count)$/, "");
      assert.ok(typed.has(sample[2]) || typed.has(base), `${sample[2]} has no type`);
      found.set(sample[1], Number(sample[3]));
    }
  }
  return found;
}

/** The log lines of one request. */
function lines_of(from, id) {
  return until(`the log tells of ${id}`, () => {
    const lines = from.log.split("\n").filter((line) => line.includes(id));
    return lines.length > 0 && lines;
  });
}

test("metrics tell of uploads, jobs, requests, sizes and the process", async () => {
  const before_upload = await metrics();
  await server.analyzed("counted", [{ filename: "a.json", data: small_json() }]);
  let found = await metrics();
  const grown = (name) => found.get(name) - before_upload.get(name);
  await until("the jobs are counted", async () => { // which comes after their results are stored
    found = await metrics();
    return grown("stepscope_jobs_done_total") >= 1 &&
      grown('stepscope_job_seconds_count{kind="trace"}') >= 1;
  });
  assert.equal(grown("stepscope_uploads_total"), 1);
  assert.ok(grown("stepscope_upload_bytes_total") >= small_json().length);
  assert.ok(grown('stepscope_job_seconds_count{kind="trace"}') >= 1);
  assert.ok(grown("stepscope_parse_bytes_total") > 0);
  assert.ok(grown('stepscope_requests_total{class="2xx"}') >= 2);
  assert.ok(found.get("stepscope_disk_free_inodes") <= found.get("stepscope_disk_inodes"));
  assert.ok(found.get("stepscope_connections_limit") > found.get("stepscope_connections"));
  assert.equal(grown("stepscope_runs"), 1);
  assert.ok(found.get("stepscope_recent_run_bytes") > 0);
  assert.equal(found.get('stepscope_token_stored_bytes{who="others"}'), 0);
  for (const name of ["stepscope_pieces_open", "stepscope_pieces_bytes",
    "stepscope_bin_runs", "stepscope_bin_bytes",
    "stepscope_audit_log_bytes", "stepscope_audit_entries", "stepscope_uploads_in_flight_limit",
    "stepscope_jobs_queued", "stepscope_job_oldest_seconds",
    "stepscope_steps_bytes",
    "stepscope_database_bytes", "stepscope_wal_bytes", "stepscope_blob_bytes",
    "stepscope_trace_bytes", "stepscope_disk_free_bytes", "stepscope_uploads_in_flight",
    "stepscope_errors_total", "process_start_time_seconds"]) {
    assert.ok(found.has(name), name);
  }
  assert.ok(found.get("process_resident_memory_bytes") > 1e6);
  assert.ok(found.get("process_open_fds") > 5);
  assert.ok([...found.keys()].some((name) => /^stepscope_build_info\{version="\d/.test(name)));
  await until("file sizes are up to date", async () =>
    (await metrics()).get("stepscope_blob_bytes") >= small_json().length);
});

test("metrics tell of stage times", async () => {
  const before_all = (await metrics()).get("stepscope_steps_bytes");
  const sent = await server.send("POST", "/steps", { run: "staged", rank: 0, first_step: 0,
    stages: ["forward", "sync"], rows: Array(500).fill([1000, 2000]) });
  assert.equal(sent.status, 202, sent.text);
  await until("they have been measured", async () =>
    (await metrics()).get("stepscope_steps_bytes") >= before_all + 500 * 8);
});

test("metrics tell of a backup and of uploads that stopped on their way", async () => {
  const before_all = await metrics();
  assert.equal(before_all.get("stepscope_last_backup_timestamp_seconds"), 0);
  const begun_s = Math.floor(Date.now() / 1000);
  const saved = spawnSync(stepscope_bin(), ["backup", "--data", server.data, "--to",
    join(temporary("metrics-backup"), "backup")], { encoding: "utf8" });
  assert.equal(saved.status, 0, saved.stderr);
  const tus = { "Tus-Resumable": "1.0.0", "Upload-Length": "1000",
    "Upload-Metadata": `run ${Buffer.from("pieces").toString("base64")}` };
  const made = await server.request("/api/v1/tus", { method: "POST", headers: tus });
  assert.equal(made.status, 201, made.text);
  const found = await metrics();
  const time_s = found.get("stepscope_last_backup_timestamp_seconds");
  assert.ok(time_s >= begun_s - 2 && time_s <= Date.now() / 1000 + 2, `${time_s}`);
  assert.equal(found.get("stepscope_pieces_open"), before_all.get("stepscope_pieces_open") + 1);
});

test("metrics count refusals by their reason and answers by their class", async () => {
  const before_all = await metrics();
  const foreign = { headers: { Host: "evil.example" } };
  assert.equal((await server.request("/", foreign)).status, 421);
  assert.equal((await server.request("/api/v1/runs/none")).status, 404);
  assert.equal((await server.post([...fields({ run: "a/b" }), file_part("{}")])).status, 400);
  let found = await metrics();
  const grown = (name) => found.get(name) - (before_all.get(name) ?? 0);
  await until("the last answer is counted", async () => { // which may come after it was received
    found = await metrics();
    return grown('stepscope_requests_total{class="4xx"}') >= 3;
  });
  assert.equal(grown('stepscope_refusals_total{reason="unknown-host"}'), 1);
  assert.equal(grown('stepscope_refusals_total{reason="not-found"}'), 1);
  assert.equal(grown('stepscope_requests_total{class="4xx"}'), 3);
});

test("readiness tells of the disk, the database and the queue", async () => {
  const { json: ready } = await server.request("/readyz");
  assert.equal(ready.status, "ready");
  assert.equal(ready.database, "ok");
  assert.ok(ready.free_bytes > ready.min_free_bytes);
  assert.ok(ready.open_jobs >= 0 && ready.oldest_job_seconds >= 0);
});

test("each request is a line of the log, without its query, its headers and its body", async () => {
  const reply = await server.request(`/api/v1/runs?q=${SECRET}-query`, {
    headers: { "X-Request-Id": "line-of-the-log", "X-Other": `${SECRET}-header` },
  });
  const [line, ...more] = await lines_of(server, "line-of-the-log");
  assert.deepEqual(more, []);
  assert.match(line, new RegExp("^time=\\S+Z level=info message=request method=GET " +
    "path=/api/v1/runs status=\\d+ sent_bytes=\\d+ received_bytes=0 ms=\\d+ peer=127.0.0.1 " +
    "who=\\S+ request_id=line-of-the-log$"));
  assert.equal(reply.headers["x-request-id"], "line-of-the-log");
  const body = JSON.stringify({ name: `${SECRET}-body` });
  const headers = { Authorization: `Bearer ${SECRET}`, "Content-Type": "text/plain" };
  const bad = await server.request(`/api/v1/runs/${"x".repeat(300)}?token=${SECRET}`,
    { method: "PATCH", body, headers });
  const [refused] = await lines_of(server, bad.headers["x-request-id"]);
  assert.match(refused, /status=4\d\d /);
  assert.ok(!server.log.includes(SECRET), server.log);
});

test("a request id that is a secret is not taken: it would stand in the logs", async () => {
  const id = `ghp_${"a1B2".repeat(9)}`;
  const reply = await server.request("/api/v1/runs/none", { headers: { "X-Request-Id": id } });
  assert.match(reply.headers["x-request-id"], /^[0-9a-f]{16}$/);
  const made = await server.send("POST", "/runs", { name: "with-id" }, { "X-Request-Id": id });
  assert.equal(made.status, 201, made.text);
  await lines_of(server, made.headers["x-request-id"]);
  const audit = readFileSync(join(server.data, "audit.log"), "utf8");
  assert.ok(audit.includes(made.headers["x-request-id"]));
  assert.ok(!audit.includes(id) && !server.log.includes(id) && !reply.text.includes(id));
});

test("readiness is tried by writing, in each folder and in the database", async () => {
  const own = await start_server();
  assert.equal((await own.request("/readyz")).status, 200);
  for (const folder of ["spool", "pieces", "blobs", "traces"]) {
    const probe = join(own.data, folder, ".probe");
    mkdirSync(probe); // blocks it
    const refused = await until("it is not ready", async () => {
      const reply = await own.request("/readyz");
      return reply.status !== 200 && reply;
    });
    assert.equal(refused.status, 503, refused.text);
    assert.ok(refused.json.detail.includes(`the folder ${folder}`), refused.text);
    rmdirSync(probe);
    await until("it is ready", async () => (await own.request("/readyz")).status === 200);
    assert.ok(!existsSync(probe), "what was tried is gone");
  }
  await own.stop();
});

test("programs that open a new database at the same time wait for each other", async () => {
  const data = join(temporary("crowd"), "data");
  const names = Array.from({ length: 8 }, (_, i) => `t${i}`);
  const made = await Promise.all(names.map((name) =>
    run_status(stepscope_bin(), ["token", "create", "--name", name, "--scopes", "read",
      "--data", data])));
  for (const { status, stderr } of made) assert.equal(status, 0, stderr);
});

test("health, readiness, metrics and files of the dashboard are no lines of the log", async () => {
  for (const path of ["/healthz", "/readyz", "/metrics"]) await server.request(path);
  const reply = await server.request("/static/none/none.mjs");
  await lines_of(server, reply.headers["x-request-id"]);
  assert.doesNotMatch(server.log, /path=\/(healthz|readyz|metrics) status=200/);
});

test("the log's lines are JSON where that was asked for", async () => {
  await json.request("/api/v1/runs", { headers: { "X-Request-Id": "as-json" } });
  await json.request('/runs/%22%7D%0a"');
  const [line] = await lines_of(json, "as-json");
  const { time, ...rest } = JSON.parse(line);
  assert.ok(Math.abs(Date.now() - Date.parse(time)) < 60_000);
  assert.equal(rest.message, "request");
  assert.equal(rest.status, 200);
  assert.equal(rest.path, "/api/v1/runs");
  await json.analyzed("read", [{ filename: "a.json", data: small_json() }]);
  await json.post([...fields({ run: "not" }), file_part('{"traceEvents": []}')]);
  await json.settled("not");
  const lines = json.log.split("\n").filter(Boolean);
  for (const text of lines) assert.equal(typeof JSON.parse(text).message, "string", text);
});

test("a service that cannot start says so in JSON where that was asked for", () => {
  const port = new URL(json.base).port;
  const place = temporary("json-start");
  for (const options of [["--listen", `127.0.0.1:${port}`], ["--jobs", "many"], ["--job"]]) {
    const { status, stdout, stderr } = spawnSync(stepscope_bin(),
      ["serve", "--log-format", "json", "--data", place, ...options], { encoding: "utf8" });
    assert.notEqual(status, 0);
    const lines = (stdout + stderr).split("\n").filter(Boolean);
    assert.ok(lines.length > 0);
    for (const text of lines) assert.equal(typeof JSON.parse(text).message, "string", text);
  }
});

test("a bound of tables below which none fits is refused", () => {
  const { status, stderr } = spawnSync(stepscope_bin(), ["serve", "--listen", "127.0.0.1:0",
    "--data", temporary("no-tables"), "--max-tables", "1000"], { encoding: "utf8" });
  assert.notEqual(status, 0);
  assert.match(stderr, /--max-tables: found 1000 bytes, expected 1M or more, or 0/);
});

test("a proxy where nobody is asked who they are is warned of, once", async () => {
  const warnings = () => server.log.split("\n").filter((line) => line.includes("--trusted-proxy"));
  assert.deepEqual(warnings(), []);
  for (const name of ["X-Forwarded-For", "X-Forwarded-Host", "Forwarded"]) {
    const reply = await server.request("/healthz", { headers: { [name]: "a.example" } });
    assert.equal(reply.status, 200);
  }
  await until("the log says so", () => warnings().length > 0);
  assert.equal(warnings().length, 1);
  assert.match(warnings()[0], /--auth required/);
});

test("a download can be resumed where it broke off", async () => {
  const data = small_json({ names: ["resumed"] });
  await server.analyzed("resumed", [{ filename: "rank0.json", data }]);
  const path = "/api/v1/runs/resumed/ranks/0/trace";
  const whole = await server.request(path);
  assert.equal(whole.headers["accept-ranges"], "bytes");
  assert.equal(whole.headers["content-type"], "application/octet-stream");
  assert.match(whole.headers["content-disposition"], /^attachment; filename="rank0.json"/);
  const { etag } = whole.headers;
  const rest = await server.request(path, { headers: { Range: "bytes=100-", "If-Range": etag } });
  assert.equal(rest.status, 206);
  assert.equal(rest.headers["content-range"], `bytes 100-${data.length - 1}/${data.length}`);
  assert.deepEqual(Buffer.concat([whole.body.subarray(0, 100), rest.body]), data);
  const other = await server.request(path, { headers: { Range: "bytes=1-", "If-Range": '"x"' } });
  assert.equal(other.status, 200);
  const outside = await server.request(path, { headers: { Range: `bytes=${data.length}-` } });
  assert.equal(outside.status, 416);
  assert.equal(outside.headers["content-range"], `bytes */${data.length}`);
});
