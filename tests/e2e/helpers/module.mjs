// SPDX-License-Identifier: Apache-2.0
// The WASM module, run by node with the system that the page gives it.
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { basename, join } from "node:path";
import { open_files } from "../../../web/standalone/module.mjs";
import { Exit, make_wasi } from "../../../web/standalone/wasi.mjs";
import { root, skipped } from "./tools.mjs";

/** The page around it. */
export const page_folder = join(root, "build/wasm/standalone");

const path = process.env.STEPSCOPE_WASM ?? join(root, "build/wasm/stepscope.wasm");

/** Why nothing can be tested; false: it can. */
export const skip_module = existsSync(path) ? false
  : skipped(`the WASM module: ${path} is absent; cmake --preset wasm makes it`);

let compiled = null;

function compile() {
  compiled ??= new WebAssembly.Module(readFileSync(path));
  return compiled;
}

/** A file of the host, read where the module asks for it. */
const host_file = (fd) => ({ size: fstatSync(fd).size,
  read: (at, into) => readSync(fd, into, 0, into.length, at) });

/**
 * Runs a command of the module on files, which it finds by their names.
 * @param {string[]} args @param {string[]} paths
 * @returns {{status: number, stdout: Buffer, stderr: string, memory_bytes: number, ms: number}}
 */
export function run_module(args, paths) {
  const fds = paths.map((one) => openSync(one));
  const files = new Map(paths.map((one, i) => [basename(one), host_file(fds[i])]));
  const written = [[], []];
  const wasi = make_wasi({ args: ["stepscope", ...args, ...files.keys()], files,
    write: (fd, bytes) => written[fd - 1].push(bytes) });
  const instance = new WebAssembly.Instance(compile(), wasi.imports);
  wasi.attach(instance);
  const begin = performance.now();
  let status = 0;
  try {
    instance.exports._start();
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    status = error.status;
  }
  fds.forEach((fd) => closeSync(fd));
  const [stdout, stderr] = written.map((parts) => Buffer.concat(parts));
  return { status, stdout, stderr: stderr.toString(), ms: performance.now() - begin,
    memory_bytes: instance.exports.memory.buffer.byteLength };
}

/** Opens files as the page does; their answers, as values. @param {string[]} paths */
export function open_in_module(paths) {
  const files = new Map(paths.map((one) => [basename(one), host_file(openSync(one))]));
  const { said, answer } = open_files(compile(), files);
  return { said, ask: (target) => {
    const { status, body } = answer(`/api/v1${target}`);
    return { status, data: JSON.parse(Buffer.from(body).toString()) };
  } };
}
