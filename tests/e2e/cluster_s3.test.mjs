// SPDX-License-Identifier: Apache-2.0
// Files in S3: what a service stores is there before it says so, and whatever S3 does, nothing
// that was acknowledged is lost.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { no_postgres, start_postgres } from "./helpers/postgres.mjs";
import { s3_keys, start_s3 } from "./helpers/s3.mjs";
import { start_server } from "./helpers/server.mjs";
import { temporary, until } from "./helpers/tools.mjs";
import { generate, small_job } from "./helpers/traces.mjs";

const LIMIT = 900_000;
Object.assign(process.env, s3_keys);

test("an endpoint may name the port that its scheme has anyway", async () => {
  const s3 = await start_s3();
  // By a proxy: port 80 of this machine may be taken.
  const server = await start_server({
    under: ["env", `http_proxy=http://127.0.0.1:${s3.port}`],
    options: ["--blobs", "s3://bucket/team?endpoint=http://s3.test:80"] });
  const { files } = await generate(small_job("--ranks", "1"));
  assert.equal((await server.analyzed("a@1", files)).status, "done");
  assert.ok(s3.log.length > 0);
  await server.stop();
  s3.stop();
});

describe("files in S3", { timeout: LIMIT }, () => {
  /** @type {Awaited<ReturnType<typeof start_s3>>} */
  let s3;
  /** @type {Awaited<ReturnType<typeof start_server>>} */
  let server;
  let run;
  let files;
  const data = join(temporary("s3"), "data");
  const start = () => start_server({ data, options: ["--blobs", s3.place("&part_bytes=500000")] });
  const forget = () => ["blobs", "traces"].forEach((name) =>
    rmSync(join(data, "cache", name), { recursive: true, force: true }));
  const download = () => server.request(`/api/v1/runs/${run.id}/ranks/0/trace`);
  before(async () => {
    s3 = await start_s3();
    server = await start();
    ({ files } = await generate(small_job()));
    run = await server.analyzed("a@1", files);
  });
  after(async () => {
    await server.stop();
    s3.stop();
  });

  test("uploads and what is made of them are objects, the larger ones sent in parts", () => {
    assert.equal(run.status, "done");
    const keys = [...s3.objects.keys()].filter((key) => !key.endsWith("probe"));
    // Two uploads, the trace file of each, and the run's picture of all ranks.
    assert.equal(keys.length, 5, keys.join());
    for (const { data: bytes } of files) {
      const hash = createHash("sha256").update(bytes).digest("hex");
      const object = s3.objects.get(`team/blobs/${hash.slice(0, 2)}/${hash}`);
      assert.ok(object?.data.equals(bytes));
      assert.match(object.etag, /-3"$/);
    }
    assert.equal(s3.uploads.size, 0);
  });

  test("the cache may be removed at any time", async () => {
    forget();
    assert.ok((await download()).body.equals(files[0].data));
    await server.stop();
    forget();
    server = await start();
    assert.ok((await download()).body.equals(files[0].data));
    // Lists, which a service asks for after its start, are no files.
    const asked = () => s3.log.filter((line) => line.includes("/blobs/"));
    const before_it = asked();
    assert.ok((await download()).body.equals(files[0].data));
    assert.deepEqual(asked(), before_it, "a cached file was fetched again");
  });

  test("a service that is busy or breaks off is asked again", async () => {
    forget();
    let tries = 0;
    s3.instead = (request, response) => {
      if (request.method !== "GET" || !request.url.includes("/blobs/") || ++tries > 2) return false;
      if (tries === 1) s3.refuse(response, 503, "SlowDown");
      else {
        response.writeHead(200, { "Content-Length": files[0].data.length });
        response.write(files[0].data.subarray(0, 1000), () => response.destroy());
      }
      return true;
    };
    assert.ok((await download()).body.equals(files[0].data));
    s3.instead = () => false;
    assert.equal(tries, 3);
  });

  const CUT = 100_000;
  for (const [what, answer, asked] of /** @type {const} */ ([
    ["goes on there", () => false, [0, CUT]],
    ["is fetched from its start if it has changed",
      ({ headers }, response) => headers.range && !s3.refuse(response, 412, "PreconditionFailed"),
      [0, CUT, 0]],
    ["is taken whole if S3 gives that", (request) => { delete request.headers.range; },
      [0, CUT]],
    ["is fetched from its start if S3 gives another part", (request, response) => {
      if (!request.headers.range) return false;
      response.writeHead(206, { "Content-Range": "bytes 7-9/10" });
      return response.end("xxx");
    }, [0, CUT, 0]],
  ])) {
    test(`a file that broke off ${what}`, async () => {
      forget();
      const ranges = [];
      s3.instead = (request, response) => {
        if (request.method !== "GET" || !request.url.includes("/blobs/")) return false;
        const { range, "if-match": same } = request.headers;
        ranges.push(Number(/\d+/.exec(range ?? "0")[0]));
        const { data: bytes, etag } = s3.objects.get(request.url.replace("/bucket/", ""));
        assert.equal(same, range && etag);
        if (ranges.length > 1) return answer(request, response);
        response.writeHead(200, { "Content-Length": bytes.length, ETag: etag });
        response.write(bytes.subarray(0, CUT), () => response.destroy());
        return true;
      };
      assert.ok((await download()).body.equals(files[0].data));
      s3.instead = () => false;
      assert.deepEqual(ranges, asked);
    });
  }

  test("other bytes than those that were sent are not given out", async () => {
    const key = [...s3.objects.keys()].find((name) => name.includes("blobs/"));
    const object = s3.objects.get(key);
    const sound = object.data;
    object.data = Buffer.from(sound);
    object.data[sound.length >> 1] ^= 1;
    await server.stop();
    forget();
    server = await start();
    const answers = [];
    for (const rank of [0, 1]) {
      answers.push(await server.request(`/api/v1/runs/${run.id}/ranks/${rank}/trace`));
    }
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 503]);
    assert.match(answers.find(({ status }) => status === 503).text, /damaged/);
    object.data = sound;
  });

  test("refused or out of reach, uploads are not acknowledged", async () => {
    const upload = () => server.post([{ name: "run", data: "b@1" },
      { name: "trace", data: Buffer.from('{"traceEvents":[]}'), filename: "b.json" }]);
    s3.instead = (request, response) => {
      s3.refuse(response, 403, "AccessDenied");
      return true;
    };
    const refused = await upload();
    assert.ok(refused.status >= 500, refused.text);
    assert.match(refused.text, /403 AccessDenied/);
    s3.instead = (request, response) => Boolean(response.destroy());
    assert.equal((await upload()).status, 503);
    s3.instead = () => false;
    await server.alive();
  });

  test("a write that meets another of the same object is sent again", async () => {
    let refused = 0;
    s3.instead = (request, response) => {
      if (request.method !== "PUT" || !request.url.includes("/blobs/") || refused++) return false;
      s3.refuse(response, 409, "OperationAborted");
      return true;
    };
    const { files: [file] } = await generate(small_job("--ranks", "1", "--seed", "11"));
    assert.equal((await server.analyzed("meets@1", [file])).status, "done");
    s3.instead = () => false;
    assert.ok(refused > 1);
  });

  test("a service also starts while S3 is out of reach", async () => {
    await server.stop();
    s3.instead = (request, response) => {
      if (request.method === "PUT") return false; // the probe of /readyz
      s3.refuse(response, 403, "AccessDenied");
      return true;
    };
    server = await start();
    s3.instead = () => false;
    assert.ok((await download()).body.equals(files[0].data));
  });

  test("a start does not wait for S3", async () => {
    const old = new Date(Date.now() - 2 * 86_400_000).toISOString();
    s3.uploads.set("old", { key: `team/blobs/aa/${"a".repeat(64)}`, parts: [], time: old });
    await server.stop();
    const held = [];
    s3.instead = (request, response) => // it answers nothing but the probe of /readyz
      request.method !== "PUT" && Boolean(held.push(response));
    server = await start();
    assert.ok((await download()).body.equals(files[0].data));
    s3.instead = () => false;
    held.forEach((response) => response.destroy()); // it is asked again
    await until("uploads in parts that nobody ends are gone", () => s3.uploads.size === 0);
  });

  test("a cached file that was cut off is fetched again", async () => {
    const hash = createHash("sha256").update(files[0].data).digest("hex");
    truncateSync(join(data, "cache", "blobs", hash.slice(0, 2), hash), 1000);
    assert.ok((await download()).body.equals(files[0].data));
  });

  // What keys that ran out get is 400; to HEAD nothing else is said.
  for (const [status, code] of /** @type {const} */ ([[403, "RequestTimeTooSkewed"],
    [400, "ExpiredToken"]])) {
    test(`an analysis waits while S3 refuses to give its file: ${code}`, async () => {
      forget();
      s3.instead = (request, response) => {
        if (!["GET", "HEAD"].includes(request.method)) return false;
        s3.refuse(response, status, code);
        return true;
      };
      const again = await server.request(`/api/v1/runs/${run.id}/reanalyze`, { method: "POST" });
      assert.ok(again.status < 300, again.text);
      const asked = s3.log.length;
      await until("S3 was asked", () => s3.log.length > asked + 4);
      s3.instead = () => false;
      assert.equal((await server.settled(run.id)).status, "done");
    });
  }

  test("the answer that parts were put together may get lost", async () => {
    const { files: [file] } = await generate(small_job("--ranks", "1", "--seed", "8"));
    let lost = 0;
    s3.instead = (request, response) => {
      if (request.method !== "POST" || !request.url.includes("uploadId=") || lost++) return false;
      const [[id, { key, parts, hash }]] = [...s3.uploads];
      s3.uploads.delete(id);
      s3.objects.set(key, { data: Buffer.concat(parts), etag: '"x-3"', hash,
        time: new Date().toISOString() });
      return Boolean(response.destroy());
    };
    assert.equal((await server.analyzed("parts@1", [file])).status, "done");
    s3.instead = () => false;
    assert.ok(lost >= 1);
  });

  test("parts count once they are put together, although no answer ever comes", async () => {
    const { files: [file] } = await generate(small_job("--ranks", "1", "--seed", "10"));
    let tries = 0;
    s3.instead = (request, response) => {
      const id = new URL(request.url, "http://x").searchParams.get("uploadId");
      if (request.method !== "POST" || !id || !request.url.includes("/blobs/")) return false;
      const open = s3.uploads.get(id);
      if (open) {
        s3.uploads.delete(id);
        s3.objects.set(open.key, { data: Buffer.concat(open.parts), etag: '"x-3"', hash: open.hash,
          time: new Date().toISOString() });
      }
      tries++;
      return Boolean(response.destroy());
    };
    assert.equal((await server.analyzed("unheard@1", [file])).status, "done");
    s3.instead = () => false;
    assert.equal(tries, 4);
  });

  test("parts that were put together count without a word about it", async () => {
    const { files: [file] } = await generate(small_job("--ranks", "1", "--seed", "9"));
    s3.tells_etag = false;
    assert.equal((await server.analyzed("silent@1", [file])).status, "done");
    s3.tells_etag = true;
  });

  test("a start removes what nobody needs, but nothing young", async () => {
    const old = new Date(Date.now() - 2 * 86_400_000).toISOString();
    const now = new Date().toISOString();
    const orphan = (c, time) => s3.objects.set(`team/blobs/${c}${c}/${c.repeat(64)}`,
      { data: Buffer.from(c), etag: '"x"', time });
    orphan("a", old);
    orphan("b", now);
    s3.objects.set("team/blobs/..%2f", { data: Buffer.from("x"), etag: '"x"', time: old });
    const ours = `team/blobs/aa/${"a".repeat(64)}`;
    s3.uploads.set("old", { key: ours, parts: [], time: old });
    s3.uploads.set("new", { key: ours, parts: [], time: now });
    const foreign = ["team/a", "team/b", "team/blobs/aa/x y", "team/other",
      `team/x&y/blobs/aa/${"a".repeat(64)}`]; // the first two fill a page
    foreign.forEach((key) => s3.uploads.set(key, { key, parts: [], time: old }));
    s3.page = 2;
    await server.stop();
    server = await start();
    await until("the old orphan and the old upload in parts are gone", () =>
      ![...s3.objects.keys()].some((key) => key.includes("/aa/")) && !s3.uploads.has("old"));
    s3.page = 1000;
    const keys = [...s3.objects.keys()];
    assert.ok(keys.includes(`team/blobs/bb/${"b".repeat(64)}`), "a young one is gone");
    assert.ok(keys.includes("team/blobs/..%2f"), "a foreign object is gone");
    assert.deepEqual([...s3.uploads.keys()], ["new", ...foreign]);
    s3.uploads.clear();
    assert.ok((await download()).body.equals(files[0].data));
  });
});

