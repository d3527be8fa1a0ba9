// SPDX-License-Identifier: Apache-2.0
// Raw bytes on a new connection and the reply; and the resources a process has used so far.
import { readFileSync } from "node:fs";
import { connect } from "node:net";

/** Headers in every answer, whichever part of the service writes it. */
export const GUARDS = ["Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy",
  "Cross-Origin-Resource-Policy", "X-Request-Id"];

/**
 * @typedef {{status: number, head: string, body: string, ms: number, reset: boolean}} Answer
 */

/**
 * The first answer in the received text. @returns {{status: number, head: string, body: string} |
 * null}
 */
function answer_in(text) {
  const end = text.indexOf("\r\n\r\n");
  const line = /^HTTP\/1\.1 (\d{3}) /.exec(text);
  if (end < 0 || !line) return null;
  const head = text.slice(0, end + 2);
  const length = Number(/\r\nContent-Length: (\d+)/.exec(head)?.[1] ?? 0);
  const body = text.slice(end + 4);
  return body.length < length ? null : { status: Number(line[1]), head, body };
}

/**
 * Sends pieces one after another and returns the first whole answer, or what arrived before the
 * other side closed (status 0: nothing).
 * @param {number} port @param {(string | Buffer)[]} pieces @returns {Promise<Answer>}
 */
export function ask(port, pieces, { limit_ms = 20_000, heads = false } = {}) {
  return new Promise((done, fail) => {
    const chunks = [];
    let reset = false;
    let begin = performance.now();
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    const text = () => Buffer.concat(chunks).toString("latin1");
    const finish = () => {
      const found = answer_in(text()) ?? { status: 0, head: text(), body: "" };
      socket.destroy();
      done({ ...found, ms: performance.now() - begin, reset });
    };
    const send = async () => {
      for (const [i, piece] of pieces.entries()) {
        if (i > 0) await new Promise((next) => setTimeout(next, 2));
        if (!socket.destroyed) socket.write(piece);
      }
      begin = performance.now();
    };
    socket.setTimeout(limit_ms, () => {
      socket.destroy();
      fail(new Error(`no answer after ${limit_ms} ms to ${String(pieces[0]).slice(0, 80)}`));
    });
    socket.on("connect", send);
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      if (answer_in(text()) || (heads && text().includes("\r\n\r\n"))) finish();
    });
    socket.on("end", finish);
    socket.on("error", (error) => {
      reset ||= error.code === "ECONNRESET" || error.code === "EPIPE";
      finish();
    });
  });
}

/** CPU seconds and resident bytes of a process so far. @param {number} pid */
export function used(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  const kib = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0);
  return {
    cpu_s: (Number(fields[11]) + Number(fields[12])) / 100,
    rss_mib: kib("VmRSS") / 1024,
    peak_mib: kib("VmHWM") / 1024,
  };
}

/**
 * Whether a process is built with sanitizers: its memory use is meaningless then. @param {number}
 * pid
 */
export const is_sanitized = (pid) => /lib[at]san/.test(readFileSync(`/proc/${pid}/maps`, "latin1"));

/** The smallest time not exceeded by a share of the times. @param {number[]} times */
export function percentile(times, share) {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}
