// SPDX-License-Identifier: Apache-2.0
// The modules of two sides as a tree: each row comes below its parent; pure.

/** The last name of a path. @param {any} row */
const name_of = ({ path, depth }) => (depth === 0 ? "All device work" : path.split("/").at(-1));

const by_change = (a, b) => Math.abs(b.delta_ns) - Math.abs(a.delta_ns) || b.base_ns - a.base_ns;

/**
 * @param {any[]} rows of compare_modules, in their order
 * @returns {{root: any, first: any[], known: Map<number, {state: "done", nodes: any[]}>}|null}
 * children by size of their change; null without any module
 */
export function module_tree(rows) {
  const open = [];
  const known = new Map();
  rows.forEach((row, id) => {
    const parent = row.depth > 0 ? (open[row.depth - 1] ?? null) : null;
    const node = { ...row, id, parent: parent?.id ?? null, name: name_of(row), children: 0 };
    open.length = row.depth;
    open[row.depth] = node;
    known.set(id, { state: "done", nodes: [] });
    if (!parent) return;
    parent.children++;
    known.get(parent.id).nodes.push(node);
    if (row.depth === 1) open[0] = parent;
  });
  const root = open[0];
  if (!root || root.children === 0) return null;
  for (const { nodes } of known.values()) nodes.sort(by_change);
  return { root, first: known.get(root.id).nodes, known };
}

const FEW = 12; // children shown without asking

/**
 * Opens the root, and below it what contains most of the change, unless that is too much to show.
 */
export function open_at_first({ root, known }) {
  const ids = [root.id];
  for (let at = root; ids.length < 4;) {
    const [largest] = known.get(at.id).nodes;
    const dominates = at.children === 1 || Math.abs(largest.delta_ns) * 2 > Math.abs(at.delta_ns);
    if (!dominates || largest.children === 0 || largest.children > FEW) break;
    ids.push(largest.id);
    at = largest;
  }
  return ids.join(".");
}
