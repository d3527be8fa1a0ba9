// SPDX-License-Identifier: Apache-2.0
// The glossary as terms and their meanings, and looking one up; pure.

/**
 * The rows of the table in GLOSSARY.md.
 * @param {string} text @returns {{term: string, meaning: string}[]}
 */
export function terms_of(text) {
  return text.split("\n").map((line) => /^\| (.+?) \| (.+) \|$/.exec(line)).filter(Boolean)
    .map(([, term, meaning]) => ({ term, meaning }))
    .filter(({ term }) => term !== "term" && !term.startsWith("--"));
}

/** The parts of a meaning: plain text and, at odd places, names of the API. */
export const meaning_parts = (meaning) =>
  meaning.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").split("`");

/**
 * Terms that contain the words, those that begin with them first, then those whose meaning does.
 * @param {{term: string, meaning: string}[]} terms @param {string} asked
 */
export function found_terms(terms, asked) {
  const words = asked.trim().toLowerCase().replace(/s$/, "");
  if (!words) return terms;
  const rank = ({ term, meaning }) => {
    const name = term.toLowerCase();
    if (name.startsWith(words)) return 0;
    if (name.includes(words)) return 1;
    return meaning.toLowerCase().includes(words) ? 2 : 3;
  };
  return terms.map((one) => [rank(one), one]).filter(([at]) => at < 3)
    .sort(([a], [b]) => a - b).map(([, one]) => one);
}
