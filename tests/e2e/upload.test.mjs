// SPDX-License-Identifier: Apache-2.0
// Uploads in every documented form, with plain curl and by hand.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { request as begin } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { csv_rows } from "./helpers/csv.mjs";
import { read_document } from "./helpers/documents.mjs";
import { http_bytes } from "./helpers/http.mjs";
import { fields, file_part, multipart } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import {
  run_program, run_shell, run_status, stepscope_bin, temporary, until,
} from "./helpers/tools.mjs";
import { generate, small_job, small_json, small_trace } from "./helpers/traces.mjs";

const sha256_of = (data) => createHash("sha256").update(data).digest("hex");

let server;
let job;
const folder = temporary("upload");

/** Writes a file to upload with curl. */
function file(name, bytes) {
  writeFileSync(join(folder, name), bytes);
  return join(folder, name);
}

/** Runs curl and returns the status, body and headers of the answer. */
async function curl(args) {
  const end = "\n%{http_code}";
  const out = await run_program("curl", ["-sS", "-i", "-w", end, ...args], { cwd: folder });
  const [head, ...body] = out.split("\r\n\r\n").filter((block) => !/^HTTP\S* 100/.test(block));
  const text = body.join("\r\n\r\n");
  const cut = text.lastIndexOf("\n");
  return { status: Number(text.slice(cut + 1)), head, text: text.slice(0, cut),
    get json() {
      return JSON.parse(this.text);
    } };
}

before(async () => {
  job = await generate(small_job("--format", "json"));
  server = await start_server();
});
after(() => server?.stop());

test("the shortest curl line makes a new run and names its page", async () => {
  const path = file("shortest.json", job.files[0].data);
  const reply = await curl(["-F", `trace=@${path}`, `${server.base}/upload`]);
  assert.equal(reply.status, 202, reply.text);
  assert.ok(reply.text.endsWith("}\n"), "a terminal wants a line's end");
  const { url, run, run_name, received, world_size, upload, traces } = reply.json;
  assert.equal(url, `${server.base}/runs/${run}`);
  assert.match(reply.head, new RegExp(`^Location: /api/v1/uploads/${upload}\\r?$`, "im"));
  assert.ok(run_name.length > 0);
  assert.equal(received, 1);
  assert.ok(world_size === null || world_size === 2);
  assert.equal(traces.length, 1);
  assert.equal(traces[0].sha256, createHash("sha256").update(job.files[0].data).digest("hex"));
  assert.equal(traces[0].bytes, job.files[0].data.length);
  const page = await server.request(`/runs/${run}`, { headers: { Accept: "text/html" } });
  assert.equal(page.status, 200);
  assert.equal((await server.settled(run)).status, "done");
});

test("a field that uploads lack is refused with the one that keeps it", async () => {
  const reply = await server.post([...fields({ run: "odd", model: "llama" }),
    file_part(small_json())]);
  assert.equal(reply.status, 400);
  assert.match(reply.json.detail, /found field 'model', expected .*; meta=model=VALUE keeps/);
});

test("json, gzip and zstd are recognized by content and give the same numbers", async () => {
  const [{ data }] = job.files;
  const zst = file("plain.json", data);
  await run_shell(`zstd -q -f -o "${join(folder, "x.zst")}" "${zst}"`);
  const gz = file("x.gz", gzipSync(data));
  const tables = [];
  for (const [name, path] of [["is-json", zst], ["is-gz", gz], ["is-zst", join(folder, "x.zst")]]) {
    const misleading = `trace=@${path};filename=trace.bin`;
    const to = `${server.base}/upload?wait=60`;
    const reply = await curl(["-F", `run=${name}`, "-F", "rank=0", "-F", misleading, to]);
    assert.ok([200, 202].includes(reply.status), reply.text);
    const run = await server.settled(name);
    assert.equal(run.status, "done", run.error);
    const kernels = await server.get(`/runs/${name}/kernels?limit=all`);
    const breakdown = await server.get(`/runs/${name}/breakdown`);
    tables.push([kernels.items, breakdown.items]);
  }
  assert.deepEqual(tables[1], tables[0]);
  assert.deepEqual(tables[2], tables[0]);
});

