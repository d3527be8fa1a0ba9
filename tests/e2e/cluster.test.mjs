// SPDX-License-Identifier: Apache-2.0
// Rows in PostgreSQL and files in S3: a service on them answers as one on SQLite and its own disk
// does, and several of them share the work, even while one of them dies.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { tar } from "./helpers/archives.mjs";
import { no_postgres, start_postgres } from "./helpers/postgres.mjs";
import { s3_keys, start_s3 } from "./helpers/s3.mjs";
import { assert_same_answers, same_words } from "./helpers/same_answers.mjs";
import { start_server } from "./helpers/server.mjs";
import { root, run_program, run_status, stepscope_bin, temporary, until }
  from "./helpers/tools.mjs";
import { generate, small_job } from "./helpers/traces.mjs";

const LIMIT = 900_000;
Object.assign(process.env, s3_keys);

/** The name of the service of a data folder. */
const name_of = (data) => readFileSync(join(data, "node"), "utf8");

const TUS = { "Tus-Resumable": "1.0.0" };
const piece_from = (offset) => ({ ...TUS, "Upload-Offset": offset,
  "Content-Type": "application/offset+octet-stream" });

/** Starts a resumable upload. @returns {Promise<string>} its path */
async function create(server, run, data) {
  const metadata = Object.entries({ run, filename: "a.json" }).map(([name, text]) =>
    `${name} ${Buffer.from(text).toString("base64")}`).join(",");
  const made = await server.request("/api/v1/tus", { method: "POST", headers: { ...TUS,
    "Upload-Length": data.length, "Upload-Metadata": metadata } });
  return new URL(made.headers.location, server.base).pathname;
}

/** Where a resumable upload goes on, as a service sees it. */
async function offset_of(server, path) {
  const reply = await server.request(path, { method: "HEAD", headers: TUS });
  assert.equal(reply.status, 200);
  return Number(reply.headers["upload-offset"]);
}

async function fill(server, jobs) {
  for (const [i, { files }] of jobs.entries()) {
    const more = { project: "p", note: `the ${i}th`, tag: "model=x" };
    await server.analyzed(`a@${i + 1}`, files, more);
  }
  await server.analyzed("broken@1", [{ data: Buffer.from('{"traceEvents":['), filename: "x.json" }],
    { project: "p" });
  const best = await server.send("PUT", "/baselines/best", { run: "p/a@1" });
  assert.ok(best.status < 300, best.text);
}

