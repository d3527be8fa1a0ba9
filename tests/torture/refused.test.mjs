// SPDX-License-Identifier: Apache-2.0
// Clients whose uploads are refused, many at once and for as long as they like: no file, no row and
// no stored byte remains, without a restart (S6).
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fields, file_part } from "../e2e/helpers/multipart.mjs";
import { start_server } from "../e2e/helpers/server.mjs";
import { run_program, temporary, until } from "../e2e/helpers/tools.mjs";
import { small_json } from "../e2e/helpers/traces.mjs";
import { tus_begin, tus_piece } from "../e2e/helpers/tus.mjs";
import { files_below } from "./helpers/ledger.mjs";
import { figure, is_long } from "./helpers/torture.mjs";

const CLIENTS = 8;
const FOR_MS = is_long ? 20_000 : 3_000;

let server;

before(async () => {
  server = await start_server();
  const { status } = await server.post([...fields({ run: "taken", rank: 0 }),
    file_part(small_json())]);
  assert.equal(status, 202);
  await server.settled("taken");
});
after(() => server?.stop());

let sent = 0;

/** Some kilobytes that were never sent before. */
const other_bytes = () => small_json({ names: [`kernel ${++sent} ${"x".repeat(5000)}`] });

/** Each way to be refused once the bytes are there. */
const WAYS = [
  () => server.post([...fields({ run: "taken", rank: 0 }), file_part(other_bytes())]),
  () => server.post([file_part(other_bytes()), ...fields({ run: "taken", wrong: 1 })]),
  () => server.post([...fields({ run: "new" }), file_part(other_bytes()), ...fields({ rank: -1 })]),
  () => server.request("/api/v1/runs/taken/ranks/0/trace", { method: "PUT", body: other_bytes() }),
  async () => {
    const bytes = other_bytes();
    const begun = await tus_begin(server.base, bytes.length, { run: "taken", rank: 0 });
    return tus_piece(server.base, begun.headers.location, 0, bytes);
  },
];

const stored = () => ["blobs", "traces", "spool", "pieces"].flatMap((name) =>
  files_below(join(server.data, name)));
const ROWS = "SELECT (SELECT count(*) FROM blob), (SELECT count(*) FROM run), " +
  "(SELECT count(*) FROM upload), (SELECT count(*) FROM trace), " +
  "(SELECT count(*) FROM resumable WHERE refused IS NULL)";
const rows = async () =>
  (await run_program("sqlite3", [join(server.data, "stepscope.db"), ROWS])).trim();

test(`${CLIENTS} clients that are refused for a while leave nothing`, async () => {
  const before_them = stored().sort();
  assert.equal(await rows(), "1|1|1|1|0");
  const end = performance.now() + FOR_MS;
  const tally = {};
  const client = async (number) => {
    for (let turn = number; performance.now() < end; turn++) {
      const { status, text } = await WAYS[turn % WAYS.length]();
      tally[status] = (tally[status] ?? 0) + 1;
      assert.ok(status === 409 || status === 400, text);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
  await until("their files are gone", () => stored().length <= before_them.length);
  assert.deepEqual(stored().sort(), before_them);
  assert.equal(await rows(), "1|1|1|1|0");
  const counts = Object.entries(tally).map(([status, count]) => `${count} x ${status}`).join(", ");
  figure("S6", `${CLIENTS} clients refused for ${FOR_MS / 1000} s (${counts}): ` +
    "0 files, 0 rows left");
});

test("what is refused while a backup is made goes when that has ended", async () => {
  const count = stored().length;
  const reply = await run_program("flock", ["--shared", join(server.data, "removals.lock"),
    "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-F", "run=taken", "-F", "rank=0", "-F",
    `trace=@${written(other_bytes())}`, `${server.base}/upload`]);
  assert.equal(reply, "409");
  await until("its file is gone", () => stored().length === count);
});

/** A file with these bytes. */
function written(bytes) {
  const path = join(temporary("refused"), "t.json");
  writeFileSync(path, bytes);
  return path;
}
