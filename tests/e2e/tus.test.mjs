// SPDX-License-Identifier: Apache-2.0
// Resumable uploads: the tus 1.0 protocol, and what happens to the upload.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { guide_script } from "./helpers/documents.mjs";
import { Line } from "./helpers/line.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { reply_faults } from "./helpers/openapi.mjs";
import { start_server } from "./helpers/server.mjs";
import {
  run_program, run_shell, stepscope_bin, temporary, until,
} from "./helpers/tools.mjs";
import { small_json } from "./helpers/traces.mjs";
import {
  metadata, tus, tus_begin, tus_offset, tus_open_piece, tus_piece,
} from "./helpers/tus.mjs";

let server;
let base;
const file = Buffer.from(small_json({ names: Array.from({ length: 500 }, (_, i) => `k${i}`) }));
const half = file.length >> 1;

before(async () => {
  server = await start_server();
  base = server.base;
});
after(() => server?.stop());

const hash = (algorithm, bytes) => createHash(algorithm).update(bytes).digest("base64");

/** Starts an upload and returns its address. */
async function began(length, meta, headers) {
  const reply = await tus_begin(base, length, meta, headers);
  assert.equal(reply.status, 201, reply.text);
  return reply.headers.location;
}

/** Files of unfinished uploads. */
const pieces = () => readdirSync(join(server.data, "pieces"));

test("options tell what is served", async () => {
  const reply = await server.request("/api/v1/tus", { method: "OPTIONS" });
  assert.equal(reply.status, 204);
  assert.equal(reply.headers["tus-version"], "1.0.0");
  const all = "creation,creation-with-upload,checksum,termination,expiration";
  assert.equal(reply.headers["tus-extension"], all);
  assert.equal(reply.headers["tus-checksum-algorithm"], "sha1,sha256");
  assert.equal(reply.headers["tus-max-size"], String(16 * 2 ** 30));
});

test("a file in three pieces becomes a trace with all its fields", async () => {
  const path = await began(file.length, { run: "pieces", project: "p", note: "n\nm", rank: 3,
    tag: ["branch=main", "mode=fast"], meta: "commit=1f2e3d4", step: "train*", warmup: 1,
    world_size: 4, filename: "rank3.json", filetype: "application/json" });
  assert.equal(await tus_offset(base, path), 0);
  const first = await tus_piece(base, path, 0, file.subarray(0, 1000));
  assert.equal(first.status, 204, first.text);
  assert.equal(first.headers["upload-offset"], "1000");
  assert.equal(first.headers["tus-resumable"], "1.0.0");
  assert.ok(Date.parse(first.headers["upload-expires"]) > Date.now() + 23 * 3600e3);
  assert.equal(await tus_offset(base, path), 1000);
  assert.equal((await tus_piece(base, path, 1000, file.subarray(1000, half))).status, 204);
  const last = await tus_piece(base, path, half, file.subarray(half));
  assert.equal(last.status, 204, last.text);
  const run = await server.settled("pieces");
  assert.equal(last.headers["upload-run"], run.id);
  const upload = await server.request(last.headers["upload-result"]);
  const [trace] = upload.json.traces;
  assert.equal(trace.sha256, createHash("sha256").update(file).digest("hex"));
  assert.equal(trace.filename, "rank3.json");
  assert.equal(trace.rank, 3);
  assert.deepEqual(run.tags, { branch: "main", mode: "fast" });
  assert.equal(run.meta.commit, "1f2e3d4");
  assert.deepEqual([run.project, run.note, run.step, run.warmup, run.world_size],
    ["p", "n\nm", "train*", 1, 4]);
  assert.deepEqual(pieces(), [], "nothing of it is left beside the blob");
});

test("a lost last answer is no loss", async () => {
  const path = await began(file.length, { run: "lost" });
  const { headers } = await tus_piece(base, path, 0, file);
  const head = await tus(base, "HEAD", path);
  assert.equal(head.headers["upload-offset"], String(file.length));
  assert.equal(head.headers["upload-result"], headers["upload-result"]);
  assert.equal(head.headers["cache-control"], "no-store");
  const again = await tus_piece(base, path, file.length, "");
  assert.equal(again.status, 204, again.text);
  assert.equal(again.headers["upload-run"], headers["upload-run"]);
  const state = await server.request(path);
  assert.deepEqual(reply_faults("GET", "/api/v1/tus/{upload}", state), []);
  assert.equal(state.json.state, "accepted");
  assert.equal(state.json.upload.run, headers["upload-run"]);
  assert.equal((await tus_piece(base, path, 0, file)).status, 409);
});