describe("a store on PostgreSQL", { skip: no_postgres, timeout: LIMIT }, () => {
  /** @type {Awaited<ReturnType<typeof start_postgres>>} */
  let postgres;
  before(async () => { postgres = await start_postgres(); });

  test("answers byte for byte as one on SQLite", async () => {
    const jobs = [await generate(small_job()), await generate(small_job("--seed", "2"))];
    const one = await start_server();
    const other = await start_server({ options: ["--store", await postgres.store("same")] });
    await Promise.all([fill(one, jobs), fill(other, jobs)]);
    await assert_same_answers(one, other);
    await Promise.all([one.stop(), other.stop()]);
  });

  test("a database that was restarted is used again, and nothing is lost", async () => {
    const { files } = await generate(small_job("--ranks", "1"));
    const server = await start_server({ options: ["--store", await postgres.store("restarted")] });
    const run = await server.analyzed("before@1", files);
    await postgres.kill();
    const refused = await server.request("/api/v1/runs");
    assert.equal(refused.status, 503, refused.text);
    await postgres.start();
    assert.equal((await server.get(`/runs/${run.id}`)).status, "done");
    await server.analyzed("after@1", files);
    await server.stop();
  });

  test("a second service that keeps files on its own disk does not start", async () => {
    const options = ["--store", await postgres.store("alone")];
    const server = await start_server({ options });
    await assert.rejects(start_server({ options }), /give all of them the same --blobs/);
    await server.stop();
  });

  test("a service whose files are at another place than the others' does not start", async () => {
    const s3 = await start_s3();
    const start = (place) => start_server({ options: ["--store", store, "--blobs", place] });
    const store = await postgres.store("places");
    const server = await start(s3.place());
    await assert.rejects(start(s3.place().replace("/team", "/other")), /another file store/);
    await server.stop();
    await assert.rejects(start_server({ options: ["--store", "postgres://u:secret@[h/x"] }),
      ({ message }) => /expected a database as postgres:/.test(message) &&
        !message.includes("secret"));
    s3.stop();
  });

  test("keys to which S3 does not say what is missing end a start with what to grant", async () => {
    const s3 = await start_s3();
    const options = ["--store", await postgres.store("rights"), "--blobs", s3.place()];
    s3.instead = (request, response) => { // as S3 does without s3:ListBucket
      const key = new URL(request.url, "http://x").pathname.replace("/bucket/", "");
      if (!["GET", "HEAD"].includes(request.method) || s3.objects.has(key)) return false;
      s3.refuse(response, 403, "AccessDenied");
      return true;
    };
    await assert.rejects(start_server({ options }), /grant s3:ListBucket and s3:GetObject/);
    s3.instead = () => false;
    const server = await start_server({ options });
    assert.ok(s3.objects.has("team/place"));
    await server.stop();
    s3.stop();
  });

  test("files that another service removes before they are recorded are stored again", async () => {
    const s3 = await start_s3();
    const options = ["--store", await postgres.store("again"), "--blobs", s3.place()];
    const server = await start_server({ options });
    const { files } = await generate(small_job());
    const lost = new Set();
    s3.instead = (request) => {
      const key = request.url.replace("/bucket/", "");
      if (request.method === "HEAD" && key.includes("/blobs/") && !lost.has(key)) {
        lost.add(key);
        s3.objects.delete(key);
      }
    };
    const archive = tar(files.map(({ filename, data }) => ({ name: filename, data })));
    const run = await server.analyzed("a@1", [{ data: archive, filename: "job.tar" }]);
    assert.equal(run.status, "done");
    assert.equal(lost.size, 3); // the archive and its members
    for (const { data } of files) {
      const hash = createHash("sha256").update(data).digest("hex");
      assert.ok(s3.objects.has(`team/blobs/${hash.slice(0, 2)}/${hash}`), "a member is gone");
    }
    s3.instead = () => false;
    await server.stop();
    s3.stop();
  });

  test("a removal that S3 does not answer is given up soon, and done later", async () => {
    const s3 = await start_s3();
    const options = ["--store", await postgres.store("slow"), "--blobs", s3.place()];
    const server = await start_server({ options });
    const { files } = await generate(small_job("--ranks", "1"));
    const run = await server.analyzed("a@1", files);
    const times = [];
    s3.instead = (request, response) => {
      if (request.method !== "DELETE") return false;
      const from = performance.now();
      response.once("close", () => times.push(performance.now() - from));
      return true;
    };
    const headers = { "If-Match": "*" };
    for (const path of [`runs/${run.id}`, "bin"]) {
      const gone = await server.request(`/api/v1/${path}`, { method: "DELETE", headers });
      assert.ok(gone.status < 300, gone.text);
    }
    await until("S3 sees that its connections are closed", () => times.length > 0);
    assert.ok(times.every((ms) => ms < 8000), `${times}`);
    s3.instead = () => false;
    await until("it was done later", () =>
      [...s3.objects.keys()].every((key) => /(probe|place)$/.test(key)));
    await server.stop();
    s3.stop();
  });

  test("services share the work, and a job whose service died is done by another", async () => {
    const s3 = await start_s3();
    const place = await postgres.store("shared");
    const options = ["--store", place, "--blobs", s3.place(), "--jobs", "1"];
    const jobs = [await generate(small_job("--ranks", "6")), await generate(small_job())];
    const web = await start_server({ options: [...options, "--roles", "web"] });
    const victim = await start_server({ options });
    const single = await start_server();
    const whole = fill(single, jobs);
    const work = fill(web, jobs);
    const sql = (text) => postgres.run(text, "shared");
    const held = () => sql("SELECT count(*) FROM job WHERE state = 'running' AND owner = " +
      `'${name_of(victim.data)}'`).then(Number);
    // Stopped while one looks: else its job could be done before the kill.
    await until("it holds a job", async () => {
      victim.child.kill("SIGSTOP");
      if (await held() > 0) return true;
      victim.child.kill("SIGCONT");
      return false;
    }, 60_000);
    await victim.kill();
    await sql("UPDATE job SET lease_until_ns = 1 WHERE state = 'running'"); // time passes
    // Not before: they could have done all of the work while the first one was looked at.
    const others = [await start_server({ options }), await start_server({ options })];
    await Promise.all([work, whole]);
    await assert_same_answers(single, web);
    const twice = await sql("SELECT count(*) FROM job WHERE attempts > 1");
    assert.ok(Number(twice) >= 1, "no job was done again");
    assert.equal((await sql("SELECT count(*) FROM job WHERE state NOT IN ('done', 'failed')"))
      .trim(), "0");
    const by = await sql("SELECT DISTINCT owner FROM job WHERE state = 'done'");
    assert.ok(!by.includes(name_of(web.data)), "a service for requests analyzed");
    const headers = { "If-Match": "*" };
    for (const path of ["baselines/best", "runs/p%2Fa@1", "runs/p%2Fa@2", "runs/p%2Fbroken@1",
      "bin"]) {
      const gone = await web.request(`/api/v1/${path}`, { method: "DELETE", headers });
      assert.ok(gone.status < 300, `${path}: ${gone.text}`);
    }
    await until("the objects are gone", () =>
      [...s3.objects.keys()].every((key) => /(probe|place)$/.test(key)));
    await Promise.all([single, web, ...others].map((server) => server.stop()));
    s3.stop();
  });

  test("the service that looks after the data tells how much is stored, and no other", async () => {
    const s3 = await start_s3();
    const options = ["--store", await postgres.store("sizes"), "--blobs", s3.place()];
    const servers = [await start_server({ options }), await start_server({ options })];
    const sql = (text) => postgres.run(text, "sizes");
    const tells = async (server) =>
      (await server.request("/metrics")).text.includes("\nstepscope_blob_files ");
    const first = await until("one looks after the data", async () => {
      const name = (await sql("SELECT owner FROM leader WHERE role = 'care'")).trim();
      return servers.find(({ data }) => name_of(data) === name);
    });
    const other = servers.find((server) => server !== first);
    await until("it tells sizes", () => tells(first));
    assert.ok(!await tells(other));
    const { files: [{ data }] } = await generate(small_job("--ranks", "1"));
    const path = await create(first, "swept@1", data);
    const send = (server, from, to) => server.request(path, { method: "PATCH",
      body: data.subarray(from, to), headers: piece_from(from) });
    assert.equal((await send(first, 0, 1000)).status, 204);
    assert.equal((await send(other, 1000, data.length)).status, 204);
    const left = () => readdirSync(join(first.data, "pieces"));
    assert.ok(left().length > 0);
    await sql(`UPDATE leader SET owner = '${name_of(other.data)}' WHERE role = 'care'`);
    await until("the other one does, and it no longer", async () =>
      await tells(other) && !await tells(first));
    await until("its part of an upload that ended at the other one is gone", () =>
      left().length === 0);
    await Promise.all(servers.map((server) => server.stop()));
    s3.stop();
  });

  test("a service whose tables a newer one changed stores nothing and is not ready", async () => {
    const server = await start_server({ options: ["--store", await postgres.store("newer")] });
    const { files } = await generate(small_job("--ranks", "1"));
    const { id } = await server.analyzed("a@1", files);
    const ready = async () => (await server.request("/readyz")).status;
    await postgres.run("UPDATE schema_version SET version = version + 1", "newer");
    await until("it is not ready", async () => await ready() === 503);
    const refused = await server.post([{ name: "run", data: "a@2" },
      { name: "trace", data: Buffer.from('{"traceEvents":[]}'), filename: "b.json" }]);
    assert.equal(refused.status, 503, refused.text);
    assert.match(refused.text, /newer version/);
    assert.equal((await server.get(`/runs/${id}`)).status, "done");
    await postgres.run("UPDATE schema_version SET version = version - 1", "newer");
    await until("it is ready again", async () => await ready() === 200);
    await server.stop();
  });

  test("with the roles of deploy/ a service changes no tables, and a monitor sees the queue only",
    async () => {
      await postgres.run("CREATE DATABASE roles");
      const as = (user, sql) => postgres.client("psql", ["-qAt", "-v", "ON_ERROR_STOP=1", "-c",
        sql], { user, database: "roles" });
      const file = join(root, "deploy/postgres/roles.sql");
      await postgres.client("psql", ["-q", "-v", "ON_ERROR_STOP=1", "-f", file],
        { database: "roles" });
      const store = postgres.place("stepscope", "roles");
      await assert.rejects(start_server({ options: ["--store", store] }), /permission denied/);
      await run_program(stepscope_bin(), ["token", "list", "--store",
        postgres.place("stepscope_owner", "roles"), "--data", temporary("migration")]);
      const view = /CREATE VIEW[^;]*;/.exec(readFileSync(file, "utf8"))[0].replaceAll("--", "");
      await as("stepscope_owner", `${view} GRANT SELECT ON queue_depth TO stepscope_watch`);
      const server = await start_server({ options: ["--store", store] });
      const { files } = await generate(small_job("--ranks", "1"));
      assert.equal((await server.analyzed("a@1", files)).status, "done");
      for (const sql of ["DROP TABLE job", "ALTER TABLE job ADD x TEXT", "CREATE TABLE x ()"]) {
        await assert.rejects(as("stepscope", sql), /permission denied|must be owner/);
      }
      assert.equal(await as("stepscope_watch", "SELECT coalesce(sum(jobs), 0) FROM queue_depth"),
        "0\n");
      for (const table of ["job", "trace", "token"]) {
        await assert.rejects(as("stepscope_watch", `SELECT * FROM ${table}`), /permission denied/);
      }
      await server.stop();
    });

  test("both halves come back as they were at the moment of the dump", async () => {
    const s3 = await start_s3();
    await postgres.run("CREATE DATABASE one");
    await postgres.run("CREATE DATABASE two");
    const options = (name) => ["--store", postgres.place("app", name), "--blobs", s3.place(),
      "--bin-days", "0"];
    const server = await start_server({ options: options("one") });
    await fill(server, [await generate(small_job()), await generate(small_job("--seed", "2"))]);
    const single = await start_server({ options: ["--bin-days", "0"] });
    await fill(single, [await generate(small_job()), await generate(small_job("--seed", "2"))]);
    const dump = join(temporary("dump"), "dump");
    const dumping = postgres.client("pg_dump", ["--format=custom", "-f", dump],
      { database: "one" });
    const { files } = await generate(small_job("--ranks", "1", "--seed", "3"));
    await dumping;
    const late = await server.analyzed("late@1", files); // after the moment
    const kept = new Map(s3.objects); // versions, or a copy of the bucket
    const gone = await server.request("/api/v1/runs/p%2Fa@1", { method: "DELETE",
      headers: { "If-Match": "*" } });
    assert.equal(gone.status, 409, gone.text); // a baseline
    for (const name of ["p%2Fa@2", late.id]) {
      const removed = await server.request(`/api/v1/runs/${name}`, { method: "DELETE",
        headers: { "If-Match": "*" } });
      assert.ok(removed.status < 300, removed.text);
    }
    await until("its files are gone", () => s3.objects.size < kept.size);
    await server.stop();

    await postgres.client("pg_restore", ["--dbname=two", dump]);
    for (const [key, object] of kept) s3.objects.set(key, object);
    const again = await start_server({ options: options("two") });
    await assert_same_answers(single, again);
    for (const rank of [0, 1]) {
      const file = `/api/v1/runs/p%2Fa@2/ranks/${rank}/trace`;
      const [here, there] = [await single.request(file), await again.request(file)];
      assert.equal(there.status, 200);
      assert.ok(here.body.equals(there.body));
    }
    assert.equal((await again.request(`/api/v1/runs/${late.id}`)).status, 404);
    await Promise.all([single.stop(), again.stop()]);
    s3.stop();
  });

  test("one service sends webhooks, and another goes on when it dies", async () => {
    const got = [];
    let is_refusing = false;
    const receiver = createServer(async (asked, answer) => {
      let body = "";
      for await (const part of asked) body += part;
      if (!is_refusing) got.push(JSON.parse(body).data.name);
      answer.writeHead(is_refusing ? 503 : 204).end();
    }).listen(0, "127.0.0.1");
    receiver.unref();
    await once(receiver, "listening");
    const targets = join(temporary("hooks"), "hooks.json");
    writeFileSync(targets, JSON.stringify([
      { url: `http://127.0.0.1:${receiver.address().port}/` }]));
    const s3 = await start_s3();
    const options = ["--store", await postgres.store("hooks"), "--blobs", s3.place(),
      "--webhooks", targets];
    const servers = [await start_server({ options }), await start_server({ options })];
    const { files } = await generate(small_job("--ranks", "1"));
    const send = (name) => servers[1].analyzed(name, files, { world_size: 1 });
    await send("first@1");
    await until("word of it has come", () => got.length > 0);
    is_refusing = true;
    await send("second@1");
    const sql = (text) => postgres.run(text, "hooks");
    await until("the first is noted", async () =>
      (await sql("SELECT count(*) FROM leader WHERE role LIKE 'hook %'")).trim() === "1");
    const leader = (await sql("SELECT owner FROM leader WHERE role = 'hooks'")).trim();
    const victim = servers.find(({ data }) => name_of(data) === leader);
    await victim.kill();
    await sql("UPDATE leader SET until_ns = 1 WHERE role = 'hooks'"); // a minute passes
    is_refusing = false;
    await until("the other one sends what was on its way", () => got.length > 1);
    assert.deepEqual(got, ["first@1", "second@1"]);
    await servers.find((server) => server !== victim).stop();
    receiver.close();
    s3.stop();
  });

  test("an upload in pieces goes on at another service, whatever the first one still has",
    async () => {
      const s3 = await start_s3();
      const options = ["--store", await postgres.store("pieces"), "--blobs", s3.place()];
      const [first, second] = [await start_server({ options }), await start_server({ options })];
      const { files: [{ data }] } = await generate(small_job("--ranks", "1"));
      let path = await create(first, "whole@1", data);
      const offset_at = (server) => offset_of(server, path);
      const send = (server, from, to) => server.request(path, { method: "PATCH",
        body: data.subarray(from, to), headers: piece_from(from) });
      const asked = s3.log.length;
      assert.equal((await send(first, 0, data.length)).status, 204);
      assert.ok(!s3.log.slice(asked).some((line) => line.includes("pieces")), "nothing is shared");
      path = await create(first, "pieces@1", data);
      const quarter = data.length >> 2;
      assert.equal(await offset_at(second), 0);
      assert.equal((await send(first, 0, quarter)).status, 204);
      assert.equal(await offset_at(second), quarter);
      assert.equal((await send(second, quarter, 2 * quarter)).status, 204);
      assert.equal((await send(second, quarter, 2 * quarter)).status, 409); // it has moved on
      // As if a service had died after it stored a piece and before it said so.
      const folder = [...s3.objects.keys()].find((key) => key.includes("/pieces/"))
        .replace(/[^/]*$/, "");
      const orphan = `${folder}${`${quarter}`.padStart(20, "0")}-${quarter - 1}.n_dead`;
      s3.objects.set(orphan, { data: Buffer.alloc(quarter - 1), etag: '"x"', time: "" });
      await first.kill();
      rmSync(join(second.data, "pieces"), { recursive: true }); // as if it were a third one
      await second.stop();
      const third = await start_server({ data: second.data, options });
      assert.equal(await offset_at(third), 2 * quarter);
      const again = await start_server({ data: first.data, options });
      assert.equal((await send(again, 2 * quarter, 3 * quarter)).status, 204);
      const last = await send(third, 3 * quarter, data.length);
      assert.equal(last.status, 204, last.text);
      const run = last.headers["upload-run"];
      assert.equal((await third.settled(run)).status, "done");
      const stored = await again.request(`/api/v1/runs/${run}/ranks/0/trace`);
      assert.ok(stored.body.equals(data), "other bytes were put together");
      assert.ok(![...s3.objects.keys()].some((key) => key.includes("/pieces/")), "pieces remain");
      await Promise.all([third.stop(), again.stop()]);
      // What another service finished is swept, and a start does not need S3 for that.
      const left = () => readdirSync(join(first.data, "pieces"));
      assert.ok(left().length > 0);
      s3.instead = (request, response) => {
        if (!request.url.includes("pieces")) return false;
        s3.refuse(response, 403, "AccessDenied");
        return true;
      };
      const late = await start_server({ data: first.data, options });
      await until("it is swept", () => left().length === 0);
      await late.stop();
      s3.stop();
    });

  test("a service that dies in the middle of a large piece takes little of it along", async () => {
    const s3 = await start_s3();
    const options = ["--store", await postgres.store("large"), "--blobs", s3.place()];
    const [first, second] = [await start_server({ options }), await start_server({ options })];
    const { files: [file] } = await generate(small_job("--ranks", "1"));
    const data = Buffer.concat([file.data, Buffer.alloc((36 << 20) - file.data.length, " ")]);
    const path = await create(first, "large@1", data);
    const sending = request(new URL(path, first.base), { method: "PATCH", headers: {
      ...piece_from(0), "Content-Length": data.length } }).on("error", () => {});
    sending.write(data.subarray(0, 34 << 20)); // and no more
    await until("the other one has it", async () => await offset_of(second, path) === 32 << 20);
    await first.kill();
    const rest = await second.request(path, { method: "PATCH", body: data.subarray(32 << 20),
      headers: piece_from(32 << 20) });
    assert.equal(rest.status, 204, rest.text);
    assert.equal((await second.settled(rest.headers["upload-run"])).status, "done");
    assert.ok(![...s3.objects.keys()].some((key) => key.includes("/pieces/")), "pieces remain");
    await second.stop();
    s3.stop();
  });

  test("what a service found after its lease had run out changes nothing", async () => {
    const s3 = await start_s3();
    const place = await postgres.store("fenced");
    const options = ["--store", place, "--blobs", s3.place(), "--jobs", "1"];
    const sql = async (text) => (await postgres.run(text, "fenced")).trim();
    const late = await start_server({ options });
    const own = name_of(late.data);
    const upload = (name) => late.post([{ name: "run", data: name }, { name: "trace", ...file }]);
    const { files: [file] } = await generate(small_job("--ranks", "1", "--steps", "40"));
    let tries = 0, run = "";
    const held = await until("it is stopped with a job", async () => {
      const is_done = !run || (await late.get(`/runs/${run}`)).status === "done";
      // Its job may be done before it is stopped: then there is another one.
      if (is_done) ({ json: { run } } = await upload(`late@${++tries}`));
      late.child.kill("SIGSTOP");
      const id = await sql(`SELECT id FROM job WHERE state = 'running' AND owner = '${own}'`);
      if (!id) late.child.kill("SIGCONT");
      return id;
    });
    await sql("UPDATE job SET lease_until_ns = 1 WHERE state = 'running'"); // time passes
    const other = await start_server({ options });
    await other.settled(run);
    const what = `SELECT job.*, run.revision, run.done, run.failed FROM job JOIN run ON run.id =
      run_id WHERE job.id = ${held}`;
    const before_it_came = await sql(what);
    assert.equal(await sql(`SELECT attempts, owner FROM job WHERE id = ${held}`),
      `2|${name_of(other.data)}`);
    const path = `/api/v1/runs/${run}`;
    const { text } = await other.request(path);
    await other.stop();
    late.child.kill("SIGCONT");
    await late.settled((await upload("after@1")).json.run); // it has one worker
    assert.equal(await sql(what), before_it_came);
    assert.equal(same_words((await late.request(path)).text), same_words(text));
    assert.equal((await late.request(`${path}/ranks/0/trace`)).status, 200);
    await late.stop();
    s3.stop();
  });

  test("no transaction of all these waited for another in a circle", async () => {
    assert.equal(await postgres.run("SELECT sum(deadlocks) FROM pg_stat_database"), "0\n");
  });
});

