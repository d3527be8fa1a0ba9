// SPDX-License-Identifier: Apache-2.0
// How long the health page takes meanwhile, on a machine that may itself be busy.
import assert from "node:assert/strict";
import { percentile } from "./wire.mjs";

const LIMIT_MS = 100;
const QUIET_ASKS = 100;
const NOISE_FACTOR = 3;

export class Health {
  /** @param {{request: (path: string) => Promise<{status: number}>}} server */
  constructor(server) {
    this.server = server;
    /** @type {number[]} */
    this.times = [];
    this.limit_ms = LIMIT_MS;
  }

  async ask() {
    const begin = performance.now();
    assert.equal((await this.server.request("/healthz")).status, 200);
    return performance.now() - begin;
  }

  /** Measures the machine before the attack: other work on it is not the service's fault. */
  async calibrate() {
    const times = [];
    while (times.length < QUIET_ASKS) times.push(await this.ask());
    this.limit_ms = Math.max(LIMIT_MS, NOISE_FACTOR * percentile(times, 0.99));
    return this;
  }

  /** Polls until goes_on returns false. @param {() => boolean} goes_on */
  async watch(goes_on) {
    while (goes_on()) this.times.push(await this.ask());
  }

  /** @returns {string} */
  get text() {
    const p99_ms = percentile(this.times, 0.99).toFixed(1);
    return `health p99 ${p99_ms} ms of ${this.times.length}`;
  }

  /** Asserts the promised times. @param {number} least answers needed for a percentile */
  check(least) {
    assert.ok(this.times.length >= least, `only ${this.times.length} answers of the health page`);
    const p99_ms = percentile(this.times, 0.99);
    assert.ok(p99_ms <= this.limit_ms, `${this.text}, expected ${this.limit_ms.toFixed(0)} ms`);
  }
}
