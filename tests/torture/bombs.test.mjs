// SPDX-License-Identifier: Apache-2.0
// Files that are small and grow huge, or look harmless and never end: each is refused, or read
// within seconds and with little memory, and the service answers meanwhile.
// Timed: nothing runs beside it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { stepscope_bin, temporary } from "../e2e/helpers/tools.mjs";
import { figure, is_long } from "./helpers/torture.mjs";

const CPU_LIMIT_S = 2;
const EXTRA_LIMIT_MB = 160;
const SANITIZED_TIMES = 12; // how much longer a build with sanitizers may take

const folder = temporary("bombs");

/** Bytes compressed with zstd. */
function zstd(input, ...options) {
  const { stdout, status } = spawnSync("zstd", ["-cq", ...options], { input, maxBuffer: 1 << 30 });
  assert.equal(status, 0);
  return stdout;
}

const HEAD = '{"traceEvents":[{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1,"pid":0,"tid":7,' +
  '"args":{"stream":7,"device":0}}';

/** One GiB of blanks after the start of a trace, compressed to about ten thousand bytes. */
function huge_blank(pack) {
  const blank = Buffer.alloc(64 << 20, " ");
  const once = pack(blank);
  return Buffer.concat([pack(Buffer.from(`${HEAD},`)), ...Array.from({ length: 16 }, () => once)]);
}

/** A zstd frame whose header requests a window of 2^31 bytes. */
const wide_window = () => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0, 0]);

/** A million empty frames. */
const empty_frames = () => {
  const one = zstd(Buffer.alloc(0), "--no-check");
  return Buffer.concat(Array.from({ length: 1e6 }, () => one));
};

const skippable_frames = () =>
  Buffer.concat(Array.from({ length: 1e6 }, () => Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0, 0, 0,
    0])));

const empty_members = () => {
  const one = gzipSync(Buffer.alloc(0));
  return Buffer.concat(Array.from({ length: 3e5 }, () => one));
};

function nested_gzip(layers) {
  let bytes = Buffer.from(`${HEAD}]}`);
  for (let i = 0; i < layers; i++) bytes = gzipSync(bytes);
  return bytes;
}

/** Names that are all different. */
function* different_names(count) {
  yield HEAD;
  for (let i = 0; i < count; i += 10000) {
    let text = "";
    for (let j = i; j < i + 10000 && j < count; j++)
      text += `,{"ph":"X","cat":"cpu_op","name":"n${j}","ts":${j},"dur":1,"pid":1,"tid":1}`;
    yield text;
  }
  yield "]}";
}

const deep = (open, close, count) =>
  `${HEAD},{"ph":"X","cat":"cpu_op","name":"d","ts":1,"dur":1,"pid":1,"tid":1,"args":{"x":` +
  `${open.repeat(count)}0${close.repeat(count)}}}]}`;

const names = is_long ? 1e7 : 2e5;

/**
 * @type {[string, () => Buffer | string, boolean][]} what it is, its bytes, whether it can be read
 */
const BOMBS = [
  ["blanks, zst of 1 GiB", () => huge_blank((bytes) => zstd(bytes, "-19")), false],
  ["blanks, gz of 1 GiB", () => huge_blank((bytes) => gzipSync(bytes, { level: 9 })), false],
  ["a window of 2 GiB", wide_window, false],
  ["10^6 empty frames", empty_frames, false],
  ["10^6 skippable frames", skippable_frames, false],
  ["3 * 10^5 empty gzip members", empty_members, false],
  ["gz in gz", () => nested_gzip(2), true],
  ["gz in gz in gz in gz", () => nested_gzip(4), false],
  ["lists 10^5 deep", () => deep("[", "]", 1e5), true],
  ["objects 10^5 deep", () => deep('{"":', "}", 1e5), true],
  ["a text of 100 MB", () => `${HEAD},{"ph":"X","name":"${"x".repeat(100e6)}"}]}`, true],
  ["a member of 100 MB", () => `{"x":"${"y".repeat(100e6)}",${HEAD.slice(1)}]}`, true],
  ["only opening brackets", () => "[".repeat(1e6), false],
];

/** Reads a file and returns what that cost. */
function measure(path) {
  const args = ["-f", "%U %S %M", stepscope_bin(), "analyze", "--format", "json", path];
  const { stderr, status } = spawnSync("/usr/bin/time", args, { maxBuffer: 1 << 30 });
  const [user, system, kib] = stderr.toString().trim().split("\n").at(-1).split(" ").map(Number);
  return { status, cpu_s: user + system, mb: kib / 1024, said: stderr.toString() };
}

const is_sanitized = readFileSync(stepscope_bin()).includes("__asan_init");
const CPU_S = CPU_LIMIT_S * (is_sanitized ? SANITIZED_TIMES : 1);
const plain = join(folder, "plain.json");
writeFileSync(plain, `${HEAD}]}`);
const before = measure(plain);

for (const [what, make, is_read] of BOMBS) {
  test(`${what}: ${is_read ? "read" : "refused"} at little cost`, () => {
    const path = join(folder, "bomb");
    const bytes = make();
    writeFileSync(path, bytes);
    const cost = measure(path);
    assert.equal(cost.status === 0, is_read, `${what}: ${cost.status} ${cost.said.slice(0, 400)}`);
    assert.ok(is_read || /^stepscope|: \S/.test(cost.said), cost.said);
    assert.ok([0, 4, 5].includes(cost.status),
      `${what}: ${cost.status} ${cost.said.slice(0, 400)}`);
    assert.ok(cost.cpu_s <= CPU_S, `${what}: ${cost.cpu_s} s`);
    if (!is_sanitized)
      assert.ok(cost.mb - before.mb <= EXTRA_LIMIT_MB, `${what}: ${cost.mb} MB`);
    figure("R14", `${what} (${bytes.length} bytes): ${is_read ? "read" : "refused"} in ` +
      `${cost.cpu_s.toFixed(2)} s of processor, ${(cost.mb - before.mb).toFixed(0)} MB extra`);
  });
}

test(`${names} different names are read in time that grows with their number alone`, () => {
  const path = join(folder, "names");
  writeFileSync(path, "");
  for (const text of different_names(names)) writeFileSync(path, text, { flag: "a" });
  const cost = measure(path);
  assert.ok([0, 5].includes(cost.status), cost.said.slice(0, 400));
  const limit_s = (CPU_LIMIT_S + names * 4e-6) * (is_sanitized ? SANITIZED_TIMES : 1);
  assert.ok(cost.cpu_s <= limit_s, `${cost.cpu_s} s of ${limit_s}`);
  figure("R14", `${names} names: ${cost.cpu_s.toFixed(2)} s, ${cost.mb.toFixed(0)} MB`);
});

test("no file is left of any of them", () => {
  assert.deepEqual(readdirSync(folder).sort(), ["bomb", "names", "plain.json"]);
});
