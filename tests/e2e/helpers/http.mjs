// SPDX-License-Identifier: Apache-2.0
// Requests to the service with full control of headers, bodies and bytes on the wire.
import { createReadStream, statSync } from "node:fs";
import { request as begin } from "node:http";
import { connect } from "node:net";

const REQUEST_LIMIT_MS = 120_000;

/**
 * @typedef {{status: number, headers: Record<string, string>, raw_headers: string[],
 *            body: Buffer, text: string, json: any}} Reply
 */

function reply_of(message, body) {
  return {
    status: message.statusCode,
    headers: message.headers,
    raw_headers: message.rawHeaders,
    body,
    get text() {
      return body.toString("utf8");
    },
    get json() {
      return JSON.parse(body.toString("utf8"));
    },
  };
}

function collect(message, done, fail) {
  const chunks = [];
  message.on("data", (chunk) => chunks.push(chunk));
  message.on("end", () => done(reply_of(message, Buffer.concat(chunks))));
  message.on("error", fail);
}

/**
 * One request on a new connection.
 * @param {string} url
 * @param {{method?: string, headers?: object, body?: Buffer | string, file?: string}} [what]
 * @returns {Promise<Reply>}
 */
export function http_request(url, { method = "GET", headers = {}, body, file } = {}) {
  return new Promise((done, fail) => {
    const length = file ? statSync(file).size : body === undefined ? null : Buffer.byteLength(body);
    const sized = length === null ? {} : { "Content-Length": length };
    const options = { method, agent: false, headers: { ...sized, ...headers } };
    const request = begin(url, options, (message) => collect(message, done, fail));
    request.setTimeout(REQUEST_LIMIT_MS, () => request.destroy(new Error(`no answer: ${url}`)));
    request.on("error", fail);
    if (file) createReadStream(file).pipe(request);
    else request.end(body);
  });
}

/** A request with a JSON body. */
export function http_json(url, method, value, headers = {}) {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const body = typeof value === "string" ? value : JSON.stringify(value);
  return http_request(url, { method, body, headers: { "Content-Type": type, ...headers } });
}

/**
 * Sends raw bytes and returns everything received until the other side closes.
 * @param {number} port @param {string | Buffer} bytes @returns {Promise<string>}
 */
export function http_bytes(port, bytes, limit_ms = 20_000) {
  return new Promise((done, fail) => {
    const chunks = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    const finish = () => done(Buffer.concat(chunks).toString("latin1"));
    socket.setTimeout(limit_ms, () => {
      socket.destroy();
      fail(new Error(`no end of the answer after ${limit_ms} ms: ${Buffer.concat(chunks)}`));
    });
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("end", finish);
    socket.on("close", finish);
    socket.on("error", (error) => (chunks.length > 0 ? finish() : fail(error)));
  });
}
