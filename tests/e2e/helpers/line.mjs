// SPDX-License-Identifier: Apache-2.0
// A bad connection: a proxy that tests can cut and restore.
import { connect, createServer } from "node:net";

/** A line to the service that can be cut and that counts its traffic. */
export class Line {
  constructor() {
    this.sockets = new Set();
    this.up = true;
    this.sent = 0;
    this.cut_at = Infinity;
    this.server = createServer((socket) => this.pass(socket));
  }

  async open(port) {
    this.to = port;
    await new Promise((done) => this.server.listen(0, "127.0.0.1", done));
    this.base = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  pass(near) {
    if (!this.up) return near.destroy();
    const far = connect(this.to, "127.0.0.1");
    for (const socket of [near, far]) {
      this.sockets.add(socket);
      socket.on("close", () => {
        this.sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
      socket.on("error", () => {});
    }
    near.on("data", (bytes) => {
      this.sent += bytes.length;
      if (this.sent >= this.cut_at) this.cut();
    });
    near.pipe(far);
    return far.pipe(near);
  }

  cut() {
    this.up = false;
    this.cut_at = Infinity;
    this.sockets.forEach((socket) => socket.destroy());
  }

  mend(port = this.to) {
    this.to = port;
    this.up = true;
  }

  close() {
    this.cut();
    this.server.close();
  }
}
