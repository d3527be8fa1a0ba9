// SPDX-License-Identifier: Apache-2.0
// The page's side of the worker.

/** @typedef {import("../uploads/dropped_files.mjs").Dropped} Dropped */

/** The browser takes a worker's address only from a policy that the page has declared. */
function worker_address() {
  const url = new URL("worker.mjs", document.baseURI).href;
  const policy = globalThis.trustedTypes?.createPolicy("standalone",
    { createScriptURL: () => url });
  return policy ? policy.createScriptURL("") : url;
}

export function start_analyzer() {
  const worker = new Worker(worker_address(), { type: "module" });
  const waiting = new Map();
  let last = 0;
  let broken = null; // why the worker answers nothing any more
  worker.addEventListener("message", ({ data }) => {
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.failed) asked?.reject(new Error(data.failed));
    else asked?.resolve(data);
  });
  worker.addEventListener("error", ({ message }) => {
    broken = new Error(message || "worker.mjs could not be loaded");
    for (const { reject } of waiting.values()) reject(broken);
    waiting.clear();
  });
  const send = (message) => new Promise((resolve, reject) => {
    if (broken) {
      reject(broken);
      return;
    }
    last++;
    waiting.set(last, { resolve, reject });
    worker.postMessage({ id: last, ...message });
  });
  return {
    /** @param {Dropped[]} files @returns {Promise<{ok: boolean, said: string}>} */
    open: (files) => send({ open: files }),
    /** Answers as fetch does. @param {string} path @param {RequestInit} [options] */
    async answer(path, options) {
      options?.signal?.throwIfAborted();
      const { status, type, body } = await send({ ask: path });
      options?.signal?.throwIfAborted();
      return new Response(body, { status, headers: { "Content-Type": type } });
    },
  };
}
