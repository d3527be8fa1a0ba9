// SPDX-License-Identifier: Apache-2.0
// A tree of which only opened parts are loaded: which rows are visible, what the keys do; pure.

export const SHOWN_AT_ONCE = 100;

/**
 * @typedef {{id: number, parent: number|null, children: number}} TreeNode
 * @typedef {{state: "loading"|"failed"|"done", nodes: TreeNode[]}} Branch
 * @typedef {{kind: "node"|"loading"|"failed"|"more", key: string, node: any, parent: number|null,
 *            level: number, at: number, of: number, open: boolean|null, hidden?: number}} TreeRow
 */

/** Ids in an address: "0.4.17". @param {string} text @returns {Set<number>} */
export function ids_of(text) {
  return new Set(text.split(".").filter((part) => /^\d{1,9}$/.test(part)).map(Number));
}

/** @param {Set<number>} ids */
export function text_of_ids(ids) {
  return [...ids].sort((a, b) => a - b).join(".");
}

const note = (kind, parent, level, hidden) =>
  ({ kind, key: `${kind}-${parent}`, node: null, parent, level, at: 0, of: 0, open: null, hidden });

/**
 * The visible rows, from the root on, without recursion: a tree may be as deep as a stack.
 * @param {TreeNode} root @param {Map<number, Branch>} branches children by id of their parent
 * @param {Set<number>} open @param {Set<number>} whole parents whose children are all shown
 * @returns {TreeRow[]}
 */
export function visible_rows(root, branches, open, whole) {
  const rows = [];
  const stack = [{ node: root, parent: null, level: 1, at: 1, of: 1 }];
  while (stack.length > 0) {
    const next = stack.pop();
    if (!next.node) {
      rows.push(next);
      continue;
    }
    const { id, children } = next.node;
    const is_open = children > 0 ? open.has(id) : null;
    rows.push({ kind: "node", key: `n${id}`, ...next, open: is_open });
    if (is_open) stack.push(...below(id, next.level + 1, branches.get(id), whole).reverse());
  }
  return rows;
}

function below(id, level, branch, whole) {
  if (!branch || branch.state === "loading") return [note("loading", id, level)];
  if (branch.state === "failed") return [note("failed", id, level)];
  const of = branch.nodes.length;
  const shown = whole.has(id) ? branch.nodes : branch.nodes.slice(0, SHOWN_AT_ONCE);
  const rows = shown.map((node, i) => ({ node, parent: id, level, at: i + 1, of }));
  return shown.length < of ? [...rows, note("more", id, level, of - shown.length)] : rows;
}

/**
 * What a key does on the row at `at`: where the focus goes and whether a node opens or closes.
 * @param {string} key @param {TreeRow[]} rows @param {number} at
 * @returns {{at: number, act?: "open"|"close"|"more"|"retry"}|null} null: not a key of the tree
 */
export function key_effect(key, rows, at) {
  const row = rows[at];
  if (!row) return null;
  if (key === "ArrowDown") return { at: Math.min(rows.length - 1, at + 1) };
  if (key === "ArrowUp") return { at: Math.max(0, at - 1) };
  if (key === "Home") return { at: 0 };
  if (key === "End") return { at: rows.length - 1 };
  if (key === "ArrowRight") return row.open === false ? { at, act: "open" } : inside(rows, at);
  if (key === "ArrowLeft") return row.open ? { at, act: "close" } : { at: parent_of(rows, at) };
  if (key === "Enter" || key === " ") return { at, act: act_of(row) };
  return null;
}

function inside(rows, at) {
  return { at: rows[at].open && rows[at + 1] ? at + 1 : at };
}

function act_of({ kind, open }) {
  if (kind === "more") return "more";
  if (kind === "failed") return "retry";
  if (open === null) return undefined;
  return open ? "close" : "open";
}

function parent_of(rows, at) {
  for (let i = at - 1; i >= 0; i--) if (rows[i].level < rows[at].level) return i;
  return at;
}