test("the first piece may come with the creation", async () => {
  const reply = await tus_begin(base, file.length, { run: "with" }, {}, file.subarray(0, half));
  assert.equal(reply.status, 201, reply.text);
  assert.equal(reply.headers["upload-offset"], String(half));
  const { headers: { location } } = reply;
  assert.equal((await tus_piece(base, location, half, file.subarray(half))).status, 204);
  const other = Buffer.from(small_json({ names: ["whole"] }));
  const whole = await tus_begin(base, other.length, { run: "with", rank: 1 }, {}, other);
  assert.equal(whole.status, 201, whole.text);
  assert.match(whole.headers["upload-run"], /^r_/);
  assert.equal((await server.settled("with")).received, 2);
});

test("what is no request of the protocol is refused, and changes nothing", async () => {
  const path = await began(file.length, { run: "strict" });
  const piece = (headers, body = "x") => tus_piece(base, path, 0, body, headers);
  const creation = (headers) => tus_begin(base, 5, { run: "strict" }, headers);
  const version = await piece({ "Tus-Resumable": "0.2.2" });
  assert.equal(version.status, 412);
  assert.equal(version.headers["tus-version"], "1.0.0");
  const cases = [
    [415, () => piece({ "Content-Type": "application/octet-stream" })],
    [400, () => piece({ "Upload-Offset": "x" })],
    [400, () => piece({ "Upload-Offset": "-1" })],
    [400, () => piece({ "Upload-Offset": "+0" })],
    [400, () => piece({ "Upload-Offset": "-0" })],
    [409, () => piece({ "Upload-Offset": 1 })],
    [400, () => piece({ "Upload-Checksum": "md5 AAAA" })],
    [400, () => piece({ "Upload-Checksum": "sha1 AAAA" })],
    [400, () => piece({ "Upload-Checksum": "sha1" })],
    [413, () => piece({}, Buffer.alloc(file.length + 1, 32))],
    [404, () => tus_piece(base, "/api/v1/tus/p_none", 0, "x")],
    [404, () => tus(base, "HEAD", "/api/v1/tus/p_none")],
    [404, () => tus(base, "DELETE", "/api/v1/tus/..%2fp")],
    [412, () => creation({ "Tus-Resumable": "2" })],
    [400, () => creation({ "Upload-Length": "x" })],
    [400, () => creation({ "Upload-Length": "+5" })],
    [400, () => creation({ "Upload-Concat": "partial" })],
    [400, () => creation({ "Upload-Defer-Length": 1 })],
    [422, () => creation({ "Upload-Length": 0 })],
    [413, () => creation({ "Upload-Length": 16 * 2 ** 30 + 1 })],
    [507, () => creation({ "Upload-Length": 16 * 2 ** 30 }), "disk"],
    [400, () => creation({ "Upload-Metadata": "run" + " " + "=" })],
    [400, () => creation({ "Upload-Metadata": metadata({ rank: "x" }) })],
    [400, () => creation({ "Upload-Metadata": metadata({ run: "a/\u0007" }) })],
    [400, () => creation({ "Upload-Metadata": metadata({ unknown: "x" }) })],
    [400, () => creation({ "Idempotency-Key": "a b" })],
    [405, () => tus(base, "POST", path)],
  ];
  for (const [i, [status, answer, what]] of cases.entries()) {
    const reply = await answer();
    // Whether 16 GiB fit depends on the disk.
    if (what === "disk" && reply.status === 201) {
      await tus(base, "DELETE", reply.headers.location);
      continue;
    }
    assert.equal(reply.status, status, `case ${i}: ${reply.status} ${reply.text}`);
  }
  assert.equal(await tus_offset(base, path), 0);
  assert.equal((await tus(base, "DELETE", path)).status, 204);
});

/** Disk space held by the largest upload. */
const held_bytes = () => Math.max(...pieces().filter((name) => name.endsWith(".part"))
  .map((name) => statSync(join(server.data, "pieces", name)).blocks * 512));

/** Until the first bytes of a piece are on disk and the server waits for more. */
const being_written = (path) => until("the piece is being written", async () =>
  held_bytes() > 0 && (await tus(base, "HEAD", path)).status === 423);

