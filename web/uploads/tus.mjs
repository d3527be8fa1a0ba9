// SPDX-License-Identifier: Apache-2.0
// Uploads one file in pieces (tus 1.0): resumes where it stopped after a lost connection, a server
// restart, or a page reload.
import { unfinished_forget, unfinished_find, unfinished_keep } from "./unfinished.mjs";

const START = "/api/v1/tus";
const PIECE_BYTES = 8 << 20;
const PIECE_TYPE = "application/offset+octet-stream";
const SHORT_MS = 1000;
const LONG_MS = 30_000;
/** Statuses after which the same request may succeed; 0: no answer. */
const PASSING = new Set([0, 408, 423, 429, 500, 502, 503, 504]);
/** Statuses after which someone must act first; what the server has of a file stays. */
const KEEPING = new Set([401, 403, 507]);

/**
 * @typedef {{status: number, headers: (name: string) => string|null, json: any}} Reply
 * @typedef {{file: File, path: string, fields: [string, string][]}} Sent
 * @typedef {(change: {sent?: number, halted_until?: number|null}) => void} Report
 */

/** Going to the sign-in page would lose the chosen files. */
const SIGNED_OUT = {
  detail: "You are signed out.",
  fix: "Sign in on another page, then try again; data already uploaded is kept.",
};

function json_of(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null; // not an answer of ours, perhaps from a proxy; its status says enough
  }
}

/**
 * fetch does not report how much of a body was sent.
 * @param {string} method @param {string} url
 * @param {{headers?: Record<string, string>, body?: Blob, signal: AbortSignal,
 *          progress?: (bytes: number) => void}} what
 * @returns {Promise<Reply>}
 */
function exchange(method, url, { headers = {}, body, signal, progress }) {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    request.open(method, url);
    request.setRequestHeader("Tus-Resumable", "1.0.0");
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    if (progress) request.upload.onprogress = ({ loaded }) => progress(loaded);
    request.onabort = () => fail(signal.reason);
    request.onloadend = () => {
      signal.removeEventListener("abort", abort);
      const { status } = request;
      done({ status, headers: (name) => request.getResponseHeader(name),
        json: json_of(request.responseText) });
    };
    if (signal.aborted) return fail(signal.reason);
    signal.addEventListener("abort", abort);
    return request.send(body ?? null);
  });
}

