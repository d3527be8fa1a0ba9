// SPDX-License-Identifier: Apache-2.0
// The requests of the tus protocol, one function each.
import { request as begin } from "node:http";
import { http_request } from "./http.mjs";

/** @typedef {import("./http.mjs").Reply} Reply */

const PIECE_TYPE = "application/offset+octet-stream";

/** Upload-Metadata with some fields; a list becomes lines. @param {Record<string, any>} fields */
export function metadata(fields) {
  const text = (value) => (Array.isArray(value) ? value.join("\n") : String(value));
  return Object.entries(fields).map(([name, value]) =>
    `${name} ${Buffer.from(text(value)).toString("base64")}`).join(",");
}

/** @returns {Promise<Reply>} */
export function tus(base, method, path, headers = {}, body = undefined) {
  const all = { "Tus-Resumable": "1.0.0", ...headers };
  if (body === undefined && method !== "HEAD") all["Content-Length"] = 0;
  return http_request(base + path, { method, headers: all, body });
}

/** @param {number} length @param {Record<string, any>} fields @returns {Promise<Reply>} */
export function tus_begin(base, length, fields = {}, headers = {}, body = undefined) {
  const type = body === undefined ? {} : { "Content-Type": PIECE_TYPE };
  const own = { "Upload-Length": length, "Upload-Metadata": metadata(fields), ...type };
  return tus(base, "POST", "/api/v1/tus", { ...own, ...headers }, body);
}

/** @returns {Promise<Reply>} */
export function tus_piece(base, path, offset, body, headers = {}) {
  const own = { "Upload-Offset": offset, "Content-Type": PIECE_TYPE };
  return tus(base, "PATCH", path, { ...own, ...headers }, body);
}

/** The offset of an upload. @returns {Promise<number>} */
export async function tus_offset(base, path) {
  const { status, headers } = await tus(base, "HEAD", path);
  if (status !== 200) throw new Error(`HEAD ${path}: ${status}`);
  return Number(headers["upload-offset"]);
}

/**
 * A PATCH that stays open: the test writes the bytes. Without a length it is chunked.
 * @param {number | null} length
 * @returns {{request: import("node:http").ClientRequest, answer: Promise<number>}}
 */
export function tus_open_piece(base, path, offset, length) {
  const sized = length === null ? {} : { "Content-Length": length };
  const request = begin(base + path, { method: "PATCH", agent: false, headers: {
    "Tus-Resumable": "1.0.0", "Upload-Offset": offset, "Content-Type": PIECE_TYPE, ...sized } });
  const answer = new Promise((done) => {
    request.on("response", (message) => {
      message.resume();
      done(message.statusCode);
    });
    request.on("error", () => done(0));
  });
  return { request, answer };
}
