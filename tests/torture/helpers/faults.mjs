// SPDX-License-Identifier: Apache-2.0
// Tells preload_faults.c which call should fail, and reads which places it has seen.
import { closeSync, ftruncateSync, openSync, readFileSync, readSync, writeFileSync,
  writeSync } from "node:fs";
import { basename, join } from "node:path";
import { start_server } from "../../e2e/helpers/server.mjs";
import { run_program, stepscope_bin, temporary } from "../../e2e/helpers/tools.mjs";
import { torture_preload } from "./torture.mjs";

/** Kinds of calls, in the order of preload_faults.c. */
const KINDS = ["none", "open", "read", "write", "sync", "name", "reserve", "remove", "folder",
  "memory", "map"];

/** How a call can fail: a Linux errno, or half of what was requested. */
export const ACTIONS = { EPERM: 1, EINTR: 4, EIO: 5, ENOMEM: 12, ENOSPC: 28, short: -1 };

const AT = { recording: 0, kind: 4, action: 8, lasting: 12, fired: 16, after: 20, site: 24,
  site_count: 32, folder: 48, sites: 512 };
const SITE_BYTES = 128;
const SITES = 16384;
const FRAMES = 14;

/** @typedef {{hash: bigint, kind: string, calls: number, frames: bigint[]}} Site */

/** One file of instructions for one data folder. */
export class Faults {
  /** @param {string} folder files below it can fail */
  constructor(folder) {
    this.path = join(temporary("faults"), "control");
    this.fd = openSync(this.path, "w+");
    ftruncateSync(this.fd, AT.sites + SITES * SITE_BYTES);
    writeSync(this.fd, Buffer.from(`${folder}\0`), 0, undefined, AT.folder);
  }

  /** A service that follows these instructions. @param {{data: string, options?: string[]}} what */
  async start(what) {
    // What the dynamic loader leaks when out of memory is not the service's fault.
    const known = `${this.path}.leaks`;
    writeFileSync(known, "leak:_dl_map_object_deps\n");
    const own = { LD_PRELOAD: torture_preload("faults"), STEPSCOPE_FAULTS: this.path,
      ASAN_OPTIONS: "verify_asan_link_order=0:detect_leaks=1:abort_on_error=1",
      LSAN_OPTIONS: `suppressions=${known}:print_suppressions=0` };
    const before = Object.keys(own).map((name) => [name, process.env[name]]);
    Object.assign(process.env, own);
    const starting = start_server(what);
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    this.server = await starting;
    return this.server;
  }

  #set(at, value) {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value | 0);
    writeSync(this.fd, bytes, 0, 4, at);
  }

  #get(at) {
    const bytes = Buffer.alloc(4);
    readSync(this.fd, bytes, 0, 4, at);
    return bytes.readUInt32LE();
  }

  /** Starts or stops recording the places of calls. */
  record(on) {
    this.#set(AT.recording, on ? 1 : 0);
  }

  /**
   * From now on calls fail: of a kind, at one place or anywhere, once or always, the first or the
   * one after some.
   * @param {{kind: string, action: number, site?: bigint, lasting?: boolean, after?: number}} what
   */
  arm({ kind, action, site = 0n, lasting = false, after = 0 }) {
    this.clear();
    const hash = Buffer.alloc(8);
    hash.writeBigUInt64LE(site);
    writeSync(this.fd, hash, 0, 8, AT.site);
    this.#set(AT.action, action);
    this.#set(AT.lasting, lasting ? 1 : 0);
    this.#set(AT.after, after);
    this.#set(AT.fired, 0);
    this.#set(AT.kind, KINDS.indexOf(kind));
  }

  /** Stops failing. @returns {number} how many calls reached the armed place */
  clear() {
    this.#set(AT.kind, 0);
    return this.#get(AT.fired);
  }

  /** Every place seen while recording. @returns {Site[]} */
  sites() {
    const count = this.#get(AT.site_count);
    const bytes = Buffer.alloc(count * SITE_BYTES);
    readSync(this.fd, bytes, 0, bytes.length, AT.sites);
    return Array.from({ length: count }, (_, i) => {
      const at = i * SITE_BYTES;
      const frame = (f) => bytes.readBigUInt64LE(at + 16 + 8 * f);
      return {
        hash: bytes.readBigUInt64LE(at),
        kind: KINDS[bytes.readUInt32LE(at + 8)],
        calls: bytes.readUInt32LE(at + 12),
        frames: Array.from({ length: FRAMES }, (_, f) => frame(f)).filter((one) => one !== 0n),
      };
    });
  }

  close() {
    closeSync(this.fd);
  }
}

/** Address ranges of a process's modules. @param {number} pid */
export function modules_of(pid) {
  return readFileSync(`/proc/${pid}/maps`, "utf8").split("\n").flatMap((line) => {
    const found = /^(\w+)-(\w+) \S+ (\w+) \S+ \S+ +(\/.*)$/.exec(line);
    return found ? [{ begin: BigInt(`0x${found[1]}`), end: BigInt(`0x${found[2]}`),
      offset: BigInt(`0x${found[3]}`), path: found[4] }] : [];
  });
}

/** The file of each frame of a place. @param {Site} site */
export const files_of = (site, modules) => site.frames.map((frame) =>
  modules.find(({ begin, end }) => begin <= frame && frame < end)?.path ?? "?");

/** A place as functions of the program, the caller last. @param {Site} site */
export async function describe(site, modules) {
  const bin = stepscope_bin();
  const own = modules.filter(({ path }) => path === bin);
  const base = own.length > 0 ? own[0].begin - own[0].offset : 0n;
  const inside = site.frames.filter((frame) =>
    own.some(({ begin, end }) => begin <= frame && frame < end));
  const addresses = inside.map((frame) => `0x${(frame - base - 1n).toString(16)}`);
  // Without an address it would wait for one.
  const text = addresses.length > 0
    ? await run_program("addr2line", ["-f", "-s", "-e", bin, ...addresses]).catch(() => "")
    : files_of(site, modules).map((path) => `${basename(path)}\n`).join("\n");
  const names = text.split("\n").filter((line, i) => line && i % 2 === 0);
  return `${site.kind} ${site.hash.toString(16)} in ${names.join(" < ")}`;
}
