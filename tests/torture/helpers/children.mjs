// SPDX-License-Identifier: Apache-2.0
// The processes in which a service reads files, found as anybody can find them: in /proc.
import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** What a function that reads /proc gives; null when the process is gone meanwhile. */
function look(read) {
  try {
    return read();
  } catch {
    return null;
  }
}

/** State letter and parent of a process. @param {number} pid */
function status(pid) {
  const text = look(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  if (!text) return null;
  const [state, parent] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { state, parent: Number(parent) };
}

/** Processes that a service started, the dead among them too. @returns {number[]} */
export function children(server) {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number);
  return pids.filter((pid) => status(pid)?.parent === server.child.pid);
}

/** The process that reads the file of that sha256 now, or null. */
export function reader_of(server, sha256) {
  const is_open = (pid, fd) =>
    look(() => readlinkSync(`/proc/${pid}/fd/${fd}`))?.endsWith(`/${sha256}`);
  const reads = (pid) =>
    (look(() => readdirSync(`/proc/${pid}/fd`)) ?? []).some((fd) => is_open(pid, fd));
  return children(server).find(reads) ?? null;
}

/** Whether a process runs, waits or is stopped: neither dead nor gone. */
export const is_alive = (pid) => !["Z", "X", undefined].includes(status(pid)?.state);

/** Descriptors that a process has open: [number, what it is]. */
export function descriptors(pid) {
  const folder = join("/proc", String(pid), "fd");
  return readdirSync(folder).map((fd) => [Number(fd), look(() => readlinkSync(join(folder, fd)))]);
}

/** A line of /proc/PID/status or /limits. @param {string} file @param {string} name */
export function proc_line(pid, file, name) {
  const text = readFileSync(`/proc/${pid}/${file}`, "latin1");
  return text.split("\n").find((line) => line.startsWith(name)) ?? "";
}
