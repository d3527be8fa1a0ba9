// SPDX-License-Identifier: Apache-2.0
// What every end-to-end test needs: programs, temporary folders, bounded waiting, seeded
// randomness.
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
export const real_traces = resolve(root, "../shared/traces");

/** A program given in the environment, else the first one that exists. */
function program(variable, candidates) {
  const found = process.env[variable] ?? candidates.find((path) => existsSync(path));
  if (found) return resolve(found);
  throw new Error(`found no ${candidates[0]}; set ${variable} to one`);
}

const builds = ["ci", "release", "dev"].map((name) => join(root, "build", name));
export const stepscope_bin = () =>
  program("STEPSCOPE_BIN", builds.map((build) => join(build, "stepscope")));
export const tracegen_bin = () =>
  program("STEPSCOPE_TRACEGEN", builds.map((build) => join(build, "tests/tracegen/tracegen")));
export const chromium_bin = () => program("STEPSCOPE_CHROMIUM",
  ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"]);

// A signal must not leave services and folders behind.
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

/** @type {string[]} */
const folders = [];
process.on("exit", () => folders.forEach((path) =>
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })));

/** A folder that is removed when the process ends. */
export function temporary(what = "e2e", where = tmpdir()) {
  folders.push(mkdtempSync(join(where, `stepscope-${what}-`)));
  return folders[folders.length - 1];
}

/** Where writes are cheap: a killed process loses no more there than on a disk. */
export const fast_tmpdir = () => (existsSync("/dev/shm") ? "/dev/shm" : tmpdir());

const exec_file = promisify(execFile);

/** Runs a program to completion; rejects with its stderr. @returns {Promise<string>} its stdout */
export async function run_program(file, args, options = {}) {
  const { stdout } = await exec_file(file, args, { maxBuffer: 1 << 28, ...options });
  return stdout;
}

/** Runs a line of shell; rejects if any part of a pipe fails. */
export const run_shell = (line, options) =>
  run_program("bash", ["-c", `set -euo pipefail; ${line}`], options);

/** Runs a program whatever its exit status is. */
export function run_status(file, args, options = {}) {
  return new Promise((done, fail) => {
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    const out = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) // a character may come in two parts
      child[name].setEncoding("utf8").on("data", (text) => (out[name] += text));
    child.on("error", fail);
    child.on("close", (status, signal) => done({ status, signal, ...out }));
  });
}

const POLL_MS = 15;

/**
 * Waits until a condition returns something truthy, and returns it.
 * @template T @param {string} what @param {() => T | Promise<T>} condition
 * @param {number} [limit_ms] @returns {Promise<T>}
 */
export async function until(what, condition, limit_ms = 60_000) {
  const end = performance.now() + limit_ms;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > end) throw new Error(`waited ${limit_ms} ms in vain until ${what}`);
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
}

/** Reproducible random numbers in [0, 1). @param {number} seed */
export function chance(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Says loudly, once per file, what was not tested. @param {string} what */
export function skipped(what) {
  process.stderr.write(`NOTE: SKIPPED: ${what}\n`);
  return what;
}

/**
 * A port that nothing uses, with room above it. Below the range from which the system assigns
 * ports, so that no other test is given it before it is used. @returns {Promise<number>}
 */
export async function free_port() {
  const port = 20_000 + Math.floor(Math.random() * 12_000);
  const server = createServer().listen(port, "127.0.0.1");
  const is_free = await new Promise((done, fail) => {
    server.once("listening", () => done(true))
      .once("error", (error) => error.code === "EADDRINUSE" ? done(false) : fail(error));
  });
  if (!is_free) return free_port();
  await new Promise((done) => server.close(done));
  return port;
}