test("an upload that is waited for is warned of what its analysis found", async () => {
  const [whole, other] = job.files.map(({ data }) => gzipSync(data));
  const traces = [["whole", whole], ["cut", other.subarray(0, other.length * 0.7)]];
  const forms = traces.map(([name, data], rank) =>
    ["-F", `trace=@${file(`${name}-${rank}.json.gz`, data)}`]);
  const reply = await curl(["-F", "run=warned", ...forms.flat(), `${server.base}/upload?wait=60`]);
  assert.equal(reply.json.status, "done", reply.text);
  const { items } = await server.get("/runs/warned/trust?limit=all");
  for (const { rank, warnings } of reply.json.traces)
    assert.deepEqual([...warnings].sort(), items.filter((item) =>
      item.rank === rank && item.severity !== "info").map(({ detail }) => detail).sort());
  const [of_whole, of_cut] = reply.json.traces.map(({ warnings }) => warnings.join());
  assert.doesNotMatch(of_whole, /ends inside|is cut/);
  assert.match(of_cut, /the compressed stream is truncated/);
  const later = await server.get(`/uploads/${reply.json.upload}`);
  assert.deepEqual(later.traces, reply.json.traces);
});

test("several files of one request become the ranks of one run", async () => {
  const trace = (i) => `trace=@${file(`rank${i}.json`, job.files[i].data)}`;
  const to = `${server.base}/upload?wait=60`;
  const reply = await curl([
    "-F", "run=both", "-F", "tag=branch=main", "-F", "tag=mode=fast", "-F", trace(0),
    "-F", trace(1), "-F", "note=written after the files", to]);
  assert.ok([200, 202].includes(reply.status), reply.text);
  assert.deepEqual(reply.json.traces.map(({ rank }) => rank), [0, 1]);
  assert.equal(reply.json.received, 2);
  assert.equal(reply.json.world_size, 2);
  assert.equal(reply.json.status, "done", "?wait=60 answers when the analysis is done");
  const run = await server.get("/runs/both");
  assert.deepEqual(run.tags, { branch: "main", mode: "fast" });
  assert.equal(run.note, "written after the files");
});

test("fields may stand before or after the file", async () => {
  for (const [name, order] of [["fields-first", 1], ["fields-last", -1]]) {
    const parts = [
      fields({ run: name, rank: 7, project: "orders", tag: ["a=1", "b=x=y"], note: "n" }),
      [file_part(small_json())],
    ];
    const reply = await server.post((order > 0 ? parts : parts.reverse()).flat());
    assert.equal(reply.status, 202, reply.text);
    const run = await server.settled(reply.json.run);
    assert.equal(run.name, name);
    assert.equal(run.project, "orders");
    assert.deepEqual(run.tags, { a: "1", b: "x=y" });
    assert.equal(run.note, "n");
    assert.equal(run.traces[0].rank, 7);
    assert.equal(run.traces[0].rank_from, "field");
  }
});

/** Names and reasons of a run's steps. */
async function steps_of(run) {
  const { items } = await server.get(`/runs/${run}/steps?limit=all`);
  return items.map(({ step, reason }) => [step, reason]);
}

test("an upload chooses what marks a step and how many to leave out", async () => {
  const trace = small_trace({ steps: 4 });
  for (const event of trace.traceEvents) {
    event.name = event.name.replace("ProfilerStep#", "turn#");
  }
  const file_of = file_part(Buffer.from(JSON.stringify(trace)));
  const parts = [...fields({ run: "marked", step: "turn*", warmup: 2 }), file_of];
  assert.equal((await server.post(parts)).status, 202);
  const run = await server.settled("marked");
  assert.equal(run.step, "turn*");
  assert.equal(run.warmup, 2);
  const asked = "warm-up: excluded by request";
  assert.deepEqual(await steps_of("marked"), [[0, asked], [1, asked], [2, null], [3, null]]);

  const { headers: { etag } } = await server.request("/api/v1/runs/marked");
  const change = { step: null, warmup: 0 };
  const reply = await server.send("PATCH", "/runs/marked", change, { "If-Match": etag });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.json.step, null);
  assert.equal(reply.json.warmup, 0);
  await server.settled("marked");
  const { items } = await server.get("/runs/marked/steps");
  assert.deepEqual(items.map(({ name }) => name), ["whole window"], "no other mark is known");

  for (const bad of [{ warmup: "-1" }, { warmup: "2147483648" }, { warmup: "two" },
    { step: "a\nb" }]) {
    const refused = await server.post([...fields({ run: "bad-steps", ...bad }), file_of]);
    assert.equal(refused.status, 400, JSON.stringify(bad));
  }
  for (const bad of [{ warmup: -1 }, { warmup: 2 ** 31 }, { warmup: 1.5 }, { warmup: "2" },
    { warmup: true }, { step: 5 }, { step: "a\nb" }, { step: "x".repeat(201) }]) {
    const refused = await server.send("PATCH", "/runs/marked", bad, { "If-Match": "*" });
    assert.equal(refused.status, 400, JSON.stringify(bad));
  }
  const { step, warmup } = await server.get("/runs/marked");
  assert.deepEqual([step, warmup], [null, 0], "what was refused changed nothing");
});

