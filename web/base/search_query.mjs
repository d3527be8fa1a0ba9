// SPDX-License-Identifier: Apache-2.0
// The search box's grammar: `gpu:MI300X tag:branch=main since:14d llama` as API parameters.

const KEYS = ["tag", "gpu", "project", "status", "since"];

/**
 * Words with a known key become filters (repeated keys are alternatives), the rest is text.
 * A quoted value may contain spaces: gpu:"NVIDIA H100".
 * @param {string} text @param {string[]} [keys] those that the table can be filtered by
 * @returns {Record<string, string|string[]>}
 */
export function parse_search(text, keys = KEYS) {
  /** @type {Record<string, string[]>} */
  const filters = {};
  const words = [];
  for (const [, key, quoted, plain, word] of text.matchAll(
    /(\w+):(?:"([^"]*)"?|(\S+))|(\S+)/g,
  )) {
    const value = quoted ?? plain;
    if (key && keys.includes(key) && value) (filters[key] ??= []).push(value);
    else words.push(word ?? `${key}:${value}`);
  }
  return words.length ? { ...filters, q: words.join(" ") } : filters;
}
