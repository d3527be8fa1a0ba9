// SPDX-License-Identifier: Apache-2.0
// Fetches the children of a tree's open nodes, once each, and keeps them while the tree is shown.
import { api_get } from "../base/api.mjs";
import { address } from "../base/address.mjs";
import { frame_of, rows_of } from "../base/frame.mjs";
import { useEffect, useMemo, useRef, useState } from "../base/ui.mjs";

/** An address with more parameters appended. */
const with_params = (base, params) =>
  base + address("", params).replace("?", base.includes("?") ? "&" : "?");

/**
 * @param {{base: string, sort: string, root: any, first: any[], ids: Set<number>,
 *          known?: Map<number, import("./tree_model.mjs").Branch>}} tree
 * `known` are all branches if the whole tree is there already: nothing is fetched
 * @returns {{branches: Map<number, import("./tree_model.mjs").Branch>,
 *            retry: (id: number) => void}}
 */
export function use_branches({ base, sort, root, first, ids, known: whole }) {
  const known = useRef(new Map());
  const [, refresh] = useState(0);
  // Another table or rank, or another analysis of it, is a different tree.
  const stop = useMemo(() => new AbortController(), [base, sort, first]);
  useMemo(() => {
    known.current = new Map([[root.id, { state: "done", nodes: first }]]);
  }, [stop]);
  useEffect(() => () => stop.abort(), [stop]);

  const put = (id, branch) => {
    known.current.set(id, branch);
    refresh((n) => n + 1);
  };
  const ask = async (id) => {
    put(id, { state: "loading", nodes: [] });
    const path = with_params(base, { parent: id, sort, limit: "all", format: "columns" });
    try {
      const { data } = await api_get(path, stop.signal);
      if (!stop.signal.aborted) put(id, { state: "done", nodes: rows_of(frame_of(data)) });
    } catch {
      if (!stop.signal.aborted) put(id, { state: "failed", nodes: [] });
    }
  };
  useEffect(() => {
    if (whole) return;
    for (const id of ids) if (!known.current.has(id)) ask(id);
  }, [ids, stop]);
  return { branches: whole ?? known.current, retry: ask };
}
