// SPDX-License-Identifier: Apache-2.0
// Request bodies: every valid JSON is accepted, every broken one refused, and what the standard
// leaves open does no harm. Broken compressed files each get a specific answer.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { fields } from "../e2e/helpers/multipart.mjs";
import { start_server } from "../e2e/helpers/server.mjs";
import { stepscope_bin, temporary } from "../e2e/helpers/tools.mjs";
import { EITHER, INVALID, VALID } from "./helpers/json_corpus.mjs";
import { figure, is_long } from "./helpers/torture.mjs";

let server;
before(async () => {
  server = await start_server();
  const data = '{"traceEvents":[{"ph":"i","ts":1}]}';
  await server.post([...fields({ run: "corpus" }), { name: "trace", filename: "t.json", data }]);
});
after(() => server.stop());

/** The service's answer to an unknown member with this value. */
async function say(value) {
  const body = Buffer.from(`{"unheard": ${value}}`, "latin1");
  const headers = { "Content-Type": "application/json", "If-Match": "*" };
  const reply = await server.request("/api/v1/runs/corpus", { method: "PATCH", body, headers });
  assert.equal(reply.status, 400, `${value.slice(0, 80)}: ${reply.status} ${reply.text}`);
  return reply.json.detail;
}

const TAKEN = /found member 'unheard'/;
const REFUSED = /the body is not JSON: \S|deeper than 16 levels/;

test("there are as many as were promised", () => {
  const counts = [VALID, INVALID, EITHER].map((list) => new Set(list).size);
  assert.ok(counts[0] >= 95 && counts[1] >= 188 && counts[2] >= 35, counts.join(" "));
});

test("all valid values are taken, all broken ones refused", async () => {
  for (const value of VALID) assert.match(await say(value), TAKEN, JSON.stringify(value));
  for (const value of INVALID) assert.match(await say(value), REFUSED, JSON.stringify(value));
  for (const value of EITHER) {
    const said = await say(value);
    assert.ok(TAKEN.test(said) || REFUSED.test(said), said);
  }
  await server.alive();
  figure("R7", `${VALID.length} valid bodies taken, ${INVALID.length} broken ones refused, ` +
    `${EITHER.length} that are open answered`);
});

// ---- compressed files --------------------------------------------------------------------------

const TRACE = '{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","ts":1,"dur":1,"pid":1}]}';
const zst = (input, ...options) => spawnSync("zstd", ["-cq", ...options], { input }).stdout;

/** A copy with some bytes changed. @param {Buffer} bytes @param {[number, number][]} changes */
function changed(bytes, ...changes) {
  const copy = Buffer.from(bytes);
  for (const [at, value] of changes) copy[at < 0 ? copy.length + at : at] = value;
  return copy;
}

const GZ = gzipSync(TRACE);
const ZST = zst(TRACE);
const SIZED = zst(TRACE, `--stream-size=${TRACE.length}`);
const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** @type {[string, Buffer, number, RegExp][]} what, bytes, exit code, message */
const PACKED = [
  ["gzip with reserved flags, which say nothing", changed(GZ, [3, 0xe0]), 0, /rank 0/],
  ["gzip of an unknown method", changed(GZ, [2, 7]), 4,
    /damaged gzip stream: unsupported method/],
  ["gzip with a wrong checksum", changed(GZ, [-8, GZ.at(-8) ^ 1]), 0, /compression|damaged/],
  ["gzip with a wrong length", changed(GZ, [-4, GZ.at(-4) ^ 1]), 0, /compression|damaged/],
  ["gzip with a block of no kind", changed(GZ, [10, 0x07]), 4,
    /damaged gzip stream: invalid block/],
  ["gzip of a header alone", GZ.subarray(0, 10), 4, /the gzip stream is truncated/],
  ["gzip of half a header", GZ.subarray(0, 5), 4, /the gzip stream is truncated/],
  ["gzip with bytes behind it", Buffer.concat([GZ, Buffer.from("garbage")]), 0, /rank 0/],
  ["zstd with a reserved bit", changed(ZST, [4, ZST[4] | 8]), 4, /damaged zstd stream/],
  ["zstd of a magic number alone", MAGIC, 4, /the zstd stream is truncated/],
  ["zstd that wants a dictionary", Buffer.concat([MAGIC, Buffer.from([0x21, 7, 0, 1, 0, 0])]), 4,
    /damaged zstd stream: Dictionary/],
  ["zstd with a window of 2^41", Buffer.concat([MAGIC, Buffer.from([0, 0xff, 1, 0, 0])]), 4,
    /window of more than 2\^27 bytes/],
  ["zstd of a size that is wrong", changed(SIZED, [5, SIZED[5] ^ 1]), 4, /damaged zstd stream/],
  ["zstd with a wrong checksum", changed(ZST, [-1, ZST.at(-1) ^ 1]), 0, /compression|damaged/],
  ["zstd with garbage behind it", Buffer.concat([ZST, Buffer.from("garbage!")]), 0,
    /compression|damaged/],
  ["a skippable frame that is cut", Buffer.from([0x50, 0x2a, 0x4d, 0x18, 9, 0, 0, 0, 1]), 4,
    /the zstd stream is truncated/],
];

for (const [what, bytes, code, says] of PACKED)
  test(`${what} is answered in words`, async () => {
    const path = join(temporary("packed"), "trace.json");
    writeFileSync(path, bytes);
    const { status, stdout, stderr } = spawnSync(stepscope_bin(), ["analyze", path],
      { encoding: "utf8" });
    assert.equal(status, code, stdout + stderr);
    assert.match(stdout + stderr, says);
  });

test("a file that is cut anywhere is read as far as it goes, or said to be cut", () => {
  const path = join(temporary("packed"), "trace.json");
  for (const whole of [GZ, ZST])
    for (let length = 0; length < whole.length; length += is_long ? 1 : 9) {
      writeFileSync(path, whole.subarray(0, length));
      const { status, stderr } = spawnSync(stepscope_bin(), ["analyze", path],
        { encoding: "utf8" });
      assert.ok([0, 4].includes(status), `${length} of ${whole.length}: ${status} ${stderr}`);
    }
});
