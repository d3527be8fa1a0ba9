// SPDX-License-Identifier: Apache-2.0
// Bookmarked views as a text in the address; pure.
import { parse_span } from "./timeline_view.mjs";

const MOST = 9; // as many as keys

/** "10-20,30-40" as spans; others are left out. @param {string} text */
export const marks_of = (text) => text.split(",").map(parse_span).filter(Boolean).slice(0, MOST);

/** The newest nine. @param {{from: number, to: number}[]} marks */
export const marks_text = (marks) => marks.slice(-MOST).map(({ from, to }) => `${from}-${to}`)
  .join(",");
