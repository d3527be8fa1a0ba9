// SPDX-License-Identifier: Apache-2.0
// One tag as people type it; pure.

/**
 * The change that "key=value" makes; "key=" removes the tag.
 * @param {string} text @returns {Record<string, string|null>}
 */
export function tag_patch(text) {
  const at = text.indexOf("=");
  const key = text.slice(0, at).trim();
  const value = text.slice(at + 1).trim();
  return { [key]: value === "" ? null : value };
}
