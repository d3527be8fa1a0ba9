// SPDX-License-Identifier: Apache-2.0
// Tables with very many rows: storing and returning them takes the same memory whatever their
// length, alone and alongside others, and whole tables equal their pages.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { request } from "node:http";
import { once } from "node:events";
import { createGzip } from "node:zlib";
import { after, before, test } from "node:test";
import { fields, file_part } from "../e2e/helpers/multipart.mjs";
import { start_server } from "../e2e/helpers/server.mjs";
import { small_json } from "../e2e/helpers/traces.mjs";
import { figure, is_long } from "./helpers/torture.mjs";
import { is_sanitized, used } from "./helpers/wire.mjs";

const ROWS = is_long ? 300_000 : 20_000;
const MOST_ROWS = is_long ? 2_000_000 : 100_000;
const CROWDS = is_long ? [24, 64] : [24];
const ALONE_LIMIT_MIB = 64; // above idle
const STORING_LIMIT_MIB = 96; // above idle, including database pages
const ALL_LIMIT_MIB = 700;

let server;

before(async () => {
  server = await start_server();
  const names = Array.from({ length: ROWS }, (_, i) => `kernel_${i}_of_many`);
  const data = small_json({ names, steps: 1 });
  await server.analyzed("wide", [{ data, filename: "rank0.json" }]);
});
after(() => server?.stop());

/** A trace with any number of kernels, all with different names. @returns {Promise<Buffer>} */
async function many_names(count) {
  const gzip = createGzip({ level: 1 });
  const chunks = [];
  gzip.on("data", (chunk) => chunks.push(chunk));
  gzip.write('{"traceEvents":[');
  for (let from = 0; from < count; from += 10_000) {
    const events = Array.from({ length: Math.min(10_000, count - from) }, (_, i) => JSON.stringify({
      ph: "X", cat: "kernel", name: `kernel_${from + i}_of_very_many`, pid: 0, tid: 7,
      ts: 1000 + 2 * (from + i), dur: 1, args: { device: 0, stream: 7, correlation: from + i + 1 },
    }));
    if (!gzip.write((from ? "," : "") + events.join(","))) await once(gzip, "drain");
  }
  gzip.end("]}");
  await once(gzip, "end");
  return Buffer.concat(chunks);
}

/** Reads an answer as it comes, keeping only its end. */
function take(query, headers = {}, run = "wide") {
  const path = `/api/v1/runs/${run}/kernels?${query}`;
  return new Promise((resolve, reject) => {
    request({ port: server.port, path, headers, agent: false }, (reply) => {
      const { statusCode: status, headers } = reply;
      const seen = { status, headers, bytes: 0, lines: 0, end: "" };
      const hash = createHash("sha256");
      reply.on("data", (chunk) => {
        hash.update(chunk);
        seen.bytes += chunk.length;
        for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) seen.lines++;
        seen.end = (seen.end + chunk.toString("latin1")).slice(-200);
      });
      reply.on("end", () =>
        resolve({ ...seen, complete: reply.complete, sha: hash.digest("hex") }));
      reply.on("error", reject);
    }).on("error", reject).end();
  });
}

/** The service's peak memory during some work. */
async function peak_of(work) {
  const { pid } = server.child;
  let peak_mib = 0;
  const look = setInterval(() => (peak_mib = Math.max(peak_mib, used(pid).rss_mib)), 5);
  const result = await work();
  clearInterval(look);
  return { result, peak_mib: Math.max(peak_mib, used(pid).rss_mib) };
}

test(`a trace of ${MOST_ROWS} names is stored in little memory`, async () => {
  const data = await many_names(MOST_ROWS);
  const idle_mib = used(server.child.pid).rss_mib;
  const { result, peak_mib } = await peak_of(async () => {
    const file = file_part(data, "rank0.json.gz");
    const reply = await server.post([...fields({ run: "widest" }), file]);
    assert.ok([200, 202].includes(reply.status), reply.text);
    return server.settled("widest", 900_000);
  });
  assert.equal(result.status, "done");
  const more_mib = peak_mib - idle_mib;
  if (!is_sanitized(server.child.pid)) assert.ok(more_mib < STORING_LIMIT_MIB, `${more_mib} MiB`);
  figure("R10", `${MOST_ROWS} names, ${(data.length / 1e6).toFixed(0)} MB compressed, analyzed ` +
    `and stored in ${more_mib.toFixed(0)} MB above idle`);
});

