// SPDX-License-Identifier: Apache-2.0
// The processes in which a service reads files, found through /proc as anybody could.
import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";

const NAME = "stepscope-job\n";
const INPUT_FD = 3;

/** The result of a function that reads /proc; null if the process has gone meanwhile. */
function look(read) {
  try {
    return read();
  } catch {
    return null;
  }
}

/** State letter and parent of a process. @param {number | string} pid */
function status(pid) {
  const text = look(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  if (!text) return null;
  const [state, parent] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { state, parent: Number(parent) };
}

/** Processes started by a service, including zombies. @returns {number[]} */
export function children(server) {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number);
  return pids.filter((pid) => status(pid)?.parent === server.child.pid);
}

/** Polls for readers of files: a reader lives for only some tens of milliseconds. */
export class Readers {
  constructor(server) {
    this.server = server;
    /** Processes that are not this service's. @type {Set<string>} */
    this.others = new Set();
  }

  is_child(name) {
    if (this.others.has(name)) return false;
    if (status(name)?.parent === this.server.child.pid) return true;
    this.others.add(name);
    return false;
  }

  /**
   * The process that is reading the file with that sha256, or null. A process that has not set its
   * name yet is still running the service's program before exec, and its parent waits for that.
   */
  of(sha256) {
    const is_named = (name) => look(() => readFileSync(`/proc/${name}/comm`, "latin1")) === NAME;
    const reads = (name) =>
      look(() => readlinkSync(`/proc/${name}/fd/${INPUT_FD}`))?.endsWith(`/${sha256}`);
    const found = readdirSync("/proc").find((name) =>
      /^\d+$/.test(name) && this.is_child(name) && is_named(name) && reads(name));
    return found ? Number(found) : null;
  }
}

/** Whether a process runs, waits or is stopped: neither a zombie nor gone. */
export const is_alive = (pid) => !["Z", "X", undefined].includes(status(pid)?.state);

/** Whether a process is stopped. */
export const is_stopped = (pid) => status(pid)?.state === "T";

/** Open descriptors of a process: [number, what it is]. */
export function descriptors(pid) {
  const folder = join("/proc", String(pid), "fd");
  return readdirSync(folder).map((fd) => [Number(fd), look(() => readlinkSync(join(folder, fd)))]);
}

/** A line of /proc/PID/status or /limits. @param {string} file @param {string} name */
export function proc_line(pid, file, name) {
  const text = readFileSync(`/proc/${pid}/${file}`, "latin1");
  return text.split("\n").find((line) => line.startsWith(name)) ?? "";
}
