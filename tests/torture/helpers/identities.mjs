// SPDX-License-Identifier: Apache-2.0
// Tokens of every kind, and requests that send them from any address of this machine.
import assert from "node:assert/strict";
import { request as begin } from "node:http";
import { run_status, stepscope_bin } from "../../e2e/helpers/tools.mjs";

export const SCOPES = ["read", "upload", "write", "admin"];

/** `stepscope token`; fails unless it succeeds. @returns {Promise<string>} what it printed */
export async function token_command(data, ...args) {
  const { status, stdout, stderr } = await run_status(stepscope_bin(),
    ["token", ...args, "--data", data]);
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

/** Makes a token. @param {string[]} scopes @param {string[]} more @returns {Promise<string>} */
export const make_token = (data, name, scopes, ...more) =>
  token_command(data, "create", "--name", name, "--scopes", scopes.join(","), ...more);

/** The rank of some scopes. @param {string[]} scopes */
export function worth(scopes) {
  if (scopes.includes("admin")) return SCOPES;
  return scopes.includes("write") ? [...scopes, "read"] : scopes;
}

export const bearer = (token) => ({ Authorization: `Bearer ${token}` });

let next_peer = 0;

/** A different address of this machine each time, as if from another client. */
export function other_peer() {
  next_peer++;
  return `127.${1 + (next_peer >> 16)}.${(next_peer >> 8) & 255}.${1 + (next_peer & 127)}`;
}

/** Every answer received, for what must hold for all of them. @type {Map<string, string[]>} */
export const odd_answers = new Map();

/** Headers every answer must have, and those none may have. */
function note_headers(what, headers) {
  const faults = [];
  if (!/default-src 'none'/.test(headers["content-security-policy"] ?? "")) faults.push("no CSP");
  if (headers["x-content-type-options"] !== "nosniff") faults.push("no nosniff");
  if (!headers["referrer-policy"]) faults.push("no Referrer-Policy");
  for (const name of Object.keys(headers))
    if (name.startsWith("access-control-")) faults.push(name);
  if (faults.length > 0) odd_answers.set(what, faults);
}

/**
 * One request on a new connection.
 * @param {number} port @param {string} method @param {string} path
 * @param {{headers?: object, body?: string | Buffer, peer?: string, announced?: number,
 *          signal?: AbortSignal}} [options]
 *   `announced`: a length to announce for a body that never comes
 * @returns {Promise<{status: number, headers: any, text: string}>}
 */
export function ask(port, method, path, { headers = {}, body, peer, announced, signal } = {}) {
  return new Promise((done, fail) => {
    const length = announced ?? (body === undefined ? undefined : Buffer.byteLength(body));
    const sized = length === undefined ? {} : { "Content-Length": length };
    const request = begin({ host: "127.0.0.1", port, method, path, agent: false,
      localAddress: peer, signal, headers: { ...sized, ...headers } }, (message) => {
      const chunks = [];
      message.on("data", (chunk) => chunks.push(chunk));
      message.on("error", fail);
      message.on("end", () => {
        note_headers(`${method} ${path} ${message.statusCode}`, message.headers);
        const text = Buffer.concat(chunks).toString("utf8");
        done({ status: message.statusCode, headers: message.headers, text });
        request.destroy();
      });
    });
    request.on("error", fail);
    request.setTimeout(20_000, () => request.destroy(new Error(`no answer: ${method} ${path}`)));
    if (announced === undefined) request.end(body);
    else request.flushHeaders();
  });
}

/** Does something with every item, a few at a time. */
export async function each(items, body, at_a_time = 6) {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await body(item);
  };
  await Promise.all(Array.from({ length: at_a_time }, worker));
}