test("the rank is of field, metadata, file name or the next free one, and it says so", async () => {
  const upload = async (run, data, filename, more = {}) => {
    const reply = await server.post([...fields({ run, ...more }), file_part(data, filename)]);
    assert.equal(reply.status, 202, reply.text);
    await server.settled(run);
    const { traces } = await server.get(`/uploads/${reply.json.upload}`);
    return [traces[0].rank, traces[0].rank_from];
  };
  const said = small_json({ rank: 3, world_size: 8 });
  const silent = small_json();
  assert.deepEqual(await upload("r1", said, "rank5.json", { rank: 6 }), [6, "field"]);
  assert.deepEqual(await upload("r2", said, "rank5.json"), [3, "metadata"]);
  assert.deepEqual(await upload("r3", silent, "job_rank-34.pt.trace.json"), [34, "filename"]);
  assert.deepEqual(await upload("r4", silent, "trace.json"), [0, "next"]);
  const other = small_json({ names: ["kernel_b"] });
  assert.deepEqual(await upload("r4", other, "trace.json"), [1, "next"]);
  assert.deepEqual(await upload("r5", silent, "exp_rank5/report_2.json"), [2, "filename"]);
  assert.deepEqual(await upload("r6", silent, "exp_rank5/a.json"), [5, "filename"]);
  assert.deepEqual(await upload("r6", other, "exp_rank5/b.json"), [1, "next"]);
  const { traces } = await server.get("/runs/r6");
  const ranks = traces.map(({ filename, rank, rank_from }) => [filename, rank, rank_from]);
  assert.deepEqual(ranks.sort(), [["exp_rank5/a.json", 0, "next"], ["exp_rank5/b.json", 1, "next"]],
  "a folder with all traces is none of a rank");
});

test("the same bytes again give the existing trace, with 200", async () => {
  const parts = [...fields({ run: "again", rank: 0 }), file_part(small_json())];
  const first = await server.post(parts);
  assert.equal(first.status, 202);
  const second = await server.post(parts);
  assert.equal(second.status, 200);
  assert.equal(second.json.run, first.json.run);
  assert.equal(second.json.traces[0].trace, first.json.traces[0].trace);
  assert.equal(second.json.received, 1);
  await server.settled("again");
  assert.equal((await server.post(parts)).status, 200);
});

test("the same bytes without a rank give the existing trace, too", async () => {
  const parts = [...fields({ run: "again-unranked" }), file_part(small_json(), "trace.json")];
  assert.equal((await server.post(parts)).status, 202);
  await server.settled("again-unranked");
  const second = await server.post(parts);
  assert.equal(second.status, 200, second.text);
  assert.equal((await server.settled("again-unranked")).received, 1);
});

test("other bytes for a rank are a conflict, and replace=true replaces", async () => {
  const parts = (name, more = {}) => [
    ...fields({ run: "conflict", rank: 0, ...more }), file_part(small_json({ names: [name] }))];
  assert.equal((await server.post(parts("first"))).status, 202);
  await server.settled("conflict");
  const refused = await server.post(parts("second"));
  assert.equal(refused.status, 409);
  assert.equal(refused.headers["content-type"], "application/problem+json");
  assert.match(refused.json.detail + (refused.json.fix ?? ""), /replace/);
  const names = async () =>
    (await server.get("/runs/conflict/kernels")).items.map(({ name }) => name);
  assert.deepEqual(await names(), ["first"], "a refused upload changes nothing");
  assert.equal((await server.post(parts("second", { replace: "true" }))).status, 202);
  const run = await server.settled("conflict");
  assert.equal(run.received, 1);
  assert.deepEqual(await names(), ["second"]);
});