function base64(text) {
  const bytes = new TextEncoder().encode(text);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** Fields as Upload-Metadata; repeatable ones become lines of one value. */
function metadata_of(fields) {
  const values = new Map();
  for (const [name, value] of fields) {
    values.set(name, values.has(name) ? `${values.get(name)}\n${value}` : value);
  }
  return [...values].map(([name, value]) => `${name} ${base64(value)}`).join(",");
}

function random_key() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Waits, but only until the network is back. */
function pause(ms, signal) {
  return new Promise((done, fail) => {
    const end = (settle) => () => {
      clearTimeout(timer);
      removeEventListener("online", back);
      settle(signal.reason);
    };
    const back = end(done);
    const timer = setTimeout(back, ms);
    addEventListener("online", back);
    signal.addEventListener("abort", end(fail), { once: true });
  });
}

class Sending {
  /** @param {Sent} upload @param {Report} report @param {AbortSignal} signal */
  constructor(upload, report, signal) {
    Object.assign(this, { upload, report, signal });
    this.key = random_key();
    this.url = unfinished_find(upload);
    /** Bytes that the server has; null: it must be asked. @type {number|null} */
    this.offset = null;
    this.failures = 0;
  }

  ask(method, url, what = {}) {
    return exchange(method, url, { signal: this.signal, ...what });
  }

  begin() {
    const { file, path, fields } = this.upload;
    return this.ask("POST", START, { headers: {
      "Upload-Length": String(file.size),
      "Upload-Metadata": metadata_of([...fields, ["filename", path]]),
      "Idempotency-Key": this.key,
    } });
  }

  send_piece() {
    const { file } = this.upload;
    const { offset } = this;
    return this.ask("PATCH", this.url, {
      headers: { "Content-Type": PIECE_TYPE, "Upload-Offset": String(offset) },
      body: file.slice(offset, offset + PIECE_BYTES),
      progress: (bytes) => this.report({ sent: Math.min(offset + bytes, file.size) }),
    });
  }

  /** The next request. */
  next() {
    if (!this.url) return this.begin();
    if (this.offset === null) return this.ask("HEAD", this.url);
    return this.offset < this.upload.file.size ? this.send_piece() : this.ask("GET", this.url);
  }

  /** Processes a successful reply. @param {Reply} reply */
  note(reply) {
    this.failures = 0;
    const offset = reply.headers("Upload-Offset");
    if (!this.url) {
      this.url = reply.headers("Location");
      this.offset = 0;
      unfinished_keep(this.upload, this.url);
    } else if (offset !== null) {
      this.offset = Number(offset);
    } else if (reply.json?.state === "receiving") {
      this.offset = null; // all bytes are there, but not stored for good; a HEAD request does that
    }
    if (this.offset !== null) this.report({ sent: this.offset });
  }

  /** Waits after a temporary failure. @param {Reply} reply */
  async halt(reply) {
    const asked_ms = Number(reply.headers("Retry-After") ?? 0) * 1000;
    const own_ms = Math.min(LONG_MS, SHORT_MS * 2 ** this.failures++);
    const ms = Math.max(asked_ms, own_ms);
    // How much of the last piece arrived is unknown until the server can be asked.
    this.report({ halted_until: Date.now() + ms });
    await pause(ms, this.signal);
    this.offset = null;
    this.report({ halted_until: null });
  }

  /** An upload that the server no longer knows starts over, unless it says why it ended. */
  async start_over() {
    const reply = await this.ask("GET", this.url);
    if (PASSING.has(reply.status)) return this.halt(reply);
    unfinished_forget(this.upload);
    if (reply.json?.state === "refused") throw { title: "Refused", detail: reply.json.refused };
    return Object.assign(this, { url: null, offset: null, key: random_key() });
  }

  /** @param {Reply} reply */
  async mend(reply) {
    const { status, json } = reply;
    if (PASSING.has(status)) return this.halt(reply);
    if (this.url && (status === 404 || status === 410)) return this.start_over();
    if (status === 409 && json?.type?.endsWith("/offset")) {
      this.offset = null;
      return undefined;
    }
    if (!KEEPING.has(status)) unfinished_forget(this.upload);
    const problem = json ?? { title: `The server answered ${status}` };
    throw status === 401 ? { ...problem, ...SIGNED_OUT } : problem;
  }

  async run() {
    for (;;) {
      const reply = await this.next();
      if (reply.status < 200 || reply.status > 299) await this.mend(reply);
      else if (reply.json?.upload) return reply.json.upload;
      else this.note(reply);
    }
  }
}

/**
 * Sends a file until the server has stored it; rejects with a problem that waiting will not fix, or
 * when aborted.
 * @param {Sent} upload @param {Report} report @param {AbortSignal} signal
 * @returns {Promise<any>} the upload
 */
export async function send_in_pieces(upload, report, signal) {
  const sending = new Sending(upload, report, signal);
  try {
    const reply = await sending.run();
    unfinished_forget(upload);
    return reply;
  } catch (problem) {
    if (signal.aborted) give_up(upload, sending.url);
    throw problem;
  }
}

/** Tells the server that no more will come, so that it can drop what it has. */
function give_up(upload, url) {
  unfinished_forget(upload);
  if (!url) return;
  const end = () => exchange("DELETE", url, { signal: new AbortController().signal });
  // The aborted request may still hold the upload.
  end().then(({ status }) => status === 423 && setTimeout(end, SHORT_MS));
}
