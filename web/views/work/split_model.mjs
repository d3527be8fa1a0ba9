// SPDX-License-Identifier: Apache-2.0
// How the time of a node of a tree splits into kinds; pure.

const PASSES = [
  ["forward_ns", "Forward", "pass-forward"],
  ["backward_ns", "Backward", "pass-backward"],
  ["recompute_ns", "Recomputed", "pass-recompute"],
];
const CLASSES = [
  ["compute_ns", "Compute", "split-compute"],
  ["communication_ns", "Communication", "split-communication"],
  ["copy_ns", "Copies", "split-copy"],
];

/** @typedef {{key: string, label: string, ns: number, share: number, className: string}} Part */

/**
 * The kinds of a node, including what is below it; the rest is "Other".
 * @param {Record<string, any>} node @param {string[][]} kinds @returns {Part[]}
 */
function split_of(node, kinds) {
  const total = node.total_owned_ns ?? 0;
  const known = kinds.map(([key, label, className]) =>
    ({ key, label, className, ns: node[key] ?? 0 }));
  const rest = total - known.reduce((sum, { ns }) => sum + ns, 0);
  const all = rest > 0
    ? [...known, { key: "other", label: "Other", className: "pass-other", ns: rest }] : known;
  const whole = Math.max(total, all.reduce((sum, { ns }) => sum + ns, 0), 1);
  return all.map((part) => ({ ...part, share: part.ns / whole }));
}

/** Forward, backward and recomputed time. @param {Record<string, any>} module */
export const passes_of = (module) => split_of(module, PASSES);

/** Compute, communication and copies. @param {Record<string, any>} range */
export const classes_of = (range) => split_of(range, CLASSES);
