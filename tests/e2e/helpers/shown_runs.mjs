// SPDX-License-Identifier: Apache-2.0
// Runs that pages are tried with: of two vendors, with long, turned and hostile names, one that
// failed and one that is empty.
import { fields, file_part } from "./multipart.mjs";
import { generate, small_job, small_json } from "./traces.mjs";

export const HOSTILE =
  '<img src=x onerror="document.title = 1"><script>document.title = 2</script>';
// Reverses the letters after it, is read from right to left, and has a part of zero width.
export const TURNED = "exp \u202egnp.1\u202c \u05e9\u05dc\u05d5\u05dd\u200b 5";
const LONG = `${"very_long_name_".repeat(13)}end`;

async function add_job(server, name, args, more) {
  const { files } = await generate(small_job(...args));
  return (await server.analyzed(name, files, more)).id;
}

async function add_file(server, name, data, filename, more) {
  return (await server.analyzed(name, [{ data, filename }], more)).id;
}

async function add_failed(server) {
  const bad = await server.post([...fields({ run: "bad" }), file_part('{"answer": 42}')]);
  if (bad.status !== 202) return null;
  await server.settled(bad.json.run);
  return bad.json.run;
}

/** @returns {Promise<Record<string, string|null>>} their ids */
export async function add_shown_runs(server) {
  return {
    cuda: await add_job(server, "cuda",
      ["--plant", "exposed_comm", "--steps", "8", "--stacks", "--memory"],
      { tag: "vendor=nvidia" }),
    rocm: await add_job(server, "rocm", ["--flavour", "rocm", "--steps", "8", "--slow", "140"],
      { tag: "vendor=amd" }),
    hostile: await add_file(server, HOSTILE.slice(0, 60),
      small_json({ names: [HOSTILE, "kernel_plain"] }), HOSTILE.replaceAll('"', "'"),
      { tag: `bold=${HOSTILE}`, note: HOSTILE }),
    turned: await add_file(server, TURNED,
      small_json({ names: [TURNED, `${TURNED} 2`, HOSTILE] }), `${TURNED}.json`,
      { project: TURNED, tag: `t=${TURNED}`, note: TURNED, meta: `m=${TURNED}` }),
    long: await add_file(server, LONG,
      small_json({ names: [LONG, LONG.repeat(8)] }), `${LONG}.json`,
      { project: LONG, tag: `t=${LONG}`, note: LONG, meta: `m=${LONG}` }),
    failed: await add_failed(server),
    empty: (await server.send("POST", "/runs", { name: "empty-run", world_size: 4 })).json.id,
  };
}

/** Addresses of the pages of a run. @param {string} id */
export const run_pages = (id) => ["", "/findings", "/kernels", "/kernels?group=category",
  "/operators", "/operators?view=shapes", "/operators?view=tree", "/modules", "/ranges",
  "/roofline", "/flame", "/flame?of=idle&dir=flame", "/idle", "/collectives", "/memory", "/ranks",
  "/whatif", "/data"].map((rest) => `/runs/${id}${rest}`);
