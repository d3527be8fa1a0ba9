// SPDX-License-Identifier: Apache-2.0
// How a module's time splits into forward, backward and recomputed work; pure.

const KINDS = [
  ["forward_ns", "Forward", "pass-forward"],
  ["backward_ns", "Backward", "pass-backward"],
  ["recompute_ns", "Recomputed", "pass-recompute"],
];

/** @typedef {{key: string, label: string, ns: number, share: number, className: string}} Pass */

/**
 * The passes of a module including those below it; the rest is "Other".
 * @param {Record<string, any>} node a row of the table modules @returns {Pass[]}
 */
export function passes_of(node) {
  const total = node.total_owned_ns ?? 0;
  const known = KINDS.map(([key, label, className]) =>
    ({ key, label, className, ns: node[key] ?? 0 }));
  const rest = total - known.reduce((sum, { ns }) => sum + ns, 0);
  const all = rest > 0
    ? [...known, { key: "other", label: "Other", className: "pass-other", ns: rest }] : known;
  const whole = Math.max(total, all.reduce((sum, { ns }) => sum + ns, 0), 1);
  return all.map((pass) => ({ ...pass, share: pass.ns / whole }));
}
