// SPDX-License-Identifier: Apache-2.0
// Names that strangers gave, as text that hides nothing and leaves what stands beside it in order.

/** Nearly all texts are plain: one look tells. */
const PLAIN = /^[\x20-\x7e\n]*$/;

// Controls, marks of direction, and what takes no room: two names that differ by them alone look
// the same. A joiner or a selector of variants within an emoji, or in a word of a script that needs
// it, is none of these.
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

/** The text with a code in place of each character that cannot be seen. @param {string} text */
export const visible = (text) => (PLAIN.test(text) ? text : text.replace(HIDDEN, code_of));

/** Whether the text would change the order of what stands around it. @param {string} text */
export const reorders = (text) => !PLAIN.test(text) && RIGHT_TO_LEFT.test(text);
