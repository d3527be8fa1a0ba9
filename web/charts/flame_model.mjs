// SPDX-License-Identifier: Apache-2.0
// Trees of time as flame graphs: built from rows, two merged into one, laid out, searched; pure.

/**
 * @typedef {{name: string, kind: string, ns: number, calls: number, base_ns?: number,
 *            cand_ns?: number, children: FlameNode[]}} FlameNode
 * `ns` is the width. For two merged trees it is the mean of both, so that widths below a node still
 * sum to no more than its own; then `base_ns` and `cand_ns` are the two sides.
 */

const new_node = (name, kind) => ({ name, kind, ns: 0, calls: 0, children: [] });

const by_time = (a, b) => b.ns - a.ns || (a.name < b.name ? -1 : 1);

function sorted(node) {
  node.children.sort(by_time);
  for (const child of node.children) sorted(child);
  return node;
}

/**
 * A tree of a table with id and parent. Rows whose parent is not among them are left out.
 * @param {any[]} rows @param {(row: any) => boolean} [keep] false: it and all below it is left out
 * @returns {FlameNode|null}
 */
export function tree_of_rows(rows, keep = () => true) {
  const nodes = new Map();
  for (const row of rows) {
    nodes.set(row.id, { ...new_node(row.name ?? "", row.kind ?? "node"), ns: row.total_owned_ns,
      calls: row.calls ?? 0 });
  }
  let root = null;
  for (const row of rows) {
    const node = nodes.get(row.id);
    if (row.parent === null) root = node;
    else if (keep(row)) nodes.get(row.parent)?.children.push(node);
  }
  return root && sorted(root);
}

/**
 * A tree of paths, each with a time: nodes with the same path are one.
 * @param {string} name of the root
 * @param {{path: [string, string][], ns: number}[]} items names and kinds from the root down
 */
export function tree_of_paths(name, items) {
  const root = new_node(name, "root");
  for (const { path, ns } of items) {
    let node = root;
    root.ns += ns;
    root.calls++;
    for (const [text, kind] of path) {
      let next = node.children.find((child) => child.name === text && child.kind === kind);
      if (!next) node.children.push(next = new_node(text, kind));
      next.ns += ns;
      next.calls++;
      node = next;
    }
  }
  return sorted(root);
}

function merged(base, cand, scale) {
  const one = base ?? cand;
  const [base_ns, cand_ns] = [(base?.ns ?? 0) * scale[0], (cand?.ns ?? 0) * scale[1]];
  const pairs = new Map();
  const add = (side, children) => {
    for (const child of children ?? []) {
      const key = `${child.kind} ${child.name}`;
      if (!pairs.has(key)) pairs.set(key, [null, null]);
      const pair = pairs.get(key);
      // Among several with one name the first are paired; the rest stay alone.
      if (pair[side]) pairs.set(`${key} ${pairs.size}`, side ? [null, child] : [child, null]);
      else pair[side] = child;
    }
  };
  add(0, base?.children);
  add(1, cand?.children);
  return { name: one.name, kind: one.kind, calls: one.calls, ns: (base_ns + cand_ns) / 2, base_ns,
    cand_ns, children: [...pairs.values()].map(([a, b]) => merged(a, b, scale)) };
}

/**
 * Two trees as one, matched by the names on the way from the root.
 * @param {FlameNode} base @param {FlameNode} cand @param {[number, number]} scale of each side's
 * times, such as 1 / its steps
 */
export const merge_trees = (base, cand, scale) => sorted(merged(base, cand, scale));

/**
 * The difference of two recordings per step; null without a tree or a step on either side.
 * @param {FlameNode|null} base @param {FlameNode|null} cand
 * @param {(number|null)[]} steps of both, null if not known
 */
export const per_step_difference = (base, cand, steps) => (!base || !cand || !steps.every(Boolean)
  ? null : merge_trees(base, cand, [1 / steps[0], 1 / steps[1]]));

/** The node at a path of positions, "0.2.1", and those above it from the root. */
export function nodes_at(root, path) {
  const nodes = [root];
  for (const text of path === "" ? [] : path.split(".")) {
    const next = nodes.at(-1).children[Number(text)];
    if (!next) break;
    nodes.push(next);
  }
  return nodes;
}

/** The path of the node above; "" is the root. */
export const path_above = (path) => path.slice(0, Math.max(0, path.lastIndexOf(".")));

const MOST_BOXES = 2000; // that a page draws without delay

