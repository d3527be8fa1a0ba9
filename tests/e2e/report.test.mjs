// SPDX-License-Identifier: Apache-2.0
// The report of several runs: figures with sources, comparisons by model, every format, and names
// that would be markup.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inflateRawSync } from "node:zlib";
import { fields, file_part } from "./helpers/multipart.mjs";
import { reply_faults } from "./helpers/openapi.mjs";
import { start_server } from "./helpers/server.mjs";
import { generate, small_job } from "./helpers/traces.mjs";
import { megatron_log } from "./helpers/training_logs.mjs";

const HOSTILE = `<img src=x onerror=alert(1)> | "a" & *b*`;

let server;

async function upload(run, { files = [], log, meta = [] }) {
  const parts = [...fields({ run }), ...meta.flatMap((one) => fields({ meta: one })),
    ...files.map(({ data, filename }) => file_part(data, filename)),
    ...(log ? [file_part(log, "train.log")] : [])];
  const reply = await server.post(parts, "/upload?wait=60");
  assert.equal(reply.status, 200, reply.text);
}

before(async () => {
  server = await start_server();
  const cuda = await generate(small_job("--ranks", "2", "--memory"));
  const rocm = await generate(small_job("--ranks", "2", "--memory", "--flavour", "rocm"));
  await upload("h100", { files: cuda.files, log: megatron_log({ steps: 40 }),
    meta: ["model=llama", "gpu_hour_price=3.6"] });
  await upload("mi300x", { files: rocm.files, meta: ["model=llama"] });
  await upload("log-only", { log: megatron_log({ steps: 20 }), meta: ["model=other"] });
  await upload("hostile", { log: megatron_log({ steps: 5 }), meta: [`model=${HOSTILE}`] });
});
after(() => server?.stop());

const text_of = async (query) => {
  const reply = await server.request(`/api/v1/report?${query}`);
  assert.equal(reply.status, 200, reply.text);
  return reply;
};
const json_of = async (query) => JSON.parse((await text_of(`${query}&format=json`)).text);
const section_of = (report, title) => report.sections.find((one) => one.title.startsWith(title));
const cells_of = (section, label) => section.rows.find(([first]) => first.text === label);

test("figures stand side by side, each with its source", async () => {
  const report = await json_of("run=h100&run=mi300x&run=log-only");
  const platforms = section_of(report, "Platforms");
  assert.deepEqual(platforms.columns, ["Figure", "h100", "mi300x", "log-only"]);
  assert.deepEqual(cells_of(platforms, "GPUs").slice(1).map(({ text }) => text), ["2", "2", ""]);
  const names = cells_of(platforms, "Run").slice(1);
  assert.deepEqual(names.map(({ text }) => text), ["h100", "mi300x", "log-only"]);
  assert.ok(names.every(({ href }) => /\/runs\/r_/.test(href)));
  const step = cells_of(platforms, "Step time");
  assert.equal(step[1].value, 2_000_000_000);
  assert.match(step[1].note, /^log/);
  assert.match(step[2].note, /^trace, -/);
  const rate = cells_of(platforms, "Samples/s");
  assert.deepEqual([rate[1].value, rate[3].value], [64, 64]);
  // 64 samples of 4096 tokens per second on 2 GPUs, at 3.6 an hour each.
  assert.equal(cells_of(platforms, "Tokens/s per GPU")[1].value, 64 * 4096 / 2);
  const cost = cells_of(platforms, "Cost per million tokens")[1].value;
  assert.ok(Math.abs(cost - 3.6 / 3600 / (64 * 4096 / 2) * 1e6) < 1e-12, `${cost}`);
  assert.equal(cells_of(platforms, "GPU busy")[3].value, undefined, "a log knows nothing of it");
});

test("runs of one model are compared, others only shown", async () => {
  const report = await json_of("run=h100&run=mi300x&run=log-only");
  const verdicts = report.sections.filter(({ title }) => title.startsWith("Verdict"));
  assert.deepEqual(verdicts.map(({ title }) => title), ["Verdict: llama"]);
  assert.equal(verdicts[0].rows.length, 1);
  const parts = section_of(report, "Where the difference is").rows;
  const compared = await server.get("/compare?base=h100&cand=mi300x");
  const sum = parts.reduce((total, row) => total + row[4].value, 0);
  assert.equal(sum, compared.candidates[0].summary.delta_mean_ns);
  const settings = section_of(report, "Settings that differ");
  assert.match(cells_of(settings, "gpu")[2].text, /MI300X/);
});

test("sides that did different work are called neither faster nor slower", async () => {
  const [file] = (await generate(small_job("--ranks", "1", "--world", "1"))).files;
  const trace = JSON.parse(String(file.data));
  trace.traceEvents = trace.traceEvents.filter(({ name }) =>
    !/^(ProfilerStep|Optimizer)/.test(name ?? ""));
  await upload("stepped", { files: [file], meta: ["model=one"] });
  await upload("unmarked", { meta: ["model=one"],
    files: [{ ...file, data: Buffer.from(JSON.stringify(trace)) }] });
  const [{ summary }] = (await server.get("/compare?base=stepped&cand=unmarked")).candidates;
  assert.deepEqual([summary.same_work, summary.cand_no_steps], [false, true]);
  const { text } = await text_of("run=stepped&run=unmarked&format=md");
  assert.match(text, /^unmarked and stepped did different work, so neither is faster\.$/m);
  assert.match(text, /^Against stepped, by the steady steps .*, or all that was recorded where/m);
  assert.match(text, /\| GEMM \/ matmul \| unmarked \|/);
});

