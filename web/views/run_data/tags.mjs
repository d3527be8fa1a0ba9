// SPDX-License-Identifier: Apache-2.0
// Tags as people type them: key=value words; pure.

/** @param {Record<string, string>} tags */
export function tags_text(tags) {
  return Object.entries(tags ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(" ");
}

/**
 * The merge patch (RFC 7396) from some tags to what was typed: removed ones become null.
 * @param {Record<string, string>} before @param {string} text "a=b c=d"
 */
export function tags_patch(before, text) {
  const pairs = text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((word) => {
      const at = word.indexOf("=");
      return at < 0 ? [word, ""] : [word.slice(0, at), word.slice(at + 1)];
    });
  const patch = Object.fromEntries(Object.keys(before ?? {}).map((key) => [key, null]));
  return { ...patch, ...Object.fromEntries(pairs) };
}