test("a piece with a checksum counts when it agrees, and not at all when not", async () => {
  const path = await began(file.length, { run: "sums" });
  const first = file.subarray(0, half);
  for (const algorithm of ["sha1", "sha256"]) {
    const wrong = { "Upload-Checksum": `${algorithm} ${hash(algorithm, "other")}` };
    const refused = await tus_piece(base, path, 0, first, wrong);
    assert.equal(refused.status, 460, refused.text);
    assert.equal(await tus_offset(base, path), 0);
  }
  const right = (bytes) => ({ "Upload-Checksum": `sha256 ${hash("sha256", bytes)}` });
  assert.equal((await tus_piece(base, path, 0, first, right(first))).status, 204);
  const open = tus_open_piece(base, path, half, file.length - half);
  open.request.setHeader("Upload-Checksum", right(file.subarray(half))["Upload-Checksum"]);
  open.request.write(file.subarray(half, half + 500));
  await being_written(path);
  open.request.destroy();
  await open.answer;
  await until("the piece that broke off is forgotten", async () =>
    (await tus(base, "HEAD", path)).headers["upload-offset"] === String(half));
  const rest = file.subarray(half);
  assert.equal((await tus_piece(base, path, half, rest, right(rest))).status, 204);
  assert.equal((await server.settled("sums")).status, "done");
});

test("an upload of which nothing came holds no disk", async () => {
  const path = await began(1 << 28, { run: "nothing" });
  assert.ok(held_bytes() < 1 << 20, `${held_bytes()} bytes`);
  assert.equal((await tus(base, "DELETE", path)).status, 204);
});

test("what came before the connection broke is kept, and one writes at a time", async () => {
  const path = await began(file.length, { run: "broken" });
  const open = tus_open_piece(base, path, 0, file.length);
  open.request.write(file.subarray(0, half));
  await being_written(path);
  assert.equal((await tus_piece(base, path, 0, file)).status, 423);
  const head = await tus(base, "HEAD", path);
  assert.equal(head.status, 423);
  assert.match(head.headers["retry-after"], /^\d+$/);
  open.request.destroy();
  await open.answer;
  await until("the bytes are kept", async () =>
    (await tus(base, "HEAD", path)).headers["upload-offset"] === String(half));
  assert.equal((await tus_piece(base, path, half, file.subarray(half))).status, 204);
  assert.equal((await server.settled("broken")).status, "done");
});

test("chunked pieces are taken, up to the announced length", async () => {
  const path = await began(file.length, { run: "chunked" });
  const first = tus_open_piece(base, path, 0, null);
  first.request.end(file.subarray(0, half));
  assert.equal(await first.answer, 204);
  const long = tus_open_piece(base, path, half, null);
  long.request.end(Buffer.concat([file.subarray(half), Buffer.alloc(300_000, 32)]));
  assert.equal(await long.answer, 413);
  assert.ok(await tus_offset(base, path) >= half);
  assert.equal((await tus(base, "DELETE", path)).status, 204);
});

test("an upload that was ended is gone, and its file with it", async () => {
  const path = await began(file.length, { run: "ended" });
  await tus_piece(base, path, 0, file.subarray(0, half));
  assert.equal(pieces().length, 2);
  const ended = await tus(base, "POST", path, { "X-HTTP-Method-Override": "DELETE" });
  assert.equal(ended.status, 204, ended.text);
  assert.deepEqual(pieces(), []);
  assert.equal((await tus(base, "HEAD", path)).status, 404);
  assert.equal((await tus_piece(base, path, half, file.subarray(half))).status, 404);
  assert.equal((await tus(base, "DELETE", path)).status, 404);
});

test("a file that cannot be a trace is refused by its first bytes, for good", async () => {
  const path = await began(1 << 20, { run: "image", filename: "a.png" });
  const few = await tus_piece(base, path, 0, Buffer.from("\x89PNG\r\n\x1a\n", "latin1"));
  assert.equal(few.status, 204, "of a text as short, the first step may still come");
  const reply = await tus_piece(base, path, 8, Buffer.alloc(5000, "x"));
  assert.equal(reply.status, 422, reply.text);
  assert.deepEqual(pieces(), []);
  const later = await tus(base, "HEAD", path);
  assert.equal(later.status, 410);
  const state = await server.request(path);
  assert.equal(state.json.state, "refused");
  assert.match(state.json.refused, /PNG/);
});

