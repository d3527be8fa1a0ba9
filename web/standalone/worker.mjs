// SPDX-License-Identifier: Apache-2.0
// Runs the module beside the page, which stays responsive. Files are read where the module asks for
// them, and go nowhere else.
import { open_files } from "./module.mjs";

const reader = new FileReaderSync();

/** @param {File} file @returns {import("./wasi.mjs").HostFile} */
const host_file = (file) => ({ size: file.size, read(at, into) {
  const part = reader.readAsArrayBuffer(file.slice(at, at + into.length));
  into.set(new Uint8Array(part));
  return part.byteLength;
} });

async function fetch_module() {
  const packed = await fetch(new URL("stepscope.wasm.gz", location.href));
  if (!packed.ok) throw new Error(`stepscope.wasm.gz: ${packed.status} ${packed.statusText}`);
  // A server may send the .gz as it is, or the module with Content-Encoding: gzip.
  const bytes = new Uint8Array(await packed.arrayBuffer());
  const plain = bytes[0] === 0x1f ? await new Response(
    new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer() : bytes;
  return WebAssembly.compile(plain);
}

let compiled = null;
let answer = null;

async function open(files) {
  compiled ??= await fetch_module();
  answer = null; // frees its memory before the next run takes some
  const opened = open_files(compiled, new Map(files.map(({ path, file }) =>
    [path, host_file(file)])));
  answer = opened.answer;
  return { said: opened.said, ok: answer !== null };
}

async function reply({ id, open: files, ask }) {
  try {
    postMessage({ id, ...(files ? await open(files) : answer(ask)) });
  } catch (error) {
    postMessage({ id, failed: String(error.message ?? error) });
  }
}

addEventListener("message", ({ data }) => reply(data));