test("a key repeats its own upload and refuses every other", async () => {
  const [a, b] = [1, 2].map((us) => file(`key${us}.json`, small_json({ kernel_us: us })));
  const key = (text) => ["-H", `Idempotency-Key: ${text}`];
  const put = (path, to) => curl([...key("put"), "-T", path, `${server.base}/api/v1/runs/${to}`]);
  const first = await put(a, "key-a/ranks/0/trace");
  assert.equal(first.status, 202, first.text);
  const again = await put(a, "key-a/ranks/0/trace?wait=60");
  assert.equal(again.status, 200, again.text);
  assert.equal(again.json.upload, first.json.upload);
  for (const to of ["key-b/ranks/0/trace", "key-a/ranks/1/trace", "key-a/ranks/0/trace?meta=a=b"]) {
    const other = await put(b, to);
    assert.equal(other.status, 422, other.text);
    assert.match(other.json.type, /key-reused$/);
    assert.match(other.json.fix, /a unique key/);
  }
  assert.equal((await server.request("/api/v1/runs/key-b")).status, 404);

  const post = (...args) => curl([...key("form"), "-F", `trace=@${a}`, ...args,
    `${server.base}/upload`]);
  const form = await post("-F", "run=key-form");
  assert.equal(form.status, 202, form.text);
  assert.equal((await post("-F", "run=key-form")).json.upload, form.json.upload);
  assert.equal((await post("-F", "run=key-another-form")).status, 422);
});

test("a used key answers for the same bytes, run and rank alone", async () => {
  const [bytes, others] = ["a", "b"].map((name) => small_json({ names: [`kernel_${name}`] }));
  assert.equal(bytes.length, others.length);
  const key = { "Idempotency-Key": "same-bytes" };
  const send = (data, more = {}, headers = key) =>
    server.post([...fields({ run: "key-bytes", rank: 0, ...more }), file_part(data, "t.json")],
      "/upload", headers);
  const first = await send(bytes);
  assert.equal(first.status, 202, first.text);
  for (const [data, more] of [[others, {}], [bytes, { run: "key-bytes-2" }], [bytes, { rank: 1 }],
    [bytes, { note: "another" }]]) {
    const refused = await send(data, more);
    assert.equal(refused.status, 422, refused.text);
    assert.match(refused.json.type, /key-reused$/);
    const why = data === others ? /came with other bytes/ : /another run or rank/;
    assert.match(refused.json.detail, why);
  }
  const { traces } = await server.settled("key-bytes");
  assert.deepEqual(traces.map(({ sha256 }) => sha256), [sha256_of(bytes)]);
  const again = await send(bytes);
  assert.equal(again.json.upload, first.json.upload, again.text);
  assert.equal((await server.request("/api/v1/runs/key-bytes-2")).status, 404);

  const put = (data) => server.request("/api/v1/runs/key-put/ranks/0/trace",
    { method: "PUT", body: data, headers: { "Idempotency-Key": "put-bytes" } });
  assert.equal((await put(bytes)).status, 202);
  assert.equal((await put(others)).status, 422);
  const both = await Promise.all([bytes, others, bytes, others].map((data) =>
    send(data, { run: "key-race" }, { "Idempotency-Key": "race" })));
  const stored = (await server.settled("key-race")).traces[0].sha256;
  for (const [i, { status, text }] of both.entries())
    assert.equal(status < 300, sha256_of([bytes, others][i % 2]) === stored, `${status} ${text}`);
});

test("curl -T puts one rank, and the original bytes come back", async () => {
  const path = file("put.json.gz", gzipSync(job.files[1].data));
  const to = `${server.base}/api/v1/runs/put-run/ranks/3/trace`;
  const reply = await curl(["-T", path, to]);
  assert.equal(reply.status, 202, reply.text);
  assert.equal(reply.json.traces[0].rank, 3);
  await server.settled("put-run");
  assert.equal((await curl(["-T", path, to])).status, 200, "the same bytes again");
  const back = await server.request("/api/v1/runs/put-run/ranks/3/trace");
  assert.equal(back.status, 200);
  assert.deepEqual(gunzipSync(back.body), job.files[1].data);
  assert.match(back.headers["content-disposition"], /attachment/);
  assert.equal(back.headers["content-length"], String(back.body.length));
});

test("chunked bodies and a body from a pipe are read", async () => {
  const path = file("chunked.json", job.files[0].data);
  const to = `${server.base}/api/v1/runs/piped/ranks/0/trace`;
  const out = await run_shell(`cat "${path}" | curl -sS -T - "${to}?wait=30"`);
  assert.equal(JSON.parse(out).traces[0].bytes, job.files[0].data.length);
  assert.equal((await server.settled("piped")).status, "done");
});