test("a log whose steps come late is one by its name", async () => {
  const log = Buffer.from(`${"loading\n".repeat(2000)} iteration 1/ 5 | elapsed time per ` +
    "iteration (ms): 59.0 | lm loss: 2.5 |\n");
  const path = await began(log.length, { run: "late", filename: "job.log" });
  const first = await tus_piece(base, path, 0, log.subarray(0, 8000));
  assert.equal(first.status, 204, first.text);
  const rest = log.subarray(8000);
  const sum = { "Upload-Checksum": `sha1 ${hash("sha1", rest)}` };
  assert.equal((await tus_piece(base, path, 8000, rest, sum)).status, 204);
  const again = await began(log.length, { run: "late-sum", filename: "job.log" });
  const whole = { "Upload-Checksum": `sha1 ${hash("sha1", log)}` };
  assert.equal((await tus_piece(base, again, 0, log, whole)).status, 204);
});

test("other bytes for a rank are refused at the end, and taken with replace", async () => {
  const one = file_part(small_json({ names: ["first"] }));
  await server.post([...fields({ run: "taken", rank: 0 }), one]);
  const path = await began(file.length, { run: "taken", rank: 0 });
  const reply = await tus_piece(base, path, 0, file);
  assert.equal(reply.status, 409, reply.text);
  assert.match(reply.json.type, /rank-conflict$/);
  assert.deepEqual(pieces(), []);
  const again = await began(file.length, { run: "taken", rank: 0, replace: "true" });
  assert.equal((await tus_piece(base, again, 0, file)).status, 204);
  const sha256 = createHash("sha256").update(file).digest("hex");
  assert.equal((await server.settled("taken")).traces[0].sha256, sha256);
});

test("the same key gives the same upload in every form", async () => {
  const key = { "Idempotency-Key": "5e1f-1" };
  const path = await began(file.length, { run: "keyed" }, key);
  assert.equal(await began(file.length, { run: "keyed" }, key), path);
  assert.equal((await tus_begin(base, file.length + 1, { run: "keyed" }, key)).status, 409);
  assert.equal((await tus_begin(base, file.length, { run: "other" }, key)).status, 409);
  await tus_piece(base, path, 0, file);
  const complete = await tus_begin(base, file.length, { run: "keyed" }, key);
  assert.equal(complete.status, 409, "without bytes nobody knows whether it is the same file");
  assert.match(complete.headers["upload-result"], /^\/api\/v1\/uploads\/u_/);
  assert.equal(complete.headers.location, path);
  const along = { ...key, "Content-Type": "application/offset+octet-stream" };
  const same = await tus_begin(base, file.length, { run: "keyed" }, along, file);
  assert.equal(same.status, 201, same.text);
  assert.equal(same.headers["upload-offset"], String(file.length));
  const wrong = Buffer.alloc(file.length, "{");
  const others = await tus_begin(base, file.length, { run: "keyed" }, along, wrong);
  assert.equal(others.status, 409);
  assert.match(others.json.detail, /other bytes/);

  const send = () => server.post([file_part(file)], "/upload", { "Idempotency-Key": "form" });
  const [first, second] = [await send(), await send()];
  assert.equal(first.status, 202, first.text);
  assert.ok([200, 202].includes(second.status), second.text);
  assert.equal(second.json.upload, first.json.upload);
  assert.equal(second.json.run, first.json.run, "no second run was made up");
  const both = await Promise.all([1, 2, 3, 4].map(() =>
    server.post([file_part(file)], "/upload", { "Idempotency-Key": "at once" })));
  assert.equal(new Set(both.map(({ json }) => json.upload)).size, 1);
});

test("pieces survive a restart, and nothing else does", async () => {
  const path = await began(file.length, { run: "restart" });
  await tus_piece(base, path, 0, file.subarray(0, half));
  const gone = await began(file.length, { run: "gone" });
  await tus(base, "DELETE", gone);
  await server.kill();
  server = await start_server({ data: server.data });
  base = server.base;
  assert.equal(await tus_offset(base, path), half);
  assert.equal((await tus_piece(base, path, half, file.subarray(half))).status, 204);
  assert.equal((await server.settled("restart")).status, "done");
  assert.ok(!existsSync(join(server.data, "pieces", `${path.split("/").at(-1)}.part`)));
});

test("what is about to stop keeps what it has, at once", async () => {
  const path = await began(64 << 20, { run: "drained" });
  const open = tus_open_piece(base, path, 0, 64 << 20);
  open.request.write(file);
  const trickle = setInterval(() => open.request.write(Buffer.alloc(100_000, " ")), 20);
  await until("it is being received", async () =>
    statSync(join(server.data, "pieces", `${path.split("/").at(-1)}.part`)).size > 500_000);
  const stopped = server.stop();
  assert.ok([503, 0].includes(await open.answer));
  clearInterval(trickle);
  await stopped;
  server = await start_server({ data: server.data });
  base = server.base;
  assert.ok(await tus_offset(base, path) >= 500_000);
  assert.equal((await tus(base, "DELETE", path)).status, 204);
});

