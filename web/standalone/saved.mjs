// SPDX-License-Identifier: Apache-2.0
// Links to data have no server behind them here: the module makes the file, the browser saves it.

import { announce } from "../base/announce.mjs";

const API = "/api/v1/";

/** "kernels.csv" of "/api/v1/runs/r_1/kernels?format=csv". @param {URL} url */
export function file_name({ pathname, searchParams }) {
  const format = searchParams.get("format") ?? "json";
  const ending = { speedscope: "speedscope.json", pprof: "pb.gz", columns: "json" };
  return `${pathname.split("/").at(-1)}.${ending[format] ?? format}`;
}

/** @param {(path: string) => Promise<Response>} answer */
export function save_links(answer) {
  document.addEventListener("click", async (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || !link.pathname.startsWith(API) || event.defaultPrevented) return;
    event.preventDefault();
    const reply = await answer(link.pathname + link.search).catch(() => null);
    if (!reply?.ok) {
      announce("The file could not be made");
      return;
    }
    const href = URL.createObjectURL(await reply.blob());
    Object.assign(document.createElement("a"), { href, download: file_name(new URL(link.href)) })
      .click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  });
}