test("Content-Encoding of a raw file must be one that is read, and true", async () => {
  const put = (run, body, coding) => server.request(`/api/v1/runs/${run}/ranks/0/trace?wait=30`,
    { method: "PUT", body, headers: { "Content-Encoding": coding } });
  const bytes = small_json();
  for (const coding of ["gzip", "x-gzip", "GZIP"]) {
    const reply = await put(`coded-${coding}`, gzipSync(bytes), coding);
    assert.equal(reply.status, 200, reply.text);
  }
  assert.equal((await put("coded-not", bytes, "identity")).status, 200);
  for (const coding of ["gzip", "zstd"]) {
    const untrue = await put("coded-untrue", bytes, coding);
    assert.equal(untrue.status, 422, untrue.text);
    assert.match(untrue.json.detail, new RegExp(`not ${coding}, as declared by Content-Encoding`));
  }
  for (const coding of ["br", "deflate", "gzip, gzip"]) {
    const unknown = await put("coded-unknown", bytes, coding);
    assert.equal(unknown.status, 415, unknown.text);
    assert.equal(unknown.headers["accept-encoding"], "gzip, zstd");
  }
  assert.equal((await server.request("/api/v1/runs/coded-untrue")).status, 404);
});

test("a part of a file is not taken for the whole", async () => {
  const reply = await server.request("/api/v1/runs/partly/ranks/0/trace", { method: "PUT",
    body: small_json(), headers: { "Content-Range": "bytes 0-99/100000" } });
  assert.equal(reply.status, 400, reply.text);
  assert.match(reply.json.detail, /api\/v1\/tus/);
  assert.equal((await server.request("/api/v1/runs/partly")).status, 404);
});

test("curl's Expect: 100-continue is answered before the body", async () => {
  const path = file("expect.json", Buffer.alloc(3_000_000, " "));
  const line = ["-sS", "-v", "-H", "Expect: 100-continue", "-F", `trace=@${path}`];
  const { stderr } = await run_status("curl", [...line, `${server.base}/upload`]);
  assert.match(stderr, /^< HTTP\/1.1 100/m);
  const refused = await run_status("curl", ["-sS", "-v", "-H", "Expect: 100-continue", "-H",
    "Content-Type: text/plain", "--data-binary", `@${path}`, `${server.base}/upload`]);
  assert.match(refused.stderr, /^< HTTP\/1.1 415/m);
  assert.doesNotMatch(refused.stderr, /^< HTTP\/1.1 100/m, "no body is asked for in vain");
});

