// SPDX-License-Identifier: Apache-2.0
// What distinguishes kernels with the same label: the part of the full name that differs. Pure.

const MOST = 30; // characters of that part
const MOST_WORDS = 4;
const MOST_GROUP = 200; // names beyond that are numbered

const tokens_of = (name) => name.split(/[^A-Za-z0-9]+/).filter(Boolean);

/** How often each token occurs, as "token" or "token 2" for its second time. */
function counted(tokens) {
  const seen = new Map();
  return tokens.map((token) => {
    const n = (seen.get(token) ?? 0) + 1;
    seen.set(token, n);
    return n > 1 ? `${token} ${n}` : token;
  });
}

// Words that many names have and that say little.
const DULL = new Set(["at", "std", "cub", "c10", "native", "cuda", "detail", "void", "const", "int",
  "long", "unsigned", "char", "bool", "type", "enable", "if", "kernel", "false", "true"]);

/** Tokens with a word before a bare number, which says nothing alone; 32x4 are depth and stages. */
function readable(tokens, i) {
  const token = tokens[i];
  return /^\d+$/.test(token) && i > 0 && tokens[i - 1].length + token.length < MOST
    ? `${tokens[i - 1]} ${token}` : token;
}

/** Some words in the room there is, each with its share of it. */
function joined(parts) {
  const room = Math.floor((MOST - parts.length + 1) / parts.length);
  const fits = parts.join(" ").length <= MOST;
  return parts.map((part) =>
    (fits || part.length <= room ? part : `${part.slice(0, room - 1)}…`)).join(" ");
}

/** For each name what it has that not all have; rarest first. */
function differences(names) {
  const lists = names.map(tokens_of);
  const keys = lists.map(counted);
  const uses = new Map();
  for (const list of keys) for (const key of list) uses.set(key, (uses.get(key) ?? 0) + 1);
  return keys.map((list, at) => {
    const found = list.map((key, i) => ({ i, uses: uses.get(key) }))
      .filter((one) => one.uses < names.length)
      .sort((a, b) => DULL.has(lists[at][a.i]) - DULL.has(lists[at][b.i])
        || a.uses - b.uses || a.i - b.i);
    const words = found.map(({ i }) => readable(lists[at], i));
    return [...new Set(words)];
  });
}

/**
 * A short text for each of some different names, all different: "" where none is needed.
 * @param {string[]} names with the same label @returns {string[]}
 */
export function distinctions(names) {
  if (names.length < 2) return names.map(() => "");
  const found = names.length > MOST_GROUP ? names.map(() => []) : differences(names);
  const taken = new Set();
  return found.map((words, i) => {
    for (let n = 1; n <= Math.min(MOST_WORDS, words.length); n++) {
      const text = joined(words.slice(0, n));
      if (!taken.has(text) && text) {
        taken.add(text);
        return text;
      }
    }
    const bare = !taken.has("") && words.length === 0 ? "" : `#${i + 1}`;
    taken.add(bare);
    return bare;
  });
}

/**
 * Labels by name in which no two are alike. @param {[string, string][]} pairs name, label
 * @returns {Map<string, string>}
 */
export function distinct_labels(pairs) {
  const groups = new Map();
  for (const [name, label] of new Map(pairs)) {
    if (!groups.has(label)) groups.set(label, []);
    groups.get(label).push(name);
  }
  const labels = new Map();
  for (const [label, names] of groups) {
    distinctions(names).forEach((part, i) =>
      labels.set(names[i], part ? `${label} · ${part}` : label));
  }
  return labels;
}
