// SPDX-License-Identifier: Apache-2.0
// A stand-in for S3: it keeps objects in memory, checks the signature and the hash of every request
// by code of its own, and fails on request.
import { createHash, createHmac } from "node:crypto";
import { createServer } from "node:http";

const KEY = "AKTEST";
const SECRET = "SKTEST";
export const s3_keys = { AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: SECRET };

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const hmac = (key, text) => createHmac("sha256", key).update(text).digest();
const in_xml = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** What AWS Signature Version 4 says about a request. */
function signature(request, url, names, scope) {
  const query = [...url.searchParams].map((pair) => pair.map(encodeURIComponent).join("="))
    .sort().join("&");
  const headers = names.map((name) => `${name}:${request.headers[name]}\n`).join("");
  const asked = [request.method, url.pathname, query, headers, names.join(";"),
    request.headers["x-amz-content-sha256"]].join("\n");
  const text = ["AWS4-HMAC-SHA256", request.headers["x-amz-date"], scope, sha256(asked)].join("\n");
  const key = scope.split("/").reduce((from, part) => hmac(from, part), `AWS4${SECRET}`);
  return hmac(key, text).toString("hex");
}

class S3 {
  constructor() {
    /** @type {Map<string, {data: Buffer, etag: string, hash?: string, time: string}>} */
    this.objects = new Map();
    /** @type {Map<string, {key: string, hash?: string, parts: Buffer[], time: string}>} */
    this.uploads = new Map();
    /** How many uploads in parts were begun. */
    this.begun = 0;
    /** One line per request. @type {string[]} */
    this.log = [];
    /** Answers instead, if it returns true. @type {(request, response) => boolean | void} */
    this.instead = () => false;
    /** Whether it says the ETag of parts that were put together; Ceph 16 does not. */
    this.tells_etag = true;
    /** Objects in each page of a list. */
    this.page = 1000;
    this.server = createServer((request, response) =>
      this.answer(request, response).catch(() => response.destroy())); // who asked is gone
  }

  start() {
    return new Promise((done) => {
      this.server.listen(0, "127.0.0.1", () => {
        this.server.unref();
        this.port = /** @type {import("node:net").AddressInfo} */ (this.server.address()).port;
        done(this);
      });
    });
  }

  place(more = "") {
    return `s3://bucket/team?endpoint=http://127.0.0.1:${this.port}${more}`;
  }

  stop() {
    this.server.close();
    this.server.closeAllConnections();
  }

  refuse(response, status, code) {
    response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
  }

  async answer(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const url = new URL(request.url, "http://x");
    this.log.push(`${request.method} ${request.url}`);
    const said = /Credential=(\w+)\/(\S+), SignedHeaders=(\S+), Signature=(\w+)/
      .exec(request.headers.authorization ?? "");
    if (!said || said[1] !== KEY ||
        signature(request, url, said[3].split(";"), said[2]) !== said[4]) {
      return this.refuse(response, 403, "SignatureDoesNotMatch");
    }
    if (sha256(body) !== request.headers["x-amz-content-sha256"]) {
      return this.refuse(response, 400, "XAmzContentSHA256Mismatch");
    }
    if (this.instead(request, response)) return undefined;
    const key = url.pathname.replace(/^\/bucket\/?/, "");
    return key ? this.object(request, response, { key, url, body })
      : this.list(response, url.searchParams);
  }

  object(request, response, { key, url, body }) {
    const upload = url.searchParams.get("uploadId");
    const hash = request.headers["x-amz-meta-sha256"];
    const time = new Date().toISOString();
    if (url.searchParams.has("uploads")) {
      const id = `id/${this.begun++}+`; // never that of another, which may still be open
      this.uploads.set(id, { key, hash, parts: [], time });
      return response.end(`<R><UploadId>${id}</UploadId></R>`);
    }
    if (upload) return this.part(request, response, { key, upload, url, body });
    if (request.method === "PUT") {
      this.objects.set(key, { data: body, etag: `"${sha256(body).slice(0, 32)}"`, hash, time });
    }
    const object = this.objects.get(key);
    if (request.method === "DELETE") {
      this.objects.delete(key);
      return response.writeHead(204).end();
    }
    if (!object) return this.refuse(response, 404, "NoSuchKey");
    response.setHeader("ETag", object.etag);
    if (object.hash) response.setHeader("x-amz-meta-sha256", object.hash);
    if (request.method === "PUT") return response.end();
    const same = request.headers["if-match"];
    if (same && same !== object.etag) return this.refuse(response, 412, "PreconditionFailed");
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const data = object.data.subarray(from);
    response.setHeader("Content-Length", data.length);
    if (from) {
      response.setHeader("Content-Range",
        `bytes ${from}-${object.data.length - 1}/${object.data.length}`);
      response.statusCode = 206;
    }
    return response.end(request.method === "GET" ? data : undefined);
  }

  part(request, response, { key, upload, url, body }) {
    const open = this.uploads.get(upload);
    if (!open || open.key !== key) return this.refuse(response, 404, "NoSuchUpload");
    if (request.method === "PUT") {
      open.parts[Number(url.searchParams.get("partNumber")) - 1] = body;
      return response.writeHead(200, { ETag: `"${sha256(body).slice(0, 32)}"` }).end();
    }
    this.uploads.delete(upload);
    if (request.method === "DELETE") return response.writeHead(204).end();
    const data = Buffer.concat(open.parts);
    const etag = `"${sha256(data).slice(0, 30)}-${open.parts.length}"`;
    this.objects.set(key, { data, etag, hash: open.hash, time: new Date().toISOString() });
    const said = this.tells_etag ? etag.replaceAll('"', "&quot;") : "";
    return response.end(`<R><ETag>${said}</ETag></R>`);
  }

  list(response, query) {
    if (query.has("uploads")) {
      const all = [...this.uploads].filter(([, { key }]) =>
        key.startsWith(query.get("prefix") ?? ""));
      all.sort(([, a], [, b]) => (a.key < b.key ? -1 : Number(a.key > b.key)));
      const rows = all.slice(0, this.page).map(([id, { key, time }]) =>
        `<Upload><Key>${in_xml(key)}</Key><UploadId>${id}</UploadId>` +
        `<Initiated>${time}</Initiated></Upload>`);
      return response.end(`<R><IsTruncated>${all.length > this.page}</IsTruncated>` +
        `${rows.join("")}</R>`);
    }
    const keys = [...this.objects.keys()].sort()
      .filter((key) => key.startsWith(query.get("prefix") ?? ""));
    const from = Number(query.get("continuation-token") ?? 0);
    const rows = keys.slice(from, from + this.page).map((key) => {
      const { data, time } = /** @type {any} */ (this.objects.get(key));
      return `<Contents><Key>${in_xml(key)}</Key><LastModified>${time}</LastModified>` +
        `<Size>${data.length}</Size></Contents>`;
    });
    const more = from + this.page < keys.length;
    return response.end(`<R><IsTruncated>${more}</IsTruncated>${rows.join("")}` +
      `${more ? `<NextContinuationToken>${from + this.page}</NextContinuationToken>` : ""}</R>`);
  }
}

/** @returns {Promise<S3>} */
export const start_s3 = () => new S3().start();
