// SPDX-License-Identifier: Apache-2.0
// One use of the service from upload to deletion, its answers, and whether they were true.
import assert from "node:assert/strict";
import { fields, file_part } from "../../e2e/helpers/multipart.mjs";
import { until } from "../../e2e/helpers/tools.mjs";
import { small_json } from "../../e2e/helpers/traces.mjs";

const SETTLE_MS = 60_000;
const ANSWER_MS = 15_000; // of slow machines; what waits for a lock or hangs takes longer
const UNDER_WAY = ["pending", "running"];

/** What the service may answer while something it needs fails. */
const FAILURES = [500, 503, 507];

/**
 * @typedef {{run: string, name: string, data: Buffer[], uploads: (number | null)[],
 *            deleted: number | null, statuses: Record<string, number | null>}} Seen
 */

const path_of = (seen, more = "") => `/api/v1/runs/${seen.run}${more}`;

/** Same, within a time limit for every answer. */
async function in_time(what, answer) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`no answer to ${what}`)), ANSWER_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** An answer, or null if the connection broke. */
async function ask(server, path, what) {
  const reply = what?.parts ? server.post(what.parts) : server.request(path, what);
  return in_time(path, reply.catch(() => null));
}

/** Failures are reported as such: a status and a sentence. */
function check_answer(what, reply, allowed) {
  if (!reply || allowed.includes(reply.status)) return;
  assert.ok(FAILURES.includes(reply.status), `${what}: ${reply.status} ${reply.text}`);
  assert.equal(reply.headers["content-type"], "application/problem+json", what);
  assert.ok(reply.json.detail.length > 5, what);
}

async function look(server, seen) {
  const paths = ["", "/kernels?limit=all", "/breakdown", "/trust", "/summary?format=json",
    "/timeline?rank=0"];
  for (const path of [...paths.map((one) => path_of(seen, one)), "/api/v1/runs?limit=3"]) {
    const reply = await ask(server, path);
    seen.statuses[path] = reply?.status ?? null;
    check_answer(path, reply, [200, 404, 409]);
    if (reply?.status === 200) assert.ok(reply.json, path);
    if (reply?.status === 200 && path.includes("/kernels")) check_kernels(seen, reply.json);
  }
  const raw = await ask(server, path_of(seen, "/ranks/0/trace"));
  check_answer("raw", raw, [200, 404]);
  if (raw?.status === 200) assert.ok(raw.body.equals(seen.data[0]), "other bytes came back");
}

function check_kernels(seen, { items }) {
  if (items.length > 0) assert.ok(items.every(({ name }) => name === seen.name));
}

async function settle(server, seen) {
  const end = performance.now() + 2000;
  while (performance.now() < end) {
    const reply = await ask(server, path_of(seen));
    if (reply?.status !== 200 || !UNDER_WAY.includes(reply.json.status)) return;
  }
}

async function change(server, seen) {
  const headers = { "Content-Type": "application/merge-patch+json", "If-Match": "*" };
  const note = await ask(server, path_of(seen), { method: "PATCH", headers,
    body: '{"note":"seen"}' });
  check_answer("note", note, [200, 404]);
  const found = await ask(server, path_of(seen));
  if (found?.status === 200 && note?.status === 200) assert.equal(found.json.note, "seen");
  const gone = await ask(server, path_of(seen), { method: "DELETE",
    headers: { "If-Match": found?.headers.etag ?? "*" } });
  check_answer("delete", gone, [204, 404, 412]);
  seen.deleted = gone?.status ?? null;
}

const base64 = (text) => Buffer.from(text).toString("base64");

/** Rank 2 by the tus protocol, in one piece. @returns {Promise<number | null>} the last status */
async function send_piece(server, seen) {
  const [bytes, tus] = [seen.data[2], { "Tus-Resumable": "1.0.0" }];
  const said = { run: seen.run, rank: "2", filename: "c.json" };
  const metadata = Object.entries(said).map(([name, text]) => `${name} ${base64(text)}`);
  const made = await ask(server, "/api/v1/tus", { method: "POST", headers: { ...tus,
    "Upload-Length": bytes.length, "Upload-Metadata": metadata.join(",") } });
  check_answer("tus", made, [201]);
  if (made?.status !== 201) return made?.status ?? null;
  const piece = await ask(server, new URL(made.headers.location, server.base).pathname, {
    method: "PATCH", body: bytes, headers: { ...tus, "Upload-Offset": 0,
      "Content-Type": "application/offset+octet-stream" } });
  check_answer("piece", piece, [204]);
  return piece?.status ?? null;
}

