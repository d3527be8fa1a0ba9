// SPDX-License-Identifier: Apache-2.0
// Resumable uploads whose connection is cut, and whose service is killed, again and again: the file
// is stored byte for byte, and hardly anything is sent twice. A big upload takes no memory.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { request as begin } from "node:http";
import { test } from "node:test";
import { start_server } from "../e2e/helpers/server.mjs";
import { chance, until } from "../e2e/helpers/tools.mjs";
import { tus, tus_begin, tus_piece } from "../e2e/helpers/tus.mjs";
import { figure, is_long, seed } from "./helpers/torture.mjs";

const MIB = 1 << 20;
const SIZE = (is_long ? 1024 : 64) * MIB;
const CUTS = is_long ? 100 : 20;
const KILL_EACH = 5; // every fifth cut is a SIGKILL of the service
const BIG = is_long ? 5 * 1024 * MIB : 96 * MIB;
const BLOCK = 64 * 1024;

/** A file that is never in memory: the head of a trace, then noise that encodes its offset. */
class File {
  constructor(size) {
    this.size = size;
    const random = chance(seed);
    this.noise = Buffer.from(Array.from({ length: 251 * 1021 }, () => 33 + random() * 90));
    this.head = Buffer.from('{"traceEvents":[{"ph":"i","ts":1}],"noise":"');
  }

  /** The same bytes however the file is cut: whole blocks first. @param {number} from */
  slice(from, length) {
    const start = Math.floor(from / BLOCK) * BLOCK;
    const end = Math.min(from + length, this.size);
    const bytes = Buffer.alloc(Math.ceil(end / BLOCK) * BLOCK - start);
    for (let at = 0; at < bytes.length;) {
      at += this.noise.copy(bytes, at, (start + at) % this.noise.length);
    }
    // Each page contains its offset, so that none can take another's place.
    for (let at = 0; at < bytes.length; at += 4096) {
      bytes.writeUInt32LE(((start + at) / 4096) | 0x20202020, at);
    }
    if (start === 0) this.head.copy(bytes);
    return bytes.subarray(from - start, end - start);
  }

  sha256() {
    const hash = createHash("sha256");
    for (let at = 0; at < this.size; at += MIB) hash.update(this.slice(at, MIB));
    return hash.digest("hex");
  }
}

/** Sends from offset to the end, or calls stop once limit bytes were passed to the kernel. */
function send(server, path, file, offset, limit, stop) {
  return new Promise((done) => {
    const request = begin(server.base + path, { method: "PATCH", agent: false, headers: {
      "Tus-Resumable": "1.0.0", "Upload-Offset": offset, "Content-Length": file.size - offset,
      "Content-Type": "application/offset+octet-stream" } });
    let at = offset;
    const end = (status) => done({ status, sent: at });
    const next = () => {
      if (at - offset >= limit) return stop(request);
      if (at === file.size) return request.end();
      const bytes = file.slice(at, Math.min(BLOCK, limit - (at - offset)));
      // What the kernel has accepted counts as sent.
      return request.write(bytes, (error) => {
        if (error) return;
        at += bytes.length;
        next();
      });
    };
    request.on("response", (message) => {
      message.resume();
      message.on("end", () => end(message.statusCode));
    });
    request.on("error", () => end(0));
    request.on("socket", (socket) => socket.on("close", () => end(0)));
    request.on("socket", (socket) => socket.on("connect", next));
    request.flushHeaders();
  });
}

/** Bytes of a connection, identified by the client's port, that the kernel holds unread. */
function queued(server, client_port) {
  const port = (text) => parseInt(text.split(":")[1], 16);
  const size = (text) => text.split(":").map((number) => parseInt(number, 16));
  return readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1)
    .map((line) => line.trim().split(/\s+/))
    .reduce((sum, [, local, remote, , queues]) => {
      const [own, other] = [port(local), port(remote)];
      const [to_send, to_read] = size(queues);
      if (own === client_port && other === server.port) return sum + to_send;
      return own === server.port && other === client_port ? sum + to_read : sum;
    }, 0);
}

/** SIGKILL. @returns how many bytes the service had not read */
function kill(server, socket) {
  server.child.kill("SIGSTOP");
  const bytes = queued(server, socket.localPort);
  server.child.kill("SIGKILL");
  return bytes;
}

/** Cuts the connection and waits until the service has read what the kernel had accepted. */
async function cut_off(server, request) {
  const port = request.socket.localPort;
  request.destroy();
  await until("the service has read the piece", async () => queued(server, port) === 0);
}

