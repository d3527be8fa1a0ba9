// SPDX-License-Identifier: Apache-2.0
// Bookmarked views as a text in the address; pure.
import { parse_span, same_span } from "./timeline_view.mjs";

export const MOST_MARKS = 9; // as many as keys

/** "10-20,30-40" as spans, each once; others are left out. @param {string} text */
export const marks_of = (text) => text.split(",").map(parse_span)
  .filter((mark, i, all) => mark && all.findIndex((one) => one && same_span(one, mark)) === i)
  .slice(0, MOST_MARKS);

/** @param {{from: number, to: number}[]} marks */
export const marks_text = (marks) => marks.map(({ from, to }) => `${from}-${to}`).join(",");