test("nobody but who began an upload sees it or goes on with it", async () => {
  const data = join(temporary("guarded"), "data");
  const token = async (scopes) => {
    const args = ["token", "create", "--data", data, "--name", scopes.replace(",", "-"),
      "--scopes", scopes];
    const [secret] = /ss_[\w-]+/.exec(await run_program(stepscope_bin(), args));
    return { Authorization: `Bearer ${secret}` };
  };
  const [one, other] = [await token("upload"), await token("upload,write")];
  const guarded = await start_server({ data, options: ["--auth", "required"] });
  const begun = await tus_begin(guarded.base, file.length, { run: "own" }, one);
  assert.equal(begun.status, 201, begun.text);
  const path = begun.headers.location;
  for (const method of ["HEAD", "GET", "DELETE"]) {
    assert.equal((await tus(guarded.base, method, path, other)).status, 404, method);
    assert.equal((await tus(guarded.base, method, path)).status, 401, method);
  }
  assert.equal((await tus_piece(guarded.base, path, 0, file, other)).status, 404);
  assert.equal((await tus_piece(guarded.base, path, 0, file, one)).status, 204);
  await guarded.stop();
});

test("the guide's loop goes on through lost connections", async () => {
  const folder = temporary("loop");
  const big = Buffer.concat([file, Buffer.alloc(8 << 20, " ")]);
  writeFileSync(join(folder, "rank0.json.zst"), big);
  const line = await new Line().open(server.port);
  const script = guide_script("/api/v1/tus").replaceAll("http://HOST", line.base);
  line.cut_at = 3 << 20;
  const done = run_shell(`set +e; ${script}`, { cwd: folder });
  await until("the line is cut", () => !line.up);
  line.mend();
  assert.equal(JSON.parse(await done).state, "accepted");
  const run = await server.settled("exp42");
  assert.equal(run.traces[0].sha256, createHash("sha256").update(big).digest("hex"));
  assert.ok(line.sent < big.length + (4 << 20), `${line.sent} bytes were sent`);
  line.close();
});

test("a first piece that was damaged on its way is sent again", async () => {
  const path = await began(file.length, { run: "damaged" });
  const sum = { "Upload-Checksum": `sha256 ${hash("sha256", file)}` };
  const damaged = Buffer.concat([Buffer.from("\x7fELF"), file.subarray(4)]);
  assert.equal((await tus_piece(base, path, 0, damaged, sum)).status, 460);
  const again = await tus_piece(base, path, 0, file, sum);
  assert.equal(again.status, 204, again.text);
});

test("what is no trace is refused as soon as its checksum agrees", async () => {
  const path = await began(file.length, { run: "elf" });
  const elf = Buffer.concat([Buffer.from("\x7fELF"), Buffer.alloc(5000)]);
  const sum = { "Upload-Checksum": `sha1 ${hash("sha1", elf)}` };
  assert.equal((await tus_piece(base, path, 0, elf, sum)).status, 422);
  assert.equal((await tus(base, "HEAD", path)).status, 410);
});

test("an offset once given never goes back, whoever asks meanwhile", async () => {
  const path = await began(file.length, { run: "asked" });
  const step = 1 + Math.floor(file.length / 150);
  let offset = 0;
  let done = false;
  const ask = async () => {
    while (!done) {
      const before = offset;
      const { status, headers } = await tus(base, "HEAD", path);
      if (status !== 423) assert.ok(Number(headers["upload-offset"]) >= before, `${status}`);
    }
  };
  const send = async () => {
    while (offset + step < file.length) {
      const piece = file.subarray(offset, offset + step);
      const sum = { "Upload-Checksum": `sha1 ${hash("sha1", piece)}` };
      const { status } = await tus_piece(base, path, offset, piece, sum);
      if (status === 204) offset += step;
      else assert.equal(status, 423);
    }
    done = true;
  };
  const end = () => { done = true; };
  await Promise.all([send(), ask(), ask(), ask(), ask()].map((one) => one.finally(end)));
  assert.equal((await tus(base, "DELETE", path)).status, 204);
});

