// SPDX-License-Identifier: Apache-2.0
// The trust report with one row per finding, however many ranks have it; pure.

const CUT = new Set(["truncated", "compression"]);

/** Whether the trace of a rank lacks its end. @param {any[]} trust rows of the trust table */
export function ends_early(trust, rank = null) {
  return (trust ?? []).some((row) => CUT.has(row.item) && (row.rank ?? null) === (rank ?? null));
}

/**
 * The group to show where there is room for one: the worst, but a truncated file rather than what
 * is missing because of it.
 * @param {ReturnType<typeof trust_groups>} groups
 */
export function first_group(groups) {
  const [worst] = groups;
  const cause = groups.find(({ item, ranks }) => CUT.has(item) && ranks === worst.ranks);
  return worst?.item === "no_device_events" && cause ? cause : worst;
}

const SEVERITY_ORDER = { error: 0, warning: 1, info: 2 };

/** "0–3, 5": ascending ranks, with consecutive ones joined. @param {number[]} ranks */
export function rank_ranges(ranks) {
  const spans = [];
  for (const rank of [...ranks].sort((a, b) => a - b)) {
    const last = spans.at(-1);
    if (last && rank <= last[1] + 1) last[1] = rank;
    else spans.push([rank, rank]);
  }
  return spans.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}

const plus = (a, b) => (a === null && b === null ? null : (a ?? 0) + (b ?? 0));

/**
 * Merges rows that say the same about different ranks, adding counts and times; worst first.
 * The byte position is kept only for a single rank.
 * @param {any[]} rows of the trust table
 */
export function trust_groups(rows) {
  const groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.item, row.severity, row.detail, row.effect]);
    const group = groups.get(key);
    if (!group) groups.set(key, { ...row, members: [row.rank] });
    else {
      group.members.push(row.rank);
      group.count = plus(group.count, row.count);
      group.time_ns = plus(group.time_ns, row.time_ns);
      group.position = null;
    }
  }
  const order = ({ severity }) => SEVERITY_ORDER[severity] ?? 3;
  return [...groups.values()]
    .map(({ members, ...row }) => ({ ...row, ranks: ranks_text(members) }))
    .sort((a, b) => order(a) - order(b));
}

function ranks_text(members) {
  const known = members.filter((rank) => rank !== null && rank !== undefined);
  return known.length === 0 ? "run" : rank_ranges(known);
}