const copy = (from, to, ...more) =>
  run_status(stepscope_bin(), ["copy", "--from", from, "--to", to, ...more]);

async function assert_copied(from, to, ...more) {
  const { status, stdout, stderr } = await copy(from, to, ...more);
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

async function assert_refused(why, from, to, ...more) {
  const { status, stderr } = await copy(from, to, ...more);
  assert.equal(status, 6, stderr);
  assert.match(stderr, why);
}

describe("a copy", { timeout: LIMIT }, () => {
  const folder = temporary("copy");
  const from = `sqlite:${join(folder, "from")}`;
  /** What the source answers. @type {Awaited<ReturnType<typeof start_server>>} */
  let source;
  before(async () => {
    source = await start_server({ data: join(folder, "from") });
    await fill(source, [await generate(small_job()), await generate(small_job("--seed", "2"))]);
  });

  /** Starts the source again, beside its copy. */
  async function assert_answers_as_source(server) {
    source = await start_server({ data: join(folder, "from") });
    await assert_same_answers(source, server);
    await source.stop();
  }

  test("of a folder answers as it does, and what is in use or has other data is left alone",
    async () => {
      const to = join(folder, "to");
      await assert_refused(/another process/, from, `sqlite:${to}`);
      await source.stop();
      assert.match(await assert_copied(from, `sqlite:${to}`), / 5 of them copied now; 0 missing/);
      assert.match(await assert_copied(from, `sqlite:${to}`), / 0 of them copied now; 0 missing/);
      assert.ok(!readdirSync(to).some((name) => name.startsWith("copy.")), "files are left");
      const server = await start_server({ data: to });
      await assert_refused(/another process/, from, `sqlite:${to}`);
      await assert_answers_as_source(server);
      await server.stop();
      await assert_refused(/other data/, from, `sqlite:${to}`);
    });

  test("to PostgreSQL and S3 goes on after kill -9, and back", { skip: no_postgres }, async () => {
    const postgres = await start_postgres();
    const s3 = await start_s3();
    const store = await postgres.store("copied");
    const options = ["--store", store, "--blobs", s3.place()];
    let puts = 0;
    s3.instead = ({ method, url }) => method === "PUT" && url.includes("/blobs/") && ++puts === 3;
    const args = ["copy", "--from", from, "--to", store, "--blobs", s3.place()];
    const child = spawn(stepscope_bin(), args, { stdio: "ignore" });
    await until("it is in the middle", () => puts >= 3);
    await assert_refused(/another/, from, store, "--blobs", s3.place());
    child.kill("SIGKILL");
    await until("it is gone", () => child.signalCode);
    s3.instead = () => false;
    await assert.rejects(start_server({ options }), /has not ended/);
    await until("PostgreSQL notices", async () => (await copy(from, store, "--blobs",
      s3.place())).status === 0);
    const other = s3.place().replace("/team", "/other");
    await assert.rejects(start_server({ options: ["--store", store, "--blobs", other] }),
      /another file store/);
    const server = await start_server({ options });
    await assert_answers_as_source(server);
    const back = `sqlite:${join(folder, "back")}`;
    await assert_refused(/a service uses the source/, store, back, "--blobs", s3.place());
    await server.stop();
    await postgres.run("UPDATE leader SET until_ns = 1 WHERE role = 'care'", "copied");
    await assert_refused(/other data/, from, store, "--blobs", s3.place());
    await assert_copied(store, back, "--blobs", s3.place());
    const again = await start_server({ data: join(folder, "back") });
    await assert_answers_as_source(again);
    await again.analyzed("a@3", (await generate(small_job())).files, { project: "p" });
    await again.stop();
    s3.stop();
  });
});