/** The offset of the upload once nobody writes any more. */
async function stands_at(server, path) {
  return until("the upload can be gone on with", async () => {
    const { status, headers } = await tus(server.base, "HEAD", path);
    return status === 200 && Number(headers["upload-offset"]) + 1;
  }).then((offset) => offset - 1);
}

test(`an upload of ${SIZE / MIB} MiB survives ${CUTS} cuts and kills`, async () => {
  const file = new File(SIZE);
  const random = chance(seed + 1);
  let server = await start_server();
  const { headers } = await tus_begin(server.base, SIZE, { run: "cut", filename: "cut.json" });
  const path = headers.location;
  const worst = { cut: 0, kill: 0 };
  let [offset, again, kills] = [0, 0, 0];
  for (let cut = 1; cut <= CUTS; cut++) {
    const left = SIZE - offset - MIB;
    const limit = Math.floor(random() * 2 * left / (CUTS - cut + 2)) + 1;
    const kills_it = cut % KILL_EACH === 0;
    let unread = 0;
    let read = null;
    const { sent } = await send(server, path, file, offset, limit, (request) => {
      if (kills_it) unread = kill(server, request.socket);
      else read = cut_off(server, request);
    });
    await read;
    if (kills_it) {
      await server.ended();
      server = await start_server({ data: server.data });
      kills++;
    }
    const next = await stands_at(server, path);
    assert.ok(next >= offset && next <= sent, `seed ${seed}: ${next} of ${offset}..${sent}`);
    const kind = kills_it ? "kill" : "cut";
    worst[kind] = Math.max(worst[kind], sent - unread - next);
    again += sent - next;
    offset = next;
  }
  const { status } = await send(server, path, file, offset, Infinity, () => {});
  assert.equal(status, 204);
  const { json } = await server.request(path);
  assert.equal(json.state, "accepted");
  assert.equal(json.upload.traces[0].sha256, file.sha256(), `seed ${seed}`);
  const kib = (bytes) => `${(bytes / 1024).toFixed(0)} KiB`;
  assert.ok(worst.cut <= MIB, `seed ${seed}: ${worst.cut} bytes were sent twice after one cut`);
  assert.ok(worst.kill <= MIB, `seed ${seed}: ${worst.kill} bytes of what was read were lost`);
  figure("R13", `${SIZE / MIB} MiB over ${CUTS - kills} cuts and ${kills} SIGKILLs: sha256 ` +
    `equal; sent twice at most ${kib(worst.cut)} after a cut, ${kib(worst.kill)} of what the ` +
    `service had read after a SIGKILL; ${kib(again)} in all, most of it from socket buffers`);
  await server.stop();
});

/** Peak memory of a process in KiB. */
function peak_kib(pid) {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);
}

/** A file as the body of a PUT, generated while it is sent. */
function put(server, path, file) {
  return new Promise((done, fail) => {
    const headers = { "Content-Length": file.size };
    const request = begin(server.base + path, { method: "PUT", agent: false, headers },
      (message) => {
        message.resume();
        message.on("end", () => done(message.statusCode));
      });
    request.on("error", fail);
    let at = 0;
    const next = () => {
      if (at === file.size) return request.end();
      const bytes = file.slice(at, MIB);
      at += bytes.length;
      return request.write(bytes, next);
    };
    next();
  });
}

test(`an upload of ${BIG / MIB} MiB takes at most 4 MiB of memory in every form`, async () => {
  const file = new File(BIG);
  const forms = [
    ["raw", (server) => put(server, "/api/v1/runs/raw/ranks/0/trace", file)],
    ["in pieces", async (server) => {
      const { headers } = await tus_begin(server.base, BIG, { run: "pieces" });
      return (await send(server, headers.location, file, 0, Infinity, () => {})).status;
    }],
  ];
  for (const [form, upload] of forms) {
    const server = await start_server({ options: ["--min-free", "0", "--jobs", "1"] });
    const small = new File(4 * MIB);
    await put(server, "/api/v1/runs/warm/ranks/0/trace", small);
    await tus_piece(server.base, (await tus_begin(server.base, 99, {})).headers.location, 0, "{");
    const before = peak_kib(server.child.pid);
    const status = await upload(server);
    const after = peak_kib(server.child.pid);
    assert.ok([202, 204].includes(status), `${form}: ${status}`);
    assert.ok(after - before <= 4096, `${form}: ${before} -> ${after} KiB`);
    figure("R10", `${form} upload of ${BIG / MIB} MiB: VmHWM + ${after - before} KiB`);
    await server.kill();
  }
});