describe("services that share S3", { skip: no_postgres, timeout: LIMIT }, () => {
  /** @type {Awaited<ReturnType<typeof start_postgres>>} */
  let postgres;
  /** @type {Awaited<ReturnType<typeof start_s3>>} */
  let s3;
  before(async () => {
    postgres = await start_postgres();
    s3 = await start_s3();
  });
  after(() => s3.stop());

  const trace = (duration) => Buffer.from(JSON.stringify({ traceEvents: [{ ph: "X", ts: 1,
    dur: duration, name: "k", cat: "kernel", pid: 0, tid: 7, args: {} }],
  distributedInfo: { rank: 0, world_size: 1 } }));
  const send = (server, run, data) => server.post([{ name: "run", data: run },
    { name: "rank", data: "0" }, { name: "trace", data, filename: "a.json" }]);
  const is_upload = ({ url }) => url.includes("/blobs/");
  /** Starts services on one new store. */
  const start_on = async (name, count, ...more) => {
    const options = ["--store", await postgres.store(name), "--blobs", `${s3.place()}`
      .replace("/team", `/${name}`), ...more];
    return Promise.all(Array.from({ length: count }, () => start_server({ options })));
  };
  const stop = (servers) => Promise.all(servers.map((server) => server.stop()));

  test("a removal that S3 does late takes no file that was acknowledged meanwhile", async () => {
    const [first, second, third] = await start_on("late", 3, "--roles", "web");
    const data = trace(2);
    const late = [];
    s3.instead = (request, response) => {
      if (request.method !== "DELETE" || !is_upload(request)) return false;
      late.push(request.url);
      setTimeout(() => {
        s3.objects.delete(request.url.replace("/bucket/", ""));
        response.end();
      }, 6000);
      return true;
    };
    assert.equal((await send(first, "r@1", trace(1))).status, 202);
    assert.equal((await send(first, "r@1", data)).status, 409); // its rank has another file
    const again = await send(second, "r@2", data);
    assert.equal(again.status, 202, again.text);
    if (late.length) await new Promise((done) => setTimeout(done, 7000));
    s3.instead = () => false;
    const kept = await third.request("/api/v1/runs/r%402/ranks/0/trace");
    assert.equal(kept.status, 200, kept.text);
    assert.ok(kept.body.equals(data));
    await stop([first, second, third]);
  });

  test("bytes are refused while S3 may still remove them, and taken once it said that it did",
    async () => {
      const name = "leaving";
      const [first, second] = await start_on(name, 2, "--roles", "web", "--bin-days", "0");
      const drop = (run) => first.request(`/api/v1/runs/${run}`, { method: "DELETE",
        headers: { "If-Match": "*" } });
      const data = trace(1);
      const { json: { run } } = await send(first, "r@1", data);
      assert.ok((await drop(run)).status < 300);
      const again = await send(second, "r@2", data);
      assert.equal(again.status, 202, again.text); // S3 has said that it is gone
      const late = [];
      s3.instead = (request, response) => {
        if (request.method !== "DELETE" || !is_upload(request)) return false;
        late.push({ key: request.url.replace("/bucket/", ""), response });
        return true;
      };
      assert.ok((await drop(again.json.run)).status < 300);
      const refused = await send(second, "r@3", data);
      assert.equal(refused.status, 503, refused.text);
      assert.match(refused.text, /being removed/);
      s3.instead = () => false;
      assert.ok(late.length >= 1);
      const left = () => postgres.run("SELECT count(*) FROM garbage", name);
      await until("care has removed it", async () => await left() === "0\n");
      assert.equal((await send(second, "r@3", data)).status, 503);
      late.forEach(({ key, response }) => { // now S3 does what it was asked first
        s3.objects.delete(key);
        response.destroy();
      });
      await postgres.run("UPDATE removal SET until_ns = 1", name); // time passes
      assert.equal((await send(second, "r@3", data)).status, 202);
      const kept = await first.request("/api/v1/runs/r%403/ranks/0/trace");
      assert.ok(kept.body.equals(data));
      await stop([first, second]);
    });

  test("wrong tokens at all services count together", async () => {
    const servers = await start_on("guesses", 2, "--roles", "web", "--trusted-proxy", "127.0.0.1");
    const guess = async (server) => (await server.request("/api/v1/runs", { headers: {
      Authorization: `Bearer ss_${"x".repeat(43)}` } })).status;
    for (let i = 0; i < 10; i++) assert.equal(await guess(servers[i % 2]), 401);
    for (const server of servers) assert.equal(await guess(server), 429);
    await stop(servers);
  });

  // A bucket that is in another zone now, a balancer with no S3 behind it, and an empty bucket.
  for (const code of ["NoSuchBucket", "", "NoSuchKey"]) {
    test(`files of a place that is away are not called missing: ${code || "404"}`, async () => {
      const name = `away${code.toLowerCase()}`;
      const [server] = await start_on(name, 1, "--jobs", "1");
      const { files } = await generate(small_job("--ranks", "1"));
      const run = await server.analyzed("a@1", files);
      ["blobs", "traces"].forEach((folder) =>
        rmSync(join(server.data, "cache", folder), { recursive: true, force: true }));
      s3.instead = (request, response) => {
        if (code) s3.refuse(response, 404, code);
        else response.writeHead(404).end("404 page not found");
        return true;
      };
      await postgres.run("UPDATE blob SET checked_ns = 0", name);
      const again = await server.request(`/api/v1/runs/${run.id}/reanalyze`, { method: "POST" });
      assert.ok(again.status < 300, again.text);
      const asked = s3.log.length;
      await until("care and the analysis have asked", () => s3.log.length > asked + 8);
      await until("care says so", () => /checking stored files/.test(server.log));
      s3.instead = () => false;
      const settled = await server.settled(run.id);
      assert.equal(settled.status, "done", await postgres.run("SELECT error FROM job", name));
      assert.equal(await postgres.run("SELECT count(*) FROM blob WHERE damage <> ''", name), "0\n");
      await stop([server]);
    });
  }

  test("a slow file holds up neither other uploads nor deletions", async () => {
    const [server] = await start_on("pins", 1, "--roles", "web", "--bin-days", "0");
    const { json: { run } } = await send(server, "r@1", trace(1));
    let held;
    s3.instead = (request, response) => {
      if (request.method !== "PUT" || !is_upload(request) || held) return false;
      held = response;
      return true;
    };
    const slow = send(server, "r@2", trace(2));
    await until("S3 holds it", () => held);
    let is_slow = true;
    slow.then(() => { is_slow = false; });
    const gone = server.request(`/api/v1/runs/${run}`, { method: "DELETE",
      headers: { "If-Match": "*" } });
    await new Promise((done) => setTimeout(done, 300));
    const other = send(server, "r@3", trace(3));
    assert.ok((await gone).status < 300);
    assert.equal((await other).status, 202);
    assert.ok(is_slow);
    held.destroy(); // it is asked again
    assert.equal((await slow).status, 202);
    s3.instead = () => false;
    await stop([server]);
  });
});
