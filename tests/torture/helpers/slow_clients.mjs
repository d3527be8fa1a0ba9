// SPDX-License-Identifier: Apache-2.0
// Clients that send a byte a second, in their headers or in their bodies.
import { connect } from "node:net";

const HEAD = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
const BODY = "Host: localhost\r\nContent-Length: 9000000\r\n\r\n";

/**
 * @typedef {{socket: import("node:net").Socket, in_head: boolean, opened: number, cut_ms: number,
 *            said: string, timer: NodeJS.Timeout}} Slow
 */

/**
 * A client that keeps sending one byte a second until it is cut off, every second one in its
 * headers.
 * @param {number} port @param {number} i @param {string} [localAddress] whose it is @returns {Slow}
 */
export function slow_client(port, i, localAddress = "127.0.0.1") {
  const in_head = i % 2 === 0;
  const socket = connect({ port, host: "127.0.0.1", localAddress, noDelay: true });
  const client = { socket, in_head, opened: performance.now(), cut_ms: 0, said: "", timer: null };
  const cut = () => {
    client.cut_ms ||= performance.now() - client.opened;
    clearInterval(client.timer);
    socket.destroy();
  };
  const first = in_head ? HEAD : `PUT /api/v1/runs/slow-${i}/ranks/0/trace HTTP/1.1\r\n${BODY}{`;
  socket.on("connect", () => {
    socket.write(first);
    client.timer = setInterval(() => socket.write("x"), 1000);
  });
  socket.on("data", (text) => (client.said += text));
  for (const event of ["end", "close", "error"]) socket.on(event, cut);
  return client;
}
