// SPDX-License-Identifier: Apache-2.0
// Tables of very many rows: an answer takes the same memory however long it is, alone and beside
// others, and says the same as its pages.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { start_server } from "../e2e/helpers/server.mjs";
import { small_json } from "../e2e/helpers/traces.mjs";
import { figure, is_long } from "./helpers/torture.mjs";
import { is_sanitized, used } from "./helpers/wire.mjs";

const ROWS = is_long ? 300_000 : 20_000;
const AT_ONCE = 24;
const ALONE_LIMIT_MIB = 64;
const ALL_LIMIT_MIB = 700;

let server;

before(async () => {
  server = await start_server();
  const names = Array.from({ length: ROWS }, (_, i) => `kernel_${i}_of_many`);
  const data = small_json({ names, steps: 1 });
  await server.analysed("wide", [{ data, filename: "rank0.json" }]);
});
after(() => server?.stop());

/** Takes an answer as it comes, keeping nothing of it but its end. */
function take(query, headers = {}) {
  const path = `/api/v1/runs/wide/kernels?${query}`;
  return new Promise((resolve, reject) => {
    request({ port: server.port, path, headers, agent: false }, (reply) => {
      const { statusCode: status, headers: told } = reply;
      const seen = { status, headers: told, bytes: 0, lines: 0, end: "" };
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

/** What the service held at most while something went on. */
async function peak_of(work) {
  const { pid } = server.child;
  let peak_mib = 0;
  const look = setInterval(() => (peak_mib = Math.max(peak_mib, used(pid).rss_mib)), 5);
  const result = await work();
  clearInterval(look);
  return { result, peak_mib: Math.max(peak_mib, used(pid).rss_mib) };
}

for (const source of ["", "rank=0&"]) {
  const whose = source ? "of a rank" : "of a run";

  test(`a CSV of ${ROWS} rows ${whose} takes little memory`, async () => {
    const idle_mib = used(server.child.pid).rss_mib;
    const { result, peak_mib } = await peak_of(() => take(`${source}format=csv`));
    assert.equal(result.status, 200);
    assert.ok(result.complete);
    assert.equal(result.lines, ROWS + 1);
    if (!is_sanitized(server.child.pid)) assert.ok(peak_mib - idle_mib < ALONE_LIMIT_MIB);
    figure("R10", `a CSV of ${ROWS} rows in ${(peak_mib - idle_mib).toFixed(0)} MB above idle`);
  });

  test(`pages and the whole say the same ${whose}`, async () => {
    const whole = await (await fetch(`${server.base}/api/v1/runs/wide/kernels?${source}limit=all`))
      .json();
    assert.equal(whole.items.length, ROWS);
    assert.equal(whole.total, ROWS);
    assert.equal(whole.next_cursor, null);
    const ask = async (query) =>
      (await fetch(`${server.base}/api/v1/runs/wide/kernels?${source}${query}`)).json();
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

test(`${AT_ONCE} whole tables at once are all answered within ${ALL_LIMIT_MIB} MB`, async () => {
  const many = Array.from({ length: AT_ONCE }, () => "rank=0&limit=all");
  const { result, peak_mib } = await peak_of(() => Promise.all(many.map((query) => take(query))));
  assert.deepEqual([...new Set(result.map(({ status, complete }) => `${status} ${complete}`))],
    ["200 true"]);
  assert.equal(new Set(result.map(({ sha }) => sha)).size, 1);
  if (!is_sanitized(server.child.pid)) assert.ok(peak_mib < ALL_LIMIT_MIB, `${peak_mib} MB`);
  figure("R10",
    `${AT_ONCE} whole tables of ${ROWS} rows at once in ${peak_mib.toFixed(0)} MB in all`);
  await server.alive();
});
