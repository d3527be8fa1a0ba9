// SPDX-License-Identifier: Apache-2.0
// Names from outside as text that hides nothing and does not reorder what is around it.

/** Nearly all texts are plain: one check is enough. */
const PLAIN = /^[\x20-\x7e\n]*$/;

// Control characters, direction marks, and zero-width characters: two names that differ only in
// those look the same. Joiners and variation selectors within an emoji, or in a word of a script
// that needs them, are exempt.
const HIDDEN = new RegExp([
  "[\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufff9-\\ufffb]",
  "|(?![\\u200c\\u200d\\u180b-\\u180d\\u180f\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}])",
  "\\p{Default_Ignorable_Code_Point}",
  "|(?<![\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f\\p{M}\\p{Script=Arabic}])",
  "[\\u200c\\u200d]",
  "|(?<![\\p{Extended_Pictographic}\\p{Script=Han}])[\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]",
  "(?!\\u20e3)|(?<!\\p{Script=Mongolian})[\\u180b-\\u180d\\u180f]",
].join(""), "gu");

const RIGHT_TO_LEFT = new RegExp("[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc" +
  "\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]", "u");

const code_of = (char) =>
  `[U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`;

/** The text with a code in place of each invisible character. @param {string} text */
export const visible = (text) => (PLAIN.test(text) ? text : text.replace(HIDDEN, code_of));

/** Whether the text would change the order of what is around it. @param {string} text */
export const reorders = (text) => !PLAIN.test(text) && RIGHT_TO_LEFT.test(text);