/** Uploads, reads, changes and deletes; records the answers. @returns {Promise<Seen>} */
export async function play(server, number) {
  const name = `kernel_${number}`;
  const data = [4, 5, 6].map((steps) => small_json({ names: [name], steps }));
  const seen = { run: `f${number}`, name, data, uploads: [null, null, null], deleted: null,
    statuses: {} };
  const parts = [...fields({ run: seen.run }), file_part(data[0], "rank0.json")];
  const to = path_of(seen, "/ranks/1/trace");
  const put = await ask(server, to, { method: "PUT", body: data[1] });
  check_answer("put", put, [200, 202]);
  const post = await ask(server, "/upload", { parts });
  check_answer("upload", post, [200, 202]);
  seen.uploads = [post?.status ?? null, put?.status ?? null, await send_piece(server, seen)];
  if (seen.uploads.some(is_success)) await settle(server, seen);
  await look(server, seen);
  await change(server, seen);
  return seen;
}

const is_success = (status) => status !== null && status < 300;

/** An answer that has to come. */
const must = (server, path, what) => in_time(path, server.request(path, what));

function table(reply) {
  assert.equal(reply.status, 200, reply.text);
  return reply.json;
}

function settled(server, seen) {
  return until(`run ${seen.run} has settled`, async () => {
    const run = table(await must(server, path_of(seen)));
    return !UNDER_WAY.includes(run.status) && run;
  }, SETTLE_MS);
}

/** After the fault: what was acknowledged is there with its bytes and its figures, or gone. */
export async function verify(server, seen) {
  await must(server, "/healthz");
  const found = await must(server, path_of(seen));
  if (found.status === 404) {
    // A deletion whose answer was lost may have happened.
    const is_excused = seen.deleted === 204 || seen.deleted === null ||
      FAILURES.includes(seen.deleted) || !seen.uploads.some(is_success);
    assert.ok(is_excused, `${seen.run} is gone, answers were ${JSON.stringify(seen)}`);
    return;
  }
  assert.equal(found.status, 200, found.text);
  assert.notEqual(seen.deleted, 204, `${seen.run} was deleted`);
  if (found.json.received > 0) await verify_kept(server, seen);
  else assert.ok(!seen.uploads.some(is_success), `${seen.run} lost its traces`);
  await verify_deletion(server, seen);
}

async function verify_deletion(server, seen) {
  const headers = { "If-Match": "*" };
  const gone = await must(server, path_of(seen), { method: "DELETE", headers });
  assert.equal(gone.status, 204, gone.text);
}

/** What failed for lack of a resource works when requested again. */
async function settled_well(server, seen) {
  const run = await settled(server, seen);
  if (run.status === "done") return run;
  const reasons = [run.error, ...run.traces.map(({ error }) => error)].filter(Boolean);
  assert.ok(reasons.length > 0, `${seen.run} failed silently: ${JSON.stringify(run)}`);
  const again = await must(server, path_of(seen, "/reanalyze"), { method: "POST" });
  assert.equal(again.status, 202, again.text);
  return settled(server, seen);
}

async function verify_kept(server, seen) {
  const run = await settled_well(server, seen);
  assert.equal(run.status, "done", JSON.stringify(run));
  const kept = run.traces.map(({ rank }) => rank);
  for (const rank of [0, 1, 2]) {
    const there = kept.includes(rank);
    assert.ok(there || !is_success(seen.uploads[rank]), `rank ${rank} of ${seen.run} was lost`);
    if (!there) continue;
    const raw = await must(server, path_of(seen, `/ranks/${rank}/trace`));
    assert.equal(raw.status, 200, raw.text);
    assert.ok(raw.body.equals(seen.data[rank]), `${seen.run}: other bytes than were uploaded`);
    const { items } = await must(server, path_of(seen, `/parts?rank=${rank}&limit=1`)).then(table);
    assert.ok(items.length > 0, `${seen.run}: rank ${rank} has no results`);
  }
  const { items } = await must(server, path_of(seen, "/kernels?limit=all")).then(table);
  assert.deepEqual([...new Set(items.map(({ name }) => name))], [seen.name]);
}