for (const source of ["", "rank=0&"]) {
  const whose = source ? "of a rank" : "of a run";

  test(`a CSV of ${MOST_ROWS} rows ${whose} takes little memory`, async () => {
    const idle_mib = used(server.child.pid).rss_mib;
    const { result, peak_mib } = await peak_of(() => take(`${source}format=csv`, {}, "widest"));
    assert.equal(result.status, 200);
    assert.ok(result.complete);
    assert.equal(result.lines, MOST_ROWS + 1);
    if (!is_sanitized(server.child.pid)) assert.ok(peak_mib - idle_mib < ALONE_LIMIT_MIB);
    figure("R10",
      `a CSV of ${MOST_ROWS} rows in ${(peak_mib - idle_mib).toFixed(0)} MB above idle`);
  });

  test(`pages and the whole say the same ${whose}`, async () => {
    // Each on a new connection: one that waits may be closed just when it is used again.
    const ask = (query) => server.get(`/runs/wide/kernels?${source}${query}`);
    const whole = await ask("limit=all");
    assert.equal(whole.items.length, ROWS);
    assert.equal(whole.total, ROWS);
    assert.equal(whole.next_cursor, null);
    const page = await ask("limit=5000");
    assert.deepEqual(page.items, whole.items.slice(0, 5000));
    const next = await ask(`limit=5000&cursor=${page.next_cursor}`);
    assert.deepEqual(next.items, whole.items.slice(5000, 10_000));
    const sorted = await ask("limit=7&sort=-name");
    const names = whole.items.map(({ name }) => name).sort().reverse();
    assert.deepEqual(sorted.items.map(({ name }) => name), names.slice(0, 7));
    assert.equal(sorted.total, ROWS);
    const rest = await ask(`limit=7&sort=-name&cursor=${sorted.next_cursor}`);
    assert.deepEqual(rest.items.map(({ name }) => name), names.slice(7, 14));
    const found = await ask("limit=all&q=kernel_1999&format=columns");
    assert.deepEqual(found.columns.name,
      whole.items.map(({ name }) => name).filter((name) => name.includes("kernel_1999")));
    const columns = await ask("format=columns&fields=name,calls");
    assert.deepEqual(columns.columns.name, whole.items.map(({ name }) => name));
    assert.equal(columns.row_count, ROWS);
  });
}

test("compressed and plain say the same, and old clients get it, too", async () => {
  const plain = await take("format=ndjson");
  const packed = await (await fetch(`${server.base}/api/v1/runs/wide/kernels?format=ndjson`))
    .text();
  assert.equal(createHash("sha256").update(packed).digest("hex"), plain.sha);
  assert.equal(plain.headers["transfer-encoding"], "chunked");
});

for (const count of CROWDS) {
  test(`${count} whole tables at once are all answered within ${ALL_LIMIT_MIB} MB`, async () => {
    const many = Array.from({ length: count }, () => "rank=0&limit=all");
    const { result, peak_mib } = await peak_of(() => Promise.all(many.map((query) => take(query))));
    assert.deepEqual([...new Set(result.map(({ status, complete }) => `${status} ${complete}`))],
      ["200 true"]);
    assert.equal(new Set(result.map(({ sha }) => sha)).size, 1);
    if (!is_sanitized(server.child.pid)) assert.ok(peak_mib < ALL_LIMIT_MIB, `${peak_mib} MB`);
    figure("R10",
      `${count} whole tables of ${ROWS} rows at once in ${peak_mib.toFixed(0)} MB in all`);
    await server.alive();
  });
}

test("what tables may take is bounded, and the trust report says what is missing", async () => {
  const small = await start_server({ options: ["--max-tables", "1M"] });
  try {
    const names = Array.from({ length: 9000 }, (_, i) => `kernel_${i}`);
    const data = small_json({ names, steps: 1 });
    await small.analyzed("bounded", [{ data, filename: "rank0.json" }]);
    for (const source of ["rank=0&", ""]) {
      const { total } = await small.get(`/runs/bounded/kernels?${source}limit=1`);
      assert.ok(total > 500 && total < 9000, `${total} rows`);
      const { items } = await small.get(`/runs/bounded/trust?${source}limit=all`);
      const [said] = items.filter(({ item }) => item === "rows_left_out");
      assert.match(said.detail, /kernels keeps \d+ rows.*--max-tables/);
    }
  } finally {
    await small.stop();
  }
});
