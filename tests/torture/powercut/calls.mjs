// SPDX-License-Identifier: Apache-2.0
// Reads strace's log: the calls that change files or talk to clients, in the order in which they
// started and ended. Strings and paths are written as \xNN, so they contain no quotes or brackets.

/** The traced calls; nothing else changes a file (except mapped memory, which is never durable). */
export const TRACED = [
  "open", "openat", "creat", "lseek", "write", "pwrite64", "writev", "pwritev", "pwritev2", "fsync",
  "fdatasync", "syncfs", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir",
  "ftruncate", "truncate", "fallocate", "mkdir", "mkdirat", "link", "linkat", "symlink",
  "symlinkat", "copy_file_range", "sendfile", "splice", "sendto", "sendmsg", "recvfrom",
];

/** Longest write that is recorded in full. */
const STRING_LIMIT = 1 << 22;

/** The command line that records a program. @param {string} log @returns {string[]} */
export const strace_line = (log) => ["strace", "-D", "-f", "-q", "--seccomp-bpf", "-y", "-xx",
  "-s", String(STRING_LIMIT), "-e", `trace=${TRACED}`, "-e", "signal=none", "-o", log];

/** @typedef {{fd: string, path: string}} Place */

/**
 * @typedef {{name: string, places: Place[], strings: Buffer[], words: string[], result: number,
 *            opened: string, mark?: number}} Call
 * `places` are descriptors with what they refer to, `words` the arguments as written.
 * @typedef {{call: Call, begins: boolean, ends: boolean}} Event
 */

const bytes_of = (text) => Buffer.from(text.replaceAll("\\x", ""), "hex");

/** @returns {Call} */
function parse_call(name, text) {
  const end = text.lastIndexOf(" = ");
  const args = text.slice(0, end).trimEnd().slice(0, -1);
  const result = text.slice(end + 3);
  if (/"\.\.\./.test(args)) throw new Error(`a ${name} of more than ${STRING_LIMIT} bytes`);
  const places = [...args.matchAll(/(?:^|, |=)(AT_FDCWD|\d+)<((?:\\x..)*)>(\(deleted\))?/g)]
    .map(([, fd, path, deleted]) => ({ fd, path: deleted ? "" : bytes_of(path).toString() }));
  const strings = [...args.matchAll(/"((?:\\x..)*)"/g)].map(([, hex]) => bytes_of(hex));
  const opened = /^\d+<((?:\\x..)*)>/.exec(result);
  return { name, places, strings, words: args.split(", "), result: parseInt(result, 10),
    opened: opened ? bytes_of(opened[1]).toString() : "" };
}

/** @param {string} text of the log @returns {Event[]} */
export function parse_calls(text) {
  /** Calls that started but have not ended, by thread. */
  const unfinished = new Map();
  const events = [];
  for (const line of text.split("\n")) {
    const [, thread, rest] = /^(\d+) +(.*)$/.exec(line) ?? [];
    // Exits of threads, and calls of threads that were killed before they were known.
    if (!rest || /^(\+\+\+|---|\?\?\?|<\.\.\. \?\?\?)/.test(rest)) continue;
    const resumed = /^<\.\.\. (\w+) resumed>(.*)$/.exec(rest);
    const begun = /^(\w+)\((.*?)(?: <unfinished \.\.\.>)?$/.exec(rest);
    if (!resumed && !begun) throw new Error(`found the line of strace ${line.slice(0, 200)}`);
    if (resumed) {
      const before = unfinished.get(thread);
      unfinished.delete(thread);
      Object.assign(before.call, parse_call(resumed[1], before.text + resumed[2]));
      events.push({ call: before.call, begins: false, ends: true });
    } else if (rest.endsWith("<unfinished ...>")) {
      const call = { name: begun[1], result: NaN };
      unfinished.set(thread, { call, text: begun[2] });
      events.push({ call, begins: true, ends: false });
    } else {
      events.push({ call: parse_call(begun[1], begun[2]), begins: true, ends: true });
    }
  }
  // Calls cut off by the kill never ended.
  const cut_off = new Set([...unfinished.values()].map(({ call }) => call));
  return events.filter(({ call }) => !cut_off.has(call));
}
