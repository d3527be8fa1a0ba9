// SPDX-License-Identifier: Apache-2.0
// Broken, empty, huge or malicious input: a clear answer, the service stays up, nothing is lost.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { http_bytes } from "./helpers/http.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import {
  chance, run_program, run_shell, stepscope_bin, temporary, until,
} from "./helpers/tools.mjs";
import { generate, small_job, small_json, small_trace } from "./helpers/traces.mjs";

const SCRIPT = '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">';

let server;
let job;

before(async () => {
  job = await generate(small_job("--ranks", "1", "--format", "json"));
  server = await start_server({ crowd: true, options: ["--job-memory", "256M"] });
});
after(() => server?.stop());

/** Uploads and waits; returns the answer and the run, if there is one. */
async function upload(run, data, filename = "trace.json") {
  const reply = await server.post([...fields({ run }), file_part(data, filename)]);
  if (reply.status !== 202) return { reply, run: null };
  return { reply, run: await server.settled(run) };
}

/** The reason given to the user, wherever it was found. */
function reason({ reply, run }) {
  if (!run) {
    assert.equal(reply.status, 422, reply.text);
    assert.equal(reply.headers["content-type"], "application/problem+json");
    return reply.json.detail;
  }
  assert.equal(run.status, "failed");
  if (run.received === 0) return run.error; // an archive
  assert.equal(run.traces[0].status, "failed");
  return run.traces[0].error;
}

test("an empty file is refused with a sentence", async () => {
  assert.match(reason(await upload("empty", "")), /empty/);
  await server.alive();
});

test("a picture is refused with a sentence", async () => {
  const png = Buffer.from("89504e470d0a1a0a0000000d4948445200000001000000010806", "hex");
  assert.match(reason(await upload("picture", png, "shot.png")), /JSON|json|trace/);
  await server.alive();
});

test("text, a damaged archive and JSON that is no trace are refused with a sentence", async () => {
  const tar = Buffer.concat([Buffer.from("a.txt"), Buffer.alloc(1019)]);
  const cases = [["text", "hello, I am a log file\n"], ["tar", tar], ["number", "42"],
    ["zip", Buffer.from("504b030414000000", "hex")], ["object", '{"answer": 42}'],
    ["gz-of-text", gzipSync("hello")]];
  for (const [name, data] of cases) {
    assert.ok(reason(await upload(name, data)).length > 10, name);
  }
  await server.alive();
});

test("a good file is kept beside a bad one in a request, both are reported", async () => {
  const png = Buffer.from("89504e470d0a1a0a", "hex");
  const reply = await server.post([...fields({ run: "mixed" }), file_part(png, "shot.png"),
    file_part(small_json(), "rank2.json")]);
  assert.equal(reply.status, 202, reply.text);
  const outcome = Object.fromEntries(reply.json.traces.map((trace) => [trace.filename, trace]));
  assert.equal(outcome["shot.png"].status, "refused");
  assert.ok(outcome["shot.png"].error.length > 10);
  assert.notEqual(outcome["rank2.json"].status, "refused");
  const run = await server.settled("mixed");
  assert.deepEqual(run.traces.map(({ rank, status }) => [rank, status]), [[2, "done"]]);
});

test("a damaged compressed file is reported as damaged, its run and the service live", async () => {
  const whole = gzipSync(job.files[0].data);
  whole[Math.floor(whole.length / 2)] ^= 0x10;
  const { run } = await upload("damaged", whole);
  const { status, error } = run.traces[0];
  if (status === "failed") assert.match(error, /damaged|corrupt|checksum/);
  else assert.ok(["warning", "error"].includes(run.trust_severity), run.trust_severity);
  await server.alive();
});

test("a rank that no request can name is not taken from a trace", async () => {
  const { run } = await upload("far-rank", small_json({ rank: 1e12, world_size: 2 }));
  assert.deepEqual(run.traces.map(({ rank, rank_from }) => [rank, rank_from]), [[0, "next"]]);
});

test("a trace cut anywhere gives what was complete and says so", async () => {
  const { data } = job.files[0];
  const random = chance(11);
  for (let i = 0; i < 6; i++) {
    const at = Math.floor(data.length * (0.3 + 0.69 * random()));
    const { run } = await upload(`cut-${i}`, data.subarray(0, at));
    assert.equal(run.status, "done", `${at}: ${run.error}`);
    const { items } = await server.get(`/runs/cut-${i}/trust?limit=all`);
    const outcome = items.filter(({ severity }) => severity !== "info");
    assert.ok(outcome.length > 0, `cut at byte ${at} of ${data.length}, nothing was said`);
  }
});