test("a rank with several GPUs counts as many", async () => {
  const [file] = (await generate(small_job("--ranks", "1", "--world", "1"))).files;
  const trace = JSON.parse(String(file.data));
  const kernels = trace.traceEvents.filter(({ cat }) => cat === "kernel");
  for (const kernel of kernels.filter((_, i) => i % 3 === 0)) kernel.args.device = 1;
  await upload("two-gpus", { files: [{ ...file, data: Buffer.from(JSON.stringify(trace)) }] });
  const platforms = section_of(await json_of("run=two-gpus"), "Platforms");
  assert.equal(cells_of(platforms, "GPUs")[1].text, "2");
});

test("one run has a report, too", async () => {
  const report = await json_of("run=h100");
  assert.equal(section_of(report, "Verdict"), undefined);
  assert.ok(section_of(report, "Findings").rows.length > 0);
  assert.equal(report.title, "h100");
  assert.equal((await json_of("run=h100&run=mi300x")).title, "h100 and mi300x");
});

test("the page brings everything itself and nothing that runs", async () => {
  const { text, headers } = await text_of("run=h100&run=mi300x");
  assert.equal(headers["content-type"], "text/html; charset=utf-8");
  assert.match(headers["content-security-policy"], /default-src 'none'; style-src 'unsafe-inline'/);
  assert.match(headers["content-security-policy"], /sandbox/);
  const again = await server.request("/api/v1/report?run=h100&run=mi300x",
    { headers: { "If-None-Match": headers.etag } });
  assert.deepEqual([again.status, again.headers["content-security-policy"]],
    [304, headers["content-security-policy"]]);
  assert.doesNotMatch(text, /<script|<link|src=|@import|url\(/);
  assert.match(text, /@media print/);
  const said = /mi300x takes \d+\.\d+ ms per step, [\d.]+ % (less|more) than h100: noise unknown\./;
  assert.match(/<p class="lead">([^<]*)</.exec(text)[1], said);
  assert.match((await text_of("run=h100&run=mi300x&format=md")).text, said);
});

test("names are never markup", async () => {
  const page = (await text_of("run=hostile")).text;
  assert.ok(page.includes("&lt;img src=x onerror=alert(1)&gt; | &quot;a&quot; &amp; *b*"));
  assert.ok(!page.includes("<img"));
  const markdown = (await text_of("run=hostile&format=md")).text;
  assert.ok(markdown.includes("\\<img src=x onerror=alert(1)\\> \\| "));
});

/** The files of a zip archive as texts. */
function unzip(bytes) {
  const files = new Map();
  const end = bytes.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    const [method, packed] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20)];
    const [name_len, extra, note] = [28, 30, 32].map((i) => bytes.readUInt16LE(at + i));
    const local = bytes.readUInt32LE(at + 42);
    const from = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const raw = bytes.subarray(from, from + packed);
    files.set(bytes.toString("utf8", at + 46, at + 46 + name_len),
      (method === 8 ? inflateRawSync(raw) : raw).toString());
    at += 46 + name_len + extra + note;
  }
  return files;
}

test("a spreadsheet has a sheet per table, with numbers to calculate with", async () => {
  const reply = await server.request("/api/v1/report?run=h100&run=mi300x&format=xlsx");
  assert.equal(reply.status, 200);
  assert.match(reply.headers["content-disposition"], /stepscope-report\.xlsx/);
  const files = unzip(reply.body);
  const names = [...files.get("xl/workbook.xml").matchAll(/<sheet name="([^"]+)"/g)]
    .map(([, name]) => name);
  assert.ok(names.includes("Platforms") && names.includes("gpu_timeline"), names.join());
  assert.match(files.get("xl/worksheets/sheet2.xml"), /<v>2000000000<\/v>/);
  assert.match(files.get("xl/sharedStrings.xml"), /computation_time/);
  assert.match(files.get("xl/styles.xml"), /#,##0&quot; ns&quot;/);
  assert.match(files.get("xl/styles.xml"), /formatCode="0\.0%"/);
});

test("what cannot be answered is refused with what was expected", async () => {
  for (const [query, status, words] of [
    ["format=html", 400, /no run=RUN/], ["run=h100&format=pdf", 400, /html, md, xlsx or json/],
    ["run=none-such", 404, /none-such/], ["run=h100&base=h100", 400, /parameter 'base'/],
  ]) {
    const reply = await server.request(`/api/v1/report?${query}`);
    assert.equal(reply.status, status, query);
    assert.match(reply.text, words, query);
  }
});

test("replies are as described", async () => {
  const reply = await text_of("run=h100&run=mi300x&format=json");
  assert.deepEqual(reply_faults("GET", "/api/v1/report", reply), []);
  const again = await server.request("/api/v1/report?run=h100&run=mi300x&format=json",
    { headers: { "If-None-Match": reply.headers.etag } });
  assert.equal(again.status, 304);
});