test("an upload does not expire while its bytes come", async () => {
  const names = Array.from({ length: 20_000 }, (_, i) => `k${i}`);
  const bytes = Buffer.from(small_json({ names }));
  const path = await began(bytes.length, { run: "slow" });
  const { request, answer } = tus_open_piece(base, path, 0, bytes.length);
  const lasts_ms = async () =>
    Date.parse((await server.request(path)).json.expires) - Date.now();
  // The service may be writing, too.
  await run_program("sqlite3", ["-cmd", ".timeout 60000", join(server.data, "stepscope.db"),
    "UPDATE resumable SET expires_ns = expires_ns - 23 * 3600 * 1000000000 " +
    `WHERE id = '${path.split("/").at(-1)}'`]);
  assert.ok(await lasts_ms() < 2 * 3600e3);
  request.write(bytes.subarray(0, bytes.length - 1));
  await until("it lasts longer", async () => await lasts_ms() > 23 * 3600e3);
  request.end(bytes.subarray(bytes.length - 1));
  assert.equal(await answer, 204);
});

test("an upload that was complete as the service died is accepted and audited later", async () => {
  const path = await began(file.length, { run: "later" });
  const id = path.split("/").at(-1);
  assert.equal((await tus_piece(base, path, 0, file.subarray(0, half))).status, 204);
  const { data } = server;
  await server.stop();
  writeFileSync(join(data, "pieces", `${id}.part`), file);
  await run_program("sqlite3", [join(data, "stepscope.db"),
    `UPDATE resumable SET flushed = bytes WHERE id = '${id}'`]);
  server = await start_server({ data });
  base = server.base;
  const reply = await tus(base, "HEAD", path);
  assert.equal(reply.headers["upload-run"]?.slice(0, 2), "r_");
  const upload = reply.headers["upload-result"].split("/").at(-1);
  const audit = await server.request("/api/v1/audit?limit=all");
  assert.ok(audit.text.includes(`upload ${upload} run`), audit.text.slice(0, 1000));
});

test("pieces give one entry of the audit log together, also by POST instead of PATCH", async () => {
  const path = await began(file.length, { run: "by-post" });
  const cut = file.length >> 2;
  for (let at = 0; at < file.length; at += cut) {
    const reply = await tus(base, "POST", path, {
      "X-HTTP-Method-Override": "PATCH", "Upload-Offset": at,
      "Content-Type": "application/offset+octet-stream",
    }, file.subarray(at, at + cut));
    assert.equal(reply.status, 204, reply.text);
  }
  const audit = await server.get("/audit?limit=all");
  const entries = audit.items.filter(({ object }) => object.startsWith(path));
  assert.deepEqual(entries.map(({ action, status }) => [action, status]),
    [["POST /api/v1/tus/{upload}", 204]]);
  assert.match(entries[0].object, /upload u_\w+ run r_/);
});

test("a clock that leapt ends no upload before it is believed", async () => {
  const key = { "Idempotency-Key": "leapt" };
  const again = () => tus_begin(base, file.length, { run: "leapt" }, key);
  const path = (await again()).headers.location;
  assert.equal((await tus_piece(base, path, 0, file.subarray(0, half))).status, 204);
  const { data } = server;
  const set = (day) => run_program("sqlite3", [join(data, "stepscope.db"),
    `UPDATE believed_clock SET at_ns = ${Date.now() - day * 86400e3}000000; ` +
    `UPDATE resumable SET expires_ns = ${Date.now() - 2 * 86400e3}000000 ` +
    `WHERE id = '${path.split("/").at(-1)}'`]);
  const restart = async (day) => {
    await server.stop();
    await set(day);
    server = await start_server({ data });
    base = server.base;
  };
  await restart(10);
  assert.equal(await tus_offset(base, path), half);
  assert.equal((await again()).headers.location, path, "and its key still leads to it");
  await restart(0);
  assert.ok([404, 410].includes((await tus(base, "HEAD", path)).status));
});

test("an upload that nobody goes on with expires", async () => {
  const { data } = server;
  await server.stop();
  server = await start_server({ data, options: ["--resume-hours", "0"] });
  base = server.base;
  const reply = await tus_begin(base, file.length, { run: "late" });
  const path = reply.headers.location;
  assert.ok([404, 410].includes((await tus(base, "HEAD", path)).status));
  assert.ok([404, 410].includes((await tus_piece(base, path, 0, file)).status));
  await until("its row and its file are gone", async () =>
    pieces().length === 0 && (await tus(base, "HEAD", path)).status === 404);
});
