// SPDX-License-Identifier: Apache-2.0
// The REST API as users see it: tables in every format, conditional requests, errors, headers.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { csv_rows } from "./helpers/csv.mjs";
import { http_bytes } from "./helpers/http.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import { generate, small_job, small_json } from "./helpers/traces.mjs";

const TABLES = ["breakdown", "steps", "step_stats", "kernels", "collectives", "classes",
  "findings", "trust", "environment", "ranks", "parts", "short_kernels", "launches",
  "clocks", "comm_waits", "lateness", "rank_steps", "efficiency", "strategy", "pipeline"];
const FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "a\n=2", "q\"uote, comma"];

let server;
const api = (path, what) => server.request(`/api/v1${path}`, what);

before(async () => {
  server = await start_server();
  const job = await generate(small_job());
  const other = await generate(small_job("--flavour", "rocm", "--slow", "130", "--seed", "2"));
  await server.analyzed("cuda-run@1", job.files, { tag: "vendor=nvidia", project: "llm" });
  await server.analyzed("rocm-run@1", other.files, { tag: "vendor=amd", note: "slower" });
  await server.analyzed("formulas", [{ filename: "rank0.json",
    data: small_json({ names: FORMULAS }) }]);
});
after(() => server?.stop());

/** Whether a CSV cell says the same as JSON, apart from the guard against formulas. */
function assert_cell(text, value, what) {
  if (typeof value === "number") assert.equal(Number(text), value, what);
  else assert.equal(text.replace(/^'/, ""), value === null ? "" : String(value), what);
}

for (const table of TABLES) {
  test(`json, columns, csv and ndjson of ${table} hold the same rows`, async () => {
    const path = `/runs/cuda-run@1/${table}`;
    const json = await server.get(`${path}?limit=all`);
    const columns = await server.get(`${path}?format=columns`);
    const csv = await api(`${path}?format=csv`);
    const ndjson = await api(`${path}?format=ndjson`);
    const names = json.columns.map(({ name }) => name);
    assert.equal(json.total, json.items.length);
    assert.equal(columns.row_count, json.items.length);
    assert.deepEqual(Object.keys(columns.columns), names);
    assert.deepEqual(json.items, json.items.map((_, row) =>
      Object.fromEntries(names.map((name) => [name, columns.columns[name][row]]))));
    assert.deepEqual(ndjson.text.split("\n").filter(Boolean).map((line) => JSON.parse(line)),
      json.items);
    assert.match(csv.headers["content-type"], /^text\/csv/);
    const plain = csv_rows(csv.text);
    assert.equal(plain.length, json.items.length);
    json.items.forEach((item, row) => names.forEach((name) =>
      assert_cell(plain[row][name], item[name], `${row} ${name}`)));
    for (const { name, unit, help } of json.columns) {
      assert.equal(typeof unit, "string", name);
      assert.ok(help.length > 0, `${table}.${name} has no help`);
      assert.ok(!name.endsWith("_ns") || unit === "ns", `${name} is in ${unit}`);
    }
  });
}

test("a spreadsheet takes no text cell for a formula", async () => {
  const { text } = await api("/runs/formulas/kernels?format=csv&fields=name");
  for (const { name } of csv_rows(text)) {
    assert.doesNotMatch(name, /(^|\n)[=+\-@\t\r]/);
  }
  const { items } = await server.get("/runs/formulas/kernels");
  const names = items.map(({ name }) => name);
  assert.deepEqual(names.sort(), [...FORMULAS].sort(), "json has them as they are");
});

test("rows can be sorted, limited, paged, searched, filtered and narrowed to fields", async () => {
  const all = (await server.get("/runs/cuda-run@1/kernels?limit=all&sort=-total_ns,name")).items;
  assert.ok(all.length > 5);
  for (let i = 1; i < all.length; i++) assert.ok(all[i - 1].total_ns >= all[i].total_ns);
  const paged = [];
  let cursor = "";
  do {
    const page = await server.get(
      `/runs/cuda-run@1/kernels?limit=3&sort=-total_ns,name${cursor && `&cursor=${cursor}`}`);
    assert.ok(page.items.length <= 3);
    assert.equal(page.total, all.length);
    paged.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor);
  assert.deepEqual(paged, all);
  const [{ name, category }] = all;
  const found = await server.get(
    `/runs/cuda-run@1/kernels?limit=all&q=${encodeURIComponent(name.slice(2, 30).toUpperCase())}`);
  assert.ok(found.items.some((item) => item.name === name));
  assert.ok(found.items.length < all.length);
  const filtered = await server.get(`/runs/cuda-run@1/kernels?limit=all&category=${
    encodeURIComponent(category)}&fields=category,calls`);
  assert.deepEqual([...new Set(filtered.items.map((item) => item.category))], [category]);
  assert.deepEqual(Object.keys(filtered.items[0]), ["category", "calls"]);
  const classes = [...new Set(all.map((item) => item.class))].slice(0, 2);
  const either = await server.get(
    `/runs/cuda-run@1/kernels?limit=all&${classes.map((one) => `class=${one}`).join("&")}`);
  assert.equal(either.items.length, all.filter((item) => classes.includes(item.class)).length);
});

test("rank= gives the tables of one rank", async () => {
  const whole = await server.get("/runs/cuda-run@1/kernels?limit=all&sort=name");
  const parts = await Promise.all([0, 1].map((rank) =>
    server.get(`/runs/cuda-run@1/kernels?rank=${rank}&limit=all`)));
  const calls = (reply, name) => reply.items.find((item) => item.name === name)?.calls ?? 0;
  for (const { name, calls: sum } of whole.items) {
    assert.equal(calls(parts[0], name) + calls(parts[1], name), sum, name);
  }
  const steps = await server.get("/runs/cuda-run@1/steps?rank=1&limit=all");
  assert.deepEqual([...new Set(steps.items.map(({ rank }) => rank))], [1]);
  assert.equal((await api("/runs/cuda-run@1/kernels?rank=9")).status, 404);
});

test("an unknown parameter, column, format or cursor is refused with what is known", async () => {
  const paths = ["/runs/cuda-run@1/kernels?sortt=name", "/runs/cuda-run@1/kernels?sort=nome",
    "/runs/cuda-run@1/kernels?fields=calls,nope", "/runs/cuda-run@1/kernels?format=xml",
    "/runs/cuda-run@1/kernels?limit=0", "/runs/cuda-run@1/kernels?limit=x",
    "/runs/cuda-run@1/kernels?cursor=zzz", "/runs?color=red", "/runs?sort=nope",
    "/runs/cuda-run@1?x=1", "/version?x=1", "/compare?base=cuda-run@1", "/runs?since=often",
    "/runs/cuda-run@1/kernels?calls=many"];
  for (const path of paths) {
    const reply = await api(path);
    assert.equal(reply.status, 400, `${path}: ${reply.text}`);
    const { type, title, status, detail, request_id } = reply.json;
    assert.match(type, /^tag:stepscope,2026:problem\/[a-z-]+$/);
    assert.ok(title && status === 400 && request_id, reply.text);
    assert.ok(detail.length > 15, `${path}: ${detail}`);
    assert.equal(reply.headers["x-request-id"], request_id);
  }
});

test("the list of runs can be searched, filtered, sorted and paged", async () => {
  const names = async (query) =>
    (await server.get(`/runs?${query}`)).items.map(({ name }) => name);
  assert.deepEqual(await names(""), ["formulas", "rocm-run@1", "cuda-run@1"], "newest first");
  assert.deepEqual(await names("q=ROCM"), ["rocm-run@1"]);
  assert.deepEqual(await names("tag=vendor=nvidia"), ["cuda-run@1"]);
  assert.deepEqual(await names("project=llm"), ["cuda-run@1"]);
  assert.deepEqual(await names("status=failed"), []);
  assert.deepEqual(await names("since=1h&sort=name"), ["cuda-run@1", "formulas", "rocm-run@1"]);
  assert.deepEqual(await names("gpu=nothing"), []);
  const { items: [run] } = await server.get("/runs?q=cuda-run");
  assert.equal(run.status, "done");
  assert.equal(run.received, 2);
  assert.equal(run.world_size, 2);
  assert.match(run.gpu, /H100/);
  assert.match(run.created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
  assert.equal(Object.keys(run.parts).length, 8);
  const first = await server.get("/runs?limit=2");
  const second = await server.get(`/runs?limit=2&cursor=${first.next_cursor}`);
  assert.equal(first.items.length + second.items.length, 3);
  assert.equal(second.next_cursor, null);
});

test("a run is found by id, name, project and name, and as the latest of its series", async () => {
  const { id } = await server.get("/runs/cuda-run@1");
  for (const key of ["cuda-run@1", "cuda-run~latest", "llm%2Fcuda-run@1"]) {
    const reply = await api(`/runs/${key}`);
    assert.equal(reply.status, 200, `${key}: ${reply.text}`);
    assert.equal(reply.json.id, id);
    assert.match(reply.headers["content-location"], new RegExp(`/api/v1/runs/${id}$`));
  }
  assert.equal((await api("/runs/none")).status, 404);
});

test("fields choose the columns of runs and of a summary as of any table", async () => {
  const { items } = await server.get("/runs?fields=name,project&sort=name&project=llm");
  assert.deepEqual(items, [{ name: "cuda-run@1", project: "llm" }]);
  const summary = await server.get("/runs/cuda-run@1/summary?fields=step_median_ns");
  assert.deepEqual(Object.keys(summary.items[0]), ["step_median_ns"]);
  assert.equal((await api("/runs?fields=nothing")).status, 400);
});

test("what has not changed is answered 304 and what has changed is not", async () => {
  await server.send("POST", "/runs", { name: "etag", note: "a" });
  const paths = ["/runs/etag", "/runs", "/runs/cuda-run@1/summary", "/openapi.json", "/version",
    "/runs/cuda-run@1/kernels?format=csv", "/runs?format=csv", "/runs?format=columns",
    "/runs/cuda-run@1/summary?format=csv", "/compare?base=cuda-run@1&cand=rocm-run@1"];
  const tags = new Map();
  for (const path of paths) {
    const { headers } = await api(path);
    const { etag } = headers;
    assert.match(etag ?? "", /^(W\/)?"[^"]+"$/, path);
    const again = await api(path, { headers: { "If-None-Match": etag } });
    assert.equal(again.status, 304, path);
    const policies = [undefined, headers["content-security-policy"]]; // the same, or that is kept
    assert.ok(policies.includes(again.headers["content-security-policy"]), path);
    assert.equal(again.body.length, 0);
    tags.set(path, etag);
  }
  const patched = await server.send("PATCH", "/runs/etag", { note: "b" },
    { "If-Match": tags.get("/runs/etag") });
  assert.equal(patched.status, 200, patched.text);
  for (const path of ["/runs/etag", "/runs", "/runs?format=csv"]) {
    const reply = await api(path, { headers: { "If-None-Match": tags.get(path) } });
    assert.equal(reply.status, 200, `${path} has changed`);
  }
  const seen = (path) => api(path, { headers: { "If-None-Match": tags.get(path) } });
  assert.equal((await seen("/runs/cuda-run@1/summary")).status, 304);
  const { headers: { etag } } = await api("/runs/etag");
  const removed = await api("/runs/etag", { method: "DELETE",
    headers: { "If-Match": etag, "If-None-Match": etag } });
  assert.equal(removed.status, 200, removed.text);
  assert.equal((await seen("/runs/etag")).status, 404);
  const json = await api("/runs/cuda-run@1/kernels");
  const csv = await api("/runs/cuda-run@1/kernels?format=csv");
  assert.notEqual(json.headers.etag, csv.headers.etag);
});

test("what is made of stored data has another tag in another program", async () => {
  const { json: { version } } = await api("/version");
  const run = "/runs/cuda-run@1", sides = "base=cuda-run@1&cand=rocm-run@1";
  for (const path of [`${run}/timeline`, `${run}/events?format=chrome&rank=0`, `${run}/workbook`,
    `${run}/kernels?format=csv`, `/compare?${sides}`, `/compare/workbook?${sides}`,
    "/report?run=cuda-run@1"]) {
    const { status, headers } = await api(path);
    assert.equal(status, 200, path);
    assert.ok(String(headers.etag).includes(`-${version}-`), `${path}: ${headers.etag}`);
  }
});

test("a change needs the tag of what was seen: 428 without, 412 with an old one", async () => {
  const made = await server.send("POST", "/runs", { name: "guarded", tags: { a: "1", b: "2" } });
  assert.equal(made.status, 201, made.text);
  assert.match(made.headers.location, /^\/api\/v1\/runs\/r_/);
  assert.equal((await server.send("POST", "/runs", { name: "guarded" })).status, 409);
  const { headers: { etag } } = await api("/runs/guarded");
  assert.equal((await server.send("PATCH", "/runs/guarded", { note: "x" })).status, 428);
  assert.equal((await api("/runs/guarded", { method: "DELETE" })).status, 428);
  const match = { "If-Match": etag };
  const patch = { note: "x", tags: { a: null, c: "3" }, world_size: 4 };
  const reply = await server.send("PATCH", "/runs/guarded", patch, match);
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(reply.json.tags, { b: "2", c: "3" });
  assert.equal(reply.json.world_size, 4);
  assert.equal((await server.send("PATCH", "/runs/guarded", { note: "y" }, match)).status, 412);
  assert.equal((await api("/runs/guarded", { method: "DELETE", headers: match })).status, 412);
  const now = { "If-Match": (await api("/runs/guarded")).headers.etag };
  const tag = now["If-Match"];
  for (const list of [`W/${tag}`, `"other", W/${tag}`, `x${tag}`, `W/"other" , ,`]) {
    const weak = await server.send("PATCH", "/runs/guarded", { note: "y" }, { "If-Match": list });
    assert.equal(weak.status, 412, list);
  }
  const listed = { "If-Match": `"other", ${tag}` };
  assert.equal((await server.send("PATCH", "/runs/guarded", { color: 1 }, listed)).status, 400);
  assert.equal((await server.send("PATCH", "/runs/guarded", { color: 1 }, now)).status, 400);
  assert.equal((await server.send("PATCH", "/runs/guarded", "{", now)).status, 400);
  assert.equal((await api("/runs/guarded", { method: "DELETE", headers: now })).status, 200);
  assert.equal((await api("/runs/guarded")).status, 404);
});

test("a deleted run is gone and its bytes can come again", async () => {
  const parts = [...fields({ run: "gone", rank: 0 }), file_part(small_json({ names: ["g"] }))];
  await server.post(parts);
  await server.settled("gone");
  const { headers: { etag } } = await api("/runs/gone");
  const reply = await api("/runs/gone", { method: "DELETE", headers: { "If-Match": etag } });
  assert.equal(reply.status, 200);
  assert.equal((await api("/runs/gone/ranks/0/trace")).status, 404);
  assert.equal((await server.post(parts)).status, 202, "not taken for the deleted one");
  assert.equal((await server.settled("gone")).status, "done");
});

test("a run can be analyzed again, with the same figures", async () => {
  const before_it = await server.get("/runs/rocm-run@1/kernels?limit=all");
  const reply = await api("/runs/rocm-run@1/reanalyze", { method: "POST" });
  assert.equal(reply.status, 202, reply.text);
  assert.equal((await server.settled("rocm-run@1")).status, "done");
  assert.deepEqual(await server.get("/runs/rocm-run@1/kernels?limit=all"), before_it);
});

test("a table is answered while its run changes", async () => {
  const all = "/runs/formulas/launches?rank=0&limit=all";
  const statuses = new Set();
  let changing = true;
  const ask = async () => {
    while (changing) statuses.add((await api(all)).status);
  };
  const asking = [ask(), ask(), ask(), ask()];
  for (let i = 0; i < 100; i++) {
    await server.send("PATCH", "/runs/formulas", { note: `change ${i}` },
      { "If-Match": "*", "Content-Type": "application/merge-patch+json" });
  }
  changing = false;
  await Promise.all(asking);
  assert.deepEqual([...statuses], [200]);
});

test("HEAD is GET without a body, a wrong method gets the right ones, nothing is 404",
  async () => {
    for (const path of ["/api/v1/runs", "/api/v1/runs/formulas/kernels", "/healthz", "/"]) {
      const get = await server.request(path);
      const head = await server.request(path, { method: "HEAD" });
      assert.equal(head.status, get.status, path);
      assert.equal(head.body.length, 0, path);
      assert.equal(head.headers["content-length"], get.headers["content-length"], path);
    }
    const wrong = await api("/runs/formulas/kernels", { method: "DELETE" });
    assert.equal(wrong.status, 405);
    assert.match(wrong.headers.allow, /GET/);
    assert.equal((await api("/nothing")).status, 404);
    assert.equal((await api("/nothing")).headers["content-type"], "application/problem+json");
    const page = await server.request("/dead/link", { headers: { Accept: "text/html" } });
    assert.equal(page.status, 404);
    assert.match(page.headers["content-type"], /^text\/html/);
  });

test("every answer, also an error, carries the security headers and no CORS header", async () => {
  const requests = [["/", {}], ["/runs/x", {}], ["/api/v1/runs", {}], ["/api/v1/none", {}],
    ["/api/v1/runs?x=1", {}], ["/api/v1/runs", { method: "DELETE" }], ["/healthz", {}],
    ["/api/v1/runs", { method: "OPTIONS", headers: { Origin: "https://evil.example" } }],
    ["/upload", { method: "POST", body: "x", headers: { "Content-Type": "text/plain" } }],
    ["/api/v1/runs", { headers: { Host: "evil.example" } }], ["/static/x/y", {}],
    ["/api/v1/runs/formulas/ranks/0/trace", {}]];
  for (const [path, what] of requests) {
    const { headers, status } = await server.request(path, what);
    const request_text = `${what.method ?? "GET"} ${path} ${status}`;
    const is_page = /^text\/html/.test(headers["content-type"]);
    assert.match(headers["content-security-policy"] ?? "", is_page
      ? /^default-src 'none'.*require-trusted-types-for 'script'; trusted-types 'none'$/
      : /^default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    request_text);
    assert.equal(headers["x-content-type-options"], "nosniff", request_text);
    assert.equal(headers["referrer-policy"], "same-origin", request_text);
    assert.equal(headers["cross-origin-resource-policy"], "same-origin", request_text);
    assert.equal("permissions-policy" in headers, is_page, request_text);
    assert.ok(headers["x-request-id"], request_text);
    const cors = Object.keys(headers).filter((name) => name.startsWith("access-control-"));
    assert.deepEqual(cors, [], request_text);
  }
});

test("a foreign Host or Origin is refused, our own page and programs are not", async () => {
  const status = async (headers) => (await server.send("POST", "/runs", {}, headers)).status;
  assert.equal((await api("/runs", { headers: { Host: "evil.example" } })).status, 421);
  assert.equal(await status({ Origin: "https://evil.example" }), 403);
  assert.equal(await status({ Origin: "null" }), 403);
  assert.equal(await status({ "Sec-Fetch-Site": "cross-site" }), 403);
  assert.equal(await status({ Origin: server.base, "Sec-Fetch-Site": "same-origin" }), 201);
  assert.equal(await status({}), 201);
});

test("text is compressed on request and large tables shrink", async () => {
  const path = "/runs/cuda-run@1/kernels?limit=all";
  const plain = await api(path);
  const zipped = await api(path, { headers: { "Accept-Encoding": "gzip" } });
  assert.equal(zipped.headers["content-encoding"], "gzip");
  assert.deepEqual(gunzipSync(zipped.body), plain.body);
  assert.match(zipped.headers.vary, /Accept-Encoding/);
});

test("every answer of text is compressed on request, openapi.json too", async () => {
  const headers = { "Accept-Encoding": "gzip" };
  const described = Object.entries((await server.get("/openapi.json")).paths)
    .filter(([path, { get }]) => get && !path.includes("{")).map(([path]) => path);
  let looked = 0;
  for (const path of ["/", "/docs/api", "/metrics", "/api/v1/openapi.json",
    "/api/v1/none?x=".padEnd(3000, "y"), ...described]) {
    const plain = await server.request(path);
    const type = plain.headers["content-type"] ?? "";
    if (!/text|json|csv|xml/.test(type) || plain.body.length < 2048) continue;
    const zipped = await server.request(path, { headers });
    assert.equal(zipped.headers["content-encoding"], "gzip", path);
    assert.ok(zipped.body.length < plain.body.length, path);
    assert.ok(gunzipSync(zipped.body).length > 1024, path);
    looked++;
  }
  assert.ok(looked >= 4, `${looked} answers of text`);
  const spec = await server.request("/api/v1/openapi.json", { headers });
  assert.ok(spec.body.length < 140e3, `openapi.json takes ${spec.body.length} bytes`);
});

test("a run takes only so many tags, however they come, and lists them in one cell", async () => {
  const tags_of = (length, value) =>
    Object.fromEntries(Array.from({ length }, (_, i) => [`k${i}`, value]));
  const tags = tags_of(256, "v".repeat(200));
  const made = await server.send("POST", "/runs", { name: "many-tags", tags });
  assert.equal(made.status, 201, made.text);
  const more = await server.post([...fields({ run: "many-tags", tag: "one=more" }),
    file_part(small_json())]);
  assert.equal(more.status, 400, more.text);
  assert.match(more.json.detail, /257 tags of a run, expected at most 256/);
  const huge = tags_of(5000, "");
  const any = { "If-Match": "*" };
  assert.equal((await server.send("PATCH", "/runs/many-tags", { tags: huge }, any)).status, 400);
  const changed = { k0: null, "one more": "", k1: "x" };
  const reply = await server.send("PATCH", "/runs/many-tags", { tags: changed }, any);
  assert.equal(Object.keys(reply.json.tags).length, 256, reply.text.slice(0, 300));
  const { text } = await api("/runs?format=csv&fields=tags&q=many-tags");
  const pairs = text.split("\r\n")[1].match(/(k\d+|one more)=/g);
  assert.equal(pairs.length, 256);
  const none = await server.send("PATCH", "/runs/many-tags", { tags: null }, any);
  assert.deepEqual(none.json.tags, {});
});

/** Changes a note twenty times; each path has the change at once, and 304 until the next one. */
async function change_and_ask(paths, note_of) {
  const etags = {};
  for (let i = 1; i <= 20; i++) {
    const note = { note: String(i) };
    assert.equal((await server.send("PATCH", "/runs/kept", note, { "If-Match": "*" })).status, 200);
    for (const path of paths) {
      const reply = await api(path, { headers: etags[path]
        ? { "If-None-Match": etags[path] } : {} });
      assert.equal(reply.status, 200, `${path} did not change`);
      assert.equal(note_of(reply.json), i, path);
      etags[path] = reply.headers.etag;
    }
    for (const path of paths) {
      const again = await api(path, { headers: { "If-None-Match": etags[path] } });
      assert.equal(again.status, 304, path);
    }
  }
}

test("answers that are kept are never older than a change that someone has seen", async () => {
  await server.send("POST", "/runs", { name: "kept" });
  const paths = ["/runs?q=kept", "/runs?q=kept&since=1d", "/runs/kept", "/runs/kept/summary"];
  const note_of = ({ items, run, note }) => Number((items?.[0] ?? run ?? { note }).note || 0);
  let going = true, newest = 0;
  const watch = async (path) => {
    while (going) {
      const least = newest;
      const reply = await api(path, { headers: { "Accept-Encoding": "gzip" } });
      const text = reply.headers["content-encoding"] ? gunzipSync(reply.body) : reply.text;
      const seen = note_of(JSON.parse(text));
      assert.ok(seen >= least, `${path}: ${seen} after ${least}`);
      newest = Math.max(newest, seen);
    }
  };
  const watching = Promise.all(paths.map(watch));
  try {
    await change_and_ask(paths, note_of);
  } finally {
    going = false;
    await watching;
  }
});

test("a request id of the client comes back", async () => {
  const reply = await api("/version", { headers: { "X-Request-Id": "my-id-123" } });
  assert.equal(reply.headers["x-request-id"], "my-id-123");
  const split = await http_bytes(server.port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n" +
    "Connection: close\r\nX-Request-Id: a\x01b\r\n\r\n");
  assert.doesNotMatch(split, /\x01/);
});