/**
 * Boxes to draw, the zoomed node across the whole width and those above it as well.
 * @param {FlameNode} root @param {string} zoom path @param {number} least share of the width below
 * which nothing is drawn
 * @returns {{path: string, node: FlameNode, depth: number, from: number, share: number,
 *            above: boolean}[]} by depth, then from left to right; `from` and `share` are of the
 * width
 */
export function boxes_of(root, zoom, least) {
  const chain = nodes_at(root, zoom);
  const steps = zoom === "" ? [] : zoom.split(".").slice(0, chain.length - 1);
  const boxes = chain.slice(0, -1).map((node, depth) => ({ path: steps.slice(0, depth).join("."),
    node, depth, from: 0, share: 1, above: true }));
  const whole = chain.at(-1).ns || 1;
  let row = [{ path: steps.join("."), node: chain.at(-1), depth: chain.length - 1, from: 0,
    share: 1, above: false }];
  while (row.length > 0 && boxes.length < MOST_BOXES) {
    boxes.push(...row);
    row = row.flatMap(({ path, node, depth, from }) => {
      let at = from;
      return node.children.map((child, i) => {
        const box = { path: path === "" ? String(i) : `${path}.${i}`, node: child,
          depth: depth + 1, from: at, share: child.ns / whole, above: false };
        at += box.share;
        return box;
      }).filter(({ share }) => share >= least);
    });
  }
  return boxes.slice(0, MOST_BOXES);
}

/** Whether a node's name has a text, or what is written for it. */
export const has_text = (node, q, write) => [node.name, write(node)]
  .some((text) => text.toLowerCase().includes(q.toLowerCase()));

/** The time of all nodes below one that have the text, none of them twice. */
export function found_ns(node, q, write) {
  if (q === "") return 0;
  return node.children.reduce((sum, child) =>
    sum + (has_text(child, q, write) ? child.ns : found_ns(child, q, write)), 0);
}

/** How many shades nodes of one kind have, by their names, so that neighbors differ. */
export const SHADES = 5;

// Kinds with a color, in the order of the legend; all others but the root have shades. What is left
// of the gaps has that of kernels.
const COLORED = [["cause", "Causes"], ["kernel", "Kernels"]];
const is_colored = (kind) => kind === "rest" || COLORED.some(([one]) => one === kind);

/**
 * What the colors of the boxes that are drawn mean; none for the difference of two trees.
 * @param {{node: FlameNode}[]} boxes @param {string} shaded what the nodes with shades are
 * @returns {{kind: string, label: string, shades: number}[]}
 */
export function colors_of(boxes, shaded) {
  const kinds = new Set(boxes.map(({ node }) => node.kind).filter((kind) => kind !== "root"));
  const other = [...kinds].find((kind) => !is_colored(kind));
  const own = COLORED.filter(([kind]) => kinds.has(kind))
    .map(([kind, label]) => ({ kind, label, shades: 1 }));
  return other === undefined ? own : [{ kind: other, label: shaded, shades: SHADES }, ...own];
}

const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/**
 * The box that a key leads to from one, null if the key is none of these. `down` is the key toward
 * children: "ArrowDown" or, with the root at the bottom, "ArrowUp".
 */
export function box_by_key(boxes, at, key, down) {
  const box = boxes[at] ?? boxes[0];
  const row = boxes.map((one, i) => ({ ...one, i })).filter(({ depth }) => depth === box.depth);
  const place = row.findIndex(({ i }) => boxes[i] === box);
  if (key in MOVES) return row[Math.min(row.length - 1, Math.max(0, place + MOVES[key][0]))].i;
  if (key === "Home") return row[0].i;
  if (key === "End") return row.at(-1).i;
  if (key !== "ArrowDown" && key !== "ArrowUp") return null;
  const depth = box.depth + (key === down ? 1 : -1);
  const middle = box.from + box.share / 2;
  const next = boxes.map((one, i) => ({ ...one, i })).filter((one) => one.depth === depth);
  if (next.length === 0) return boxes.indexOf(box);
  const over = next.find(({ from, share }) => from <= middle && middle < from + share)
    ?? next.find(({ from }) => from >= box.from && from < box.from + box.share);
  return over ? over.i : key === down ? boxes.indexOf(box) : next[0].i;
}

/** The nodes with most time, or the largest differences, as rows of a table with their path. */
export function largest_nodes(root, most, is_diff) {
  const all = [];
  const visit = (node, above) => {
    all.push({ node, above });
    for (const child of node.children) visit(child, [...above, node.name]);
  };
  visit(root, []);
  const size = ({ node }) => (is_diff ? Math.abs(node.cand_ns - node.base_ns) : node.ns);
  return all.sort((a, b) => size(b) - size(a)).slice(0, most);
}
