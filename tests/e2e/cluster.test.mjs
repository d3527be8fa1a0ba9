// SPDX-License-Identifier: Apache-2.0
// A service on PostgreSQL answers as one on SQLite does.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { no_postgres, start_postgres } from "./helpers/postgres.mjs";
import { start_server } from "./helpers/server.mjs";
import { generate, small_job } from "./helpers/traces.mjs";

const LIMIT = 240_000;

/** Ids and times differ from service to service. */
const same_words = (text) => text
  .replaceAll(/\b([rtuiak])_[0-9a-hjkmnp-tv-z]{8,12}\b/g, "$1_ID")
  .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME")
  .replaceAll(/"(parse|analyze)_ns": ?\d+/g, '"$1_ns":TOOK')
  .replaceAll(/"request_id":"\w+"/g, '"request_id":"ID"')
  .replaceAll(/127\.0\.0\.1:\d+/g, "HOST");

/** What each service says of itself, and files. */
const NOT_ASKED = /version|openapi|session|storage|audit|events|timeline|file|trace$|book|report/;

/** Every answer about a run, and lists of runs. */
async function paths_of(server) {
  const { paths } = await server.get("/openapi.json");
  const asked = { run: "p/a@1", rank: "1", series: "a", baseline: "best" };
  return Object.entries(paths)
    .filter(([path, { get }]) => get && path.startsWith("/api/v1/") &&
      !NOT_ASKED.test(path))
    .map(([path]) => path.replaceAll(/\{(\w+)\}/g, (_, name) =>
      encodeURIComponent(asked[name] ?? "none")))
    .map((path) => (path.includes("/compare") ? `${path}?base=p/a@1&candidate=p/a@2` : path))
    .concat(["name", "status", "gpu", "step_median_ns", "-created"].map((sort) =>
      `/api/v1/runs?sort=${sort}`), "/api/v1/runs?q=A%40", "/api/v1/runs?tag=model:x");
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
    const paths = await paths_of(one);
    let answered = 0;
    for (const path of paths) {
      const [here, there] = [await one.request(path), await other.request(path)];
      assert.equal(there.status, here.status, `${path}: ${there.text.slice(0, 400)}`);
      assert.equal(same_words(there.text), same_words(here.text), path);
      answered += Number(here.status === 200);
    }
    assert.ok(answered > 80, `only ${answered} of ${paths.length} were answered`);
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
});