test("an upload can be followed to its end", async () => {
  const reply = await server.post([...fields({ run: "followed" }), file_part(small_json())]);
  await server.settled("followed");
  const upload = await server.get(`/uploads/${reply.json.upload}`);
  assert.equal(upload.run, reply.json.run);
  assert.equal(upload.traces[0].status, "done");
  assert.equal(upload.traces[0].progress, 1);
  assert.equal((await server.request("/api/v1/uploads/u_nothere")).status, 404);

  const [trace] = upload.traces;
  const path = `/uploads/${reply.json.upload}`;
  const rows = await server.get(`${path}?fields=filename,sha256,status`);
  const { filename, sha256 } = trace;
  assert.deepEqual(rows.items, [{ filename, sha256, status: "done" }]);
  const columns = await server.get(`${path}?format=columns`);
  assert.deepEqual(columns.columns.trace, [trace.id]);
  const none = await server.get(`${path}?format=columns&status=failed`);
  assert.equal(none.row_count, 0);
  const csv = await server.request(`/api/v1${path}?format=csv`);
  assert.equal(csv_rows(csv.text)[0].sha256, trace.sha256);
  assert.match(csv.headers.etag, /"upload\./);
  const unheard = await server.request(`/api/v1${path}?status=failed`);
  assert.equal(unheard.status, 400, "the object of an upload has no filters");
});

test("what cannot be an upload is refused as a problem that says what was expected", async () => {
  const trace = file_part(small_json());
  const cases = [
    [415, [], { "Content-Type": "application/x-www-form-urlencoded" }],
    [415, [], { "Content-Type": "text/plain" }],
    [400, [trace], { "Content-Type": "multipart/form-data" }],
    [[400, 422], [...fields({ run: "no-file" })], {}],
    [400, [...fields({ rank: "minus one" }), trace], {}],
    [400, [...fields({ rank: -1 }), trace], {}],
    [400, [...fields({ unknown: 1 }), trace], {}],
    [400, [...fields({ tag: "no-equals-sign" }), trace], {}],
  ];
  for (const [status, parts, headers] of cases) {
    const reply = await server.post(parts, "/upload", headers);
    const what = `${JSON.stringify(parts).slice(0, 80)} ${JSON.stringify(headers)} ${reply.text}`;
    assert.ok([status].flat().includes(reply.status), `${reply.status}: ${what}`);
    assert.equal(reply.headers["content-type"], "application/problem+json", what);
    assert.ok(reply.json.detail.length > 10, what);
  }
  assert.equal((await server.request("/api/v1/runs/no-file")).status, 404, "no run was made");
});

test("a file without one event is a trace that failed, and says what it is instead", async () => {
  const cases = [
    ["[2026-01-01 12:00:00] INFO step 1\n", /^found text that is not JSON, perhaps a log, expect/],
    ["[]", /^found an empty list, expected/],
    ['[{"step": 1, "loss": 2.3}]', /objects that are not events, perhaps metrics, with step, loss/],
    ['{"model_type": "llama"}', /^found settings of a model, expected/],
    ['{"traceEvents": []}', /^no events were recorded: /],
    ['{"traceEvents": 5}', /^found traceEvents that is not a list/],
  ];
  for (const [text, says] of cases) {
    const waited = await server.post([file_part(Buffer.from(text), "no.json")], "/upload?wait=60");
    assert.equal(waited.status, 422, waited.text);
    assert.match(waited.json.type, /analysis-failed$/);
    const { json } = await server.request(waited.headers.location);
    assert.equal(json.traces[0].status, "failed", text);
    assert.match(json.traces[0].error, says);
    assert.ok(waited.json.detail.startsWith("1 of 1 files failed, first 'no.json': "), waited.text);
    assert.ok(waited.json.detail.includes(json.traces[0].error.slice(0, 100)), waited.text);
    const path = file("no-trace.json", text);
    const { status, stderr } = await run_status(stepscope_bin(), ["analyze", path]);
    assert.equal(status, 4, text);
    assert.ok(stderr.includes(json.traces[0].error), stderr);
  }
  const pickled = await server.post([file_part(Buffer.from("\x80\x04\x95", "latin1"))], "/upload");
  assert.equal(pickled.status, 422);
  assert.match(pickled.json.detail, /found a Python pickle/);
});

test("an upload that was waited for fails with its first file that does", async () => {
  const [good, bad] = [small_json(), Buffer.from('{"traceEvents": []}')];
  const send = (path) => server.post([...fields({ run: "half-bad" }), file_part(good, "rank0.json"),
    file_part(bad, "rank1.json")], path);
  const failed = await send("/upload?wait=60");
  assert.equal(failed.status, 422, failed.text);
  assert.match(failed.json.detail, /^1 of 2 files failed, first 'rank1.json': no events/);
  assert.equal((await send("/upload?wait=60")).status, 422, "the same once more");
  assert.equal((await send("/upload")).status, 200, "nobody waits");
  assert.equal((await server.settled("half-bad")).status, "partial");
});

test("a request that ends before its last delimiter stores nothing", async () => {
  const boundary = "X-BOUND";
  const body = `--${boundary}\r\nContent-Disposition: form-data; name="run"\r\n\r\ncut-short\r\n` +
    `--${boundary}\r\nContent-Disposition: form-data; name="trace"; filename="a.json"\r\n\r\n` +
    '{"traceEvents":[';
  const reply = await server.request("/upload", { method: "POST", body,
    headers: { "Content-Type": `multipart/form-data; boundary=${boundary}` } });
  assert.ok([400, 422].includes(reply.status), `${reply.status} ${reply.text}`);
  assert.equal((await server.request("/api/v1/runs/cut-short")).status, 404);
});

test("a complete form in a body that was announced to be longer stores nothing", async () => {
  const form = [...fields({ run: "short-by-one" }), file_part(small_json())];
  const { body, headers } = multipart(form);
  const head = "POST /upload HTTP/1.1\r\nHost: localhost\r\n" +
    `Content-Length: ${body.length + 1}\r\n` +
    `Content-Type: ${headers["Content-Type"]}\r\n\r\n`;
  const socket = connect(server.port, "127.0.0.1");
  const chunks = [];
  socket.on("data", (bytes) => chunks.push(bytes));
  socket.end(Buffer.concat([Buffer.from(head), body]));
  await new Promise((done) => socket.on("close", done));
  assert.doesNotMatch(Buffer.concat(chunks).toString(), /^HTTP\/1.1 2/);
  assert.equal((await server.request("/api/v1/runs/short-by-one")).status, 404);
  await until("nothing of it is left", () => readdirSync(join(server.data, "spool")).length === 0);
});

test("a body longer than allowed is refused before it is read", async () => {
  const head = "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000000000000\r\n" +
    "Content-Type: multipart/form-data; boundary=b\r\n\r\n";
  const answer = await http_bytes(server.port, head);
  assert.match(answer, /^HTTP\/1.1 413 /);
  assert.match(answer, /application\/problem\+json/);
});

test("an announced length holds disk only as its bytes come", async () => {
  const held = () => readdirSync(join(server.data, "spool")).map((name) =>
    statSync(join(server.data, "spool", name), { throwIfNoEntry: false })?.blocks ?? 0)
    .reduce((sum, blocks) => sum + blocks * 512, 0);
  assert.equal(held(), 0);
  const sockets = Array.from({ length: 4 }, (_, i) => {
    const socket = connect(server.port, "127.0.0.1");
    socket.write(`PUT /api/v1/runs/announced/ranks/${i}/trace HTTP/1.1\r\nHost: localhost\r\n` +
      `Content-Length: ${1 << 30}\r\n\r\n{"a":"${"b".repeat(300_000)}`);
    return socket.on("error", () => {});
  });
  const spooled = () => readdirSync(join(server.data, "spool")).length === 4;
  await until("all have begun", () => spooled() && held() >= 4 * 256_000);
  assert.ok(held() < 4 * 1_500_000, `${held()} bytes are held for 1.2 MB that came`);
  sockets.forEach((socket) => socket.destroy());
  await until("all is given back", () => held() === 0);
});

test("many clients upload ranks of one run at once", async () => {
  const one = (rank) => server.post([
    ...fields({ run: "crowd", rank }), file_part(small_json({ names: [`kernel_${rank}`] }))]);
  const replies = await Promise.all(Array.from({ length: 24 }, (_, rank) => one(rank)));
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [202]);
  assert.equal(new Set(replies.map(({ json }) => json.run)).size, 1);
  const run = await server.settled("crowd");
  assert.equal(run.received, 24);
  assert.equal(run.status, "done");
  const { items } = await server.get("/runs/crowd/kernels?limit=all&sort=name");
  assert.equal(items.length, 24);
});

