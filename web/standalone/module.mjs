// SPDX-License-Identifier: Apache-2.0
// The module as the page uses it: files are opened once, then requests are answered.
import { make_wasi } from "./wasi.mjs";

const text = new TextDecoder();

/** The bytes of a text, and of the NUL after it. */
const with_nul = (string) => new TextEncoder().encode(`${string}\0`);

/** @param {WebAssembly.Instance} instance */
function bridge({ exports }) {
  const put = (bytes) => {
    const at = exports.malloc(bytes.length);
    new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
    return at;
  };
  const bytes_at = (at, size) => new Uint8Array(exports.memory.buffer, at, size).slice();
  const text_at = (at) => {
    const rest = new Uint8Array(exports.memory.buffer, at);
    return text.decode(rest.slice(0, rest.indexOf(0)));
  };
  return { put, bytes_at, text_at };
}

/**
 * Analyzes files as the ranks of one run.
 * @param {WebAssembly.Module} compiled
 * @param {Map<string, import("./wasi.mjs").HostFile>} files by name
 * @returns {{said: string, answer: null | ((target: string) =>
 *            {status: number, type: string, body: Uint8Array}), memory_bytes: number}}
 *   `said` is about files that could not be read; `answer` null: none could
 */
export function open_files(compiled, files) {
  const said = [];
  const wasi = make_wasi({ args: ["stepscope"], files,
    write: (fd, bytes) => said.push(text.decode(bytes)) });
  const instance = new WebAssembly.Instance(compiled, wasi.imports);
  wasi.attach(instance);
  const { exports } = instance;
  const { put, bytes_at, text_at } = bridge(instance);
  exports._start();
  const names = put(with_nul([...files.keys(), ""].join("\0")));
  const page = exports.standalone_open(names);
  const answer = (target) => {
    const asked = put(with_nul(target));
    const found = exports.standalone_answer(page, asked);
    exports.free(asked);
    const [status, type, body, size] = new Uint32Array(exports.memory.buffer, found, 4);
    return { status, type: text_at(type), body: bytes_at(body, size) };
  };
  return { said: said.join(""), answer: page === 0 ? null : answer,
    memory_bytes: exports.memory.buffer.byteLength };
}