test("a compressed file cut anywhere gives what was complete and says so", async () => {
  const folder = temporary("cut");
  const whole = join(folder, "whole.zst");
  await run_shell(`zstd -q -o "${whole}" "${join(job.folder, "rank0.json")}"`);
  const zst = await run_program("cat", [whole], { encoding: "buffer" });
  for (const [name, bytes] of [["gz", gzipSync(job.files[0].data)], ["zst", zst]]) {
    const { run } = await upload(`cut-${name}`, bytes.subarray(0, Math.floor(bytes.length * 0.7)));
    const what = `${name}: ${run.status} ${run.error}`;
    assert.ok(["done", "failed"].includes(run.status), what);
    const { error } = run.traces[0];
    if (run.status === "failed") assert.match(error, /cut|end|incomplete|trunc/i, what);
    else assert.notEqual((await server.get(`/runs/cut-${name}`)).trust_severity, null);
  }
});

test("two gigabytes of zeros as zst are refused quickly and cheaply", async () => {
  const path = join(temporary("zeros"), "zeros.json.zst");
  await run_shell(`head -c 2G /dev/zero | zstd -q -1 -o "${path}"`);
  const to = "/api/v1/runs/zeros/ranks/0/trace";
  const reply = await server.request(to, { method: "PUT", file: path });
  assert.ok([202, 422].includes(reply.status), reply.text);
  const run = reply.status === 202 ? await server.settled("zeros") : null;
  assert.ok(reason({ reply, run }).length > 10);
  await server.alive();
});

test("file names of 5,000 bytes, of no encoding and with controls are kept safely", async () => {
  const long = "x".repeat(5000);
  const names = [long, Buffer.from([0x74, 0xff, 0xfe, 0xc3, 0x28]), "a\tb\x01.json", "../../etc/x",
    SCRIPT.replaceAll('"', "%22"), "\u0000", "C:\\temp\\rank3.json"];
  for (const [i, name] of names.entries()) {
    const { reply, run } = await upload(`named-${i}`, small_json(), name);
    const outcome = reply.status === 202 || reply.json.detail.length > 10;
    const what = `${i}: ${reply.status} ${reply.text}`;
    assert.ok(outcome && [202, 400, 422].includes(reply.status), what);
    if (!run) continue;
    assert.equal(run.status, "done");
    assert.ok(Buffer.byteLength(run.traces[0].filename) <= 255);
    assert.doesNotMatch(run.traces[0].filename, /[\u0000-\u001f\ufffe\uffff]/);
    assert.equal((await server.request(`/api/v1/runs/named-${i}/ranks/${run.traces[0].rank}/trace`))
      .status, 200);
  }
  await server.alive();
});

test("run names and tags that are too long, controlled or not UTF-8 are refused", async () => {
  const bad = ["r".repeat(5000), "a\u0001b", Buffer.from([0x61, 0xff]), "..", "a/b", "  ", "a~b"];
  for (const name of bad) {
    const reply = await server.post([{ name: "run", value: name }, file_part(small_json())]);
    assert.ok([400, 422].includes(reply.status), `${reply.status} ${reply.text}`);
    assert.equal(reply.headers["content-type"], "application/problem+json");
  }
  const tag = await server.post([...fields({ tag: `k=${"v".repeat(5000)}` }),
    file_part(small_json())]);
  assert.ok([400, 422].includes(tag.status), tag.text);
});

test("names inside a trace are data: scripts, formulas, quotes, 5,000 bytes", async () => {
  const names = [SCRIPT, "=HYPERLINK(\"http://x\")", "+1", "-1+2", "@SUM(1)", '";DROP TABLE run;--',
    "a,b\"c\nd", "核函数_ядро_🚀", "k".repeat(5000)];
  const { run } = await upload("names", small_json({ names }));
  assert.equal(run.status, "done");
  const { items } = await server.get("/runs/names/kernels?limit=all");
  assert.deepEqual(items.map(({ name }) => name).sort(), [...names].sort());
  await server.alive();
});

test("names that are not UTF-8 are repaired and counted", async () => {
  const text = JSON.stringify(small_trace({ names: ["kernel_Z"] }));
  const data = Buffer.from(text.replaceAll("kernel_Z", "kernel_\u00ff"), "latin1");
  const { run } = await upload("latin", data);
  assert.equal(run.status, "done", run.error);
  const { items } = await server.get("/runs/latin/kernels");
  assert.equal(items.length, 1);
  assert.equal(items[0].calls, 4);
  const trust = await server.get("/runs/latin/trust?limit=all");
  assert.match(JSON.stringify(trust.items), /utf|text|byte/i);
});

test("extreme numbers, types and nesting in a trace cannot hurt", async () => {
  const event = (more) => ({ ph: "X", cat: "kernel", name: "k", pid: 0, tid: 7, ts: 1, dur: 1,
    args: { device: 0, stream: 7, correlation: 1 }, ...more });
  const odd = [{ ts: -1e300 }, { ts: "NaN" }, { dur: -5 }, { dur: 1e30 }, { ts: 2 ** 62 },
    { ph: 7 },
    { name: null }, { name: ["x"] }, { args: 3 }, { cat: {} }, { pid: "x".repeat(3000) }];
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const texts = [
    JSON.stringify({ traceEvents: [event(), ...odd.map(event)] }),
    `{"traceEvents":[${JSON.stringify(event())}],"deep":${deep}}`,
    `{"traceEvents":${deep}}`,
    '{"traceEvents":[{"ts":1e999999999,"dur":00,"ph":"X"}]}',
  ];
  for (const [i, text] of texts.entries()) {
    const { reply, run } = await upload(`odd-${i}`, text);
    const outcome = run ? run.status === "done" || run.traces[0].error : reply.json.detail;
    assert.ok(outcome, `case ${i}`);
    await server.alive();
  }
});