const OTHER_LINES = new RegExp("/(compare|client|inputs|events|whatif|comments|" +
  "api/v1/(agents|captures|views|figures|baselines|series|alerts|report|runs\\?))\\b");

/** The curl lines of README and guide that upload, without comments. */
const upload_lines = () => ["README.md", "GUIDE.md"].map(read_document).join("\n").split("\n")
  .filter((line) => line.startsWith("curl ") && !OTHER_LINES.test(line))
  .map((line) => line.replace(/\s+#.*$/, ""));

test("every curl line of README and guide that uploads works as it stands", async () => {
  const [{ data }, { data: other }] = job.files;
  const inputs = { "rank0.json.gz": gzipSync(data), "rank1.json.gz": gzipSync(other),
    "rank4.json": small_json({ names: ["rank4"] }) };
  Object.entries(inputs).forEach(([name, bytes]) => file(name, bytes));
  file("rank0.json", data);
  await run_shell("zstd -q -f rank0.json; cp rank0.json.zst rank3.json.zst", { cwd: folder });
  const make = ["token", "create", "--name", "me", "--scopes", "upload", "--data", server.data];
  const env = { ...process.env, TOKEN: (await run_program(stepscope_bin(), make)).trim() };
  const lines = upload_lines();
  assert.ok(lines.length >= 4, `${lines.length} curl lines`);
  for (const line of lines) {
    const real = line.replaceAll(/http:\/\/(HOST|127\.0\.0\.1:8080)/g, server.base);
    assert.ok(real.includes(server.base), line);
    const reply = JSON.parse(await run_shell(`${real} -sS`, { cwd: folder, env }));
    assert.match(reply.url ?? "", /\/runs\/r_/, `${line}: ${JSON.stringify(reply)}`);
    assert.equal((await server.settled(reply.run ?? reply.id)).status, "done", line);
  }
});

/** Starts an upload that never ends by itself; returns what ends it. */
async function hanging_upload(to, name) {
  const stop = new AbortController();
  const socket = connect(to.port, "127.0.0.1");
  stop.signal.addEventListener("abort", () => socket.destroy());
  socket.on("error", () => {});
  socket.write(`PUT /api/v1/runs/${name}/ranks/0/trace HTTP/1.1\r\nHost: localhost\r\n` +
    "Content-Length: 100000000\r\n\r\n");
  socket.write(Buffer.alloc(300_000, '{"a": [1, 2]}\n'));
  await until("the upload is being received", () =>
    readdirSync(join(to.data, "spool")).length > 0);
  return () => stop.abort();
}

test("an upload above the cap is asked to come back, and then is taken", async () => {
  const narrow = await start_server({ options: ["--uploads-in-flight", "1"] });
  const end = await hanging_upload(narrow, "first");
  const parts = [...fields({ run: "second" }), file_part(small_json())];
  const refused = await narrow.post(parts);
  assert.equal(refused.status, 503, refused.text);
  assert.match(refused.headers["retry-after"], /^\d+$/);
  assert.equal(refused.headers["content-type"], "application/problem+json");
  end();
  const taken = await until("there is room again", async () => {
    const reply = await narrow.post(parts);
    return reply.status === 202 && reply;
  });
  assert.equal((await narrow.settled(taken.json.run)).status, "done");
  assert.equal((await narrow.request("/api/v1/runs/first")).status, 404);
  await narrow.stop();
});

test("a file for a run by its id comes to it, also when it is renamed meanwhile", async () => {
  const made = await server.send("POST", "/runs", { name: "before" });
  const { id } = made.json;
  const bytes = small_json();
  const rename = async () => {
    const any = { "If-Match": "*" };
    assert.equal((await server.send("PATCH", `/runs/${id}`, { name: "after" }, any)).status, 200);
  };
  const answer = await new Promise((done, fail) => {
    const request = begin(`${server.base}/api/v1/runs/${id}/ranks/0/trace`, { method: "PUT",
      agent: false, headers: { "Content-Length": Buffer.byteLength(bytes),
        Expect: "100-continue" } });
    request.on("continue", () => rename().then(() => request.end(bytes), fail));
    request.on("response", (message) => done(message.resume())).on("error", fail);
    request.flushHeaders();
  });
  assert.equal(answer.statusCode, 202);
  assert.equal((await server.settled("after")).received, 1);
  assert.equal((await server.request("/api/v1/runs/before")).status, 404);
});

test("who waits for the analysis keeps nobody from uploading", async () => {
  const narrow = await start_server({ options: ["--uploads-in-flight", "1"] });
  const big = await generate(["--ranks", "1", "--size", "30M", "--format", "zst"]);
  const [{ data, filename }] = big.files;
  const parts = [...fields({ run: "awaited" }), file_part(data, filename)];
  const answer = narrow.post(parts, "/upload?wait=60");
  await until("it was taken", async () =>
    (await narrow.request("/api/v1/runs/awaited")).status === 200);
  const other = await narrow.post([...fields({ run: "other" }), file_part(small_json())]);
  assert.equal(other.status, 202, other.text);
  assert.equal((await answer).status, 200);
  await narrow.stop();
});

test("a run that is deleted while it is analyzed goes, and its bytes can come again", async () => {
  const big = await generate(["--ranks", "1", "--size", "30M", "--format", "zst"]);
  const [{ data, filename }] = big.files;
  const parts = [...fields({ run: "short-lived" }), file_part(data, filename)];
  for (let i = 0; i < 3; i++) {
    const reply = await server.post(parts);
    assert.equal(reply.status, 202, reply.text);
    const gone = await server.request(`/api/v1/runs/${reply.json.run}`,
      { method: "DELETE", headers: { "If-Match": "*" } });
    assert.equal(gone.status, 200, gone.text);
    assert.equal((await server.request(`/api/v1/runs/${reply.json.run}`)).status, 404);
  }
  const last = await server.post(parts);
  assert.equal((await server.settled(last.json.run)).status, "done");
  const back = await server.request(`/api/v1/runs/${last.json.run}/ranks/${
    (await server.get(`/runs/${last.json.run}`)).traces[0].rank}/trace`);
  assert.equal(back.body.equals(data), true);
});
