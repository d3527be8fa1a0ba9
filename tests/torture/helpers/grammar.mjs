// SPDX-License-Identifier: Apache-2.0
// Requests that are nearly right: routes, parameters, headers and bodies by the API's description,
// with a few bytes changed.
import { fields, file_part, multipart } from "../../e2e/helpers/multipart.mjs";
import { small_json } from "../../e2e/helpers/traces.mjs";

const NAMES = ["alpha", "beta", "r_1", "r_zzzzzzzz", "alpha@1", "%2e%2e", "a%00b", "a%0d%0ab",
  "%ff", "..", "a%2Fb", "x".repeat(300), "%F0%9F%9A%80", "'; DROP TABLE run;--", "~", "*", "0"];
const VALUES = ["1", "0", "-1", "all", "99999999999999999999", "1e308", "NaN", "", "true", "name",
  "-calls", "csv", "json", "alpha", "beta", "alpha,beta", "%00", "%ff%fe", "a=b", "[]",
  "'\"<script>",   "x".repeat(2000), "0.5", "2h", "opaque%3D", "%E2%80%AE"];
const HEADERS = [
  ["Accept", ["text/html", "application/json", "text/csv;q=0.1, */*", "q=;;,,", ""]],
  ["Accept-Encoding", ["gzip", "gzip;q=0", "br, gzip;q=0.001", ",,,"]],
  ["If-None-Match", ["*", '"1-2"', 'W/"x", "y"', '"']],
  ["If-Match", ["*", '"1"', '"', ""]],
  ["Range", ["bytes=0-9", "bytes=-5", "bytes=5-", "bytes=9-1", "bytes=0-1,3-4",
    "bytes=99999999999999999999-", "bytes=-", "lines=1-2"]],
  ["If-Range", ['"x"', "Mon, 01 Jan 2024 00:00:00 GMT"]],
  ["Origin", ["http://evil.example", "null", "http://127.0.0.1", ""]],
  ["Sec-Fetch-Site", ["same-origin", "cross-site", "none"]],
  ["Cookie", ["session=x", "__Host-session=ss_abc; a=b", ";;;=", "session=" + "x".repeat(900)]],
  ["Authorization", ["Bearer ss_abc", "Bearer", "Basic YTpi", "Bearer ss_" + "A".repeat(43)]],
  ["Expect", ["100-continue", "200-ok"]],
  ["X-Request-Id", ["abc", "a b", "x".repeat(300)]],
  ["Idempotency-Key", ["k1", "k2", '"quoted"', ""]],
  ["Tus-Resumable", ["1.0.0", "0.2.2", ""]],
  ["Upload-Offset", ["0", "5", "-1", "1e3", "18446744073709551616"]],
  ["Upload-Length", ["10", "0", "99999999999999999999", "x"]],
  ["Upload-Metadata", ["run YWxwaGE=,filename YS5qc29u", "run", "run !!!", ",", "a b,a b"]],
  ["Upload-Checksum", ["sha1 2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "md5 x", "sha256 ="]],
  ["Upload-Defer-Length", ["1"]],
  ["X-Forwarded-For", ["1.2.3.4", "::1, x"]],
  ["X-Forwarded-User", ["root"]],
  ["Connection", ["keep-alive", "upgrade", "x, close, y"]],
  ["Upgrade", ["h2c", "websocket"]],
  ["Content-Encoding", ["gzip"]],
];
const BODIES = ['{"note":"x"}', '{"name":"beta"}', "{}", "[]", '{"note":', '{"tags":{"a":"b"}}',
  "null", '{"a":1,"a":2}', `${"[".repeat(5000)}`, '{"note":"\\ud800"}', '{"alert":1e999}', "",
  "\u0000",
  '{"name":"ci","scopes":["read"]}', '{"token":"ss_x"}', "x".repeat(5000)];
const PIECES = ["\r\n", "\n", "\u0000", "%", ":", " ", "\t", ",", ";", "\r\n\r\n", "\u00ff", "/../",
  "?", "HTTP/1.1", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Host: evil\r\n",
  "\u007f"];

/** @typedef {{method: string, path: string, query: string[]}} Route */

/** Every route of the API's description. @returns {Route[]} */
export function routes_of(openapi) {
  const known = openapi.components?.parameters ?? {};
  const name_of = (one) => one.$ref ? known[one.$ref.split("/").pop()] : one;
  return Object.entries(openapi.paths).flatMap(([path, item]) =>
    Object.entries(item).filter(([method]) => method !== "parameters").map(([method, what]) => ({
      method: method.toUpperCase(),
      path,
      query: [...what.parameters ?? [], ...item.parameters ?? []].map(name_of)
        .filter((one) => one?.in === "query" && one.name !== "wait").map(({ name }) => name),
    })));
}

export class Grammar {
  /** @param {Route[]} routes @param {() => number} random */
  constructor(routes, random) {
    this.routes = routes;
    this.random = random;
  }

  under(limit) {
    return Math.floor(this.random() * limit);
  }

  one(list) {
    return list[this.under(list.length)];
  }

  chance(share) {
    return this.random() < share;
  }

  #target(route) {
    const path = route.path.replace(/\{[^}]*\}/g, () =>
      this.chance(0.6) ? this.one(NAMES.slice(0, 2)) : this.one(NAMES));
    const names = Array.from({ length: this.under(4) }, () =>
      this.chance(0.8) && route.query.length > 0 ? this.one(route.query) : this.one(VALUES));
    const query = names.map((name) => `${name}=${this.one(VALUES)}`).join("&");
    return query ? `${path}?${query}` : path;
  }

  #body(route) {
    if (route.path.endsWith("pload") || route.path.endsWith("ploads")) {
      const form = multipart([...fields({ run: this.one(NAMES.slice(0, 4)) }),
        file_part(small_json({ names: [`k${this.under(5)}`] }))]);
      return [form.body, form.headers["Content-Type"]];
    }
    const types = ["application/json", "application/merge-patch+json", "text/plain",
      "application/offset+octet-stream", "application/x-www-form-urlencoded"];
    return [Buffer.from(this.one(BODIES)), this.one(types)];
  }

  #headers(route) {
    const other = this.one(["Host: evil.example", "X: y"]);
    const lines = [this.chance(0.97) ? "Host: 127.0.0.1" : other];
    for (let i = this.under(5); i > 0; i--) {
      const [name, values] = this.one(HEADERS);
      lines.push(`${name}: ${this.one(values)}`);
    }
    const has_body = !["GET", "HEAD", "DELETE", "OPTIONS"].includes(route.method);
    const [body, type] = has_body ? this.#body(route) : [Buffer.alloc(0), null];
    if (type) lines.push(`Content-Type: ${type}`);
    return this.chance(0.1) && has_body ? [[...lines, "Transfer-Encoding: chunked"], chunked(body)]
      : [has_body || body.length ? [...lines, `Content-Length: ${body.length}`] : lines, body];
  }

  #mutate(bytes) {
    const at = this.under(bytes.length);
    const piece = Buffer.from(this.one(PIECES), "latin1");
    const way = this.under(5);
    if (way === 0) return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
    const rest = bytes.subarray(at + this.under(9));
    if (way === 1) return Buffer.concat([bytes.subarray(0, at), rest]);
    const changed = Buffer.from(bytes);
    if (way === 2) changed[at] ^= 1 << this.under(8);
    if (way === 3) changed[at] = this.under(256);
    if (way === 4) changed.copyWithin(at, this.under(bytes.length), bytes.length);
    return changed;
  }

  /** The bytes of one request. @returns {Buffer} */
  request() {
    const route = this.one(this.routes);
    const method = this.chance(0.9) ? route.method
      : this.one(["HEAD", "OPTIONS", "DELETE", "PATCH", "TRACE", "CONNECT", "get", "PROPFIND"]);
    const [lines, body] = this.#headers({ ...route, method });
    const head = `${method} ${this.#target(route)} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
    let bytes = Buffer.concat([Buffer.from(head), body]);
    if (this.chance(0.4)) for (let i = 1 + this.under(3); i > 0; i--) bytes = this.#mutate(bytes);
    return bytes;
  }
}

function chunked(body) {
  const half = Math.floor(body.length / 2);
  const chunks = [body.subarray(0, half), body.subarray(half)].filter(({ length }) => length > 0);
  return Buffer.concat([...chunks.flatMap((chunk) =>
    [Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n")]),
  Buffer.from("0\r\n\r\n")]);
}