test("a job over its memory budget fails with a clear limit error, the service lives", async () => {
  const small = await start_server({ options: ["--job-memory", "2M"] });
  try {
    const big = await generate(["--ranks", "1", "--size", "40M", "--format", "zst"]);
    const run = await small.analyzed("too-big", big.files);
    assert.equal(run.status, "failed");
    assert.match(run.traces[0].error, /memory|budget|limit/);
    await small.alive();
    const fine = await small.analyzed("fits", [{ filename: "a.json", data: small_json() }]);
    assert.equal(fine.status, "done", fine.error);
  } finally {
    await small.stop();
  }
});

test("analyze says what is wrong with a bad file and still gives the good one", async () => {
  const folder = temporary("analyze");
  await run_shell(`: > "${folder}/empty.json"`);
  const line = `"${stepscope_bin()}" analyze --format json "${job.folder}/rank0.json" ` +
    `"${folder}/empty.json" 2> "${folder}/err" > "${folder}/out" && echo ok || echo "status $?"`;
  assert.match(await run_shell(line), /^status [1-9]/);
  assert.match(await run_program("cat", [join(folder, "err")]), /empty\.json/);
  const out = JSON.parse(await run_program("cat", [join(folder, "out")]));
  assert.equal(out.traces.length >= 1, true);
});

const REQUESTS = [
  ["no Host", "GET /healthz HTTP/1.1\r\n\r\n", /^HTTP\/1.1 4/],
  ["two Hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n", /^HTTP\/1.1 4/],
  ["foreign Host", "GET /api/v1/runs HTTP/1.1\r\nHost: evil.example\r\n\r\n", /^HTTP\/1.1 421/],
  ["length twice", "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n" +
    "Content-Length: 6\r\n\r\nabcde", /^HTTP\/1.1 400/],
  ["length and chunks", "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n" +
    "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", /^HTTP\/1.1 400/],
  ["signed length", "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: +5\r\n\r\nabcde",
    /^HTTP\/1.1 400/],
  ["NUL in the address", "GET /a%00b HTTP/1.1\r\nHost: localhost\r\n\r\n", /^HTTP\/1.1 4/],
  ["line end in the address", "GET /a%0d%0ab HTTP/1.1\r\nHost: localhost\r\n\r\n", /^HTTP\/1.1 4/],
  ["folder climbing", "GET /static/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    /^HTTP\/1.1 4/],
  ["encoded climbing", "GET /static/%2e%2e%2f%2e%2e%2fetc%2fpasswd HTTP/1.1\r\n" +
    "Host: localhost\r\n\r\n", /^HTTP\/1.1 4/],
  ["a long address", `GET /${"a".repeat(60_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    /^HTTP\/1.1 4/],
  ["many headers", `GET / HTTP/1.1\r\nHost: localhost\r\n${"A: b\r\n".repeat(200)}\r\n`,
    /^HTTP\/1.1 4/],
  ["a form with NUL", "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n" +
    "Content-Type: application/x-www-form-urlencoded\r\n\r\na=b\0c&d=e\0", /^HTTP\/1.1 415/],
  ["an unfinished escape", "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n" +
    "Content-Type: application/x-www-form-urlencoded\r\n\r\na=%", /^HTTP\/1.1 415/],
];

for (const [name, bytes, expected] of REQUESTS) {
  test(`a request with ${name} is refused and closes cleanly`, async () => {
    const closing = bytes.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    assert.match(await http_bytes(server.port, closing), expected);
    await server.alive();
  });
}

test("two hundred slow connections take nothing from the others", async () => {
  const sockets = Array.from({ length: 200 }, (_, i) => {
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(i % 2 ? "GET / HTTP/1.1\r\nHost: local" : "PUT /api/v1/runs/slow/ranks/0/trace " +
      "HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n{");
    return socket;
  });
  await Promise.all(sockets.map((socket) => until("it is connected", () => !socket.connecting)));
  const begin = performance.now();
  for (let i = 0; i < 20; i++) await server.alive();
  const each_ms = (performance.now() - begin) / 20;
  sockets.forEach((socket) => socket.destroy());
  assert.ok(each_ms < 500, `${each_ms.toFixed(0)} ms for an answer`);
});

test("after all this nothing was lost and nothing runs", async () => {
  const { items } = await server.get("/runs?limit=all");
  assert.ok(items.length > 10);
  assert.deepEqual(items.filter(({ status }) => ["running", "pending"].includes(status)), []);
  const good = await server.analyzed("afterwards", job.files);
  assert.equal(good.status, "done");
});
