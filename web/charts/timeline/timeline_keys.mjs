// SPDX-License-Identifier: Apache-2.0
// The keys of a timeline: what each does, and the list shown in help.

/** @typedef {{kind: string, by?: number}} Action */

/** @type {Record<string, Action>} */
const ACTIONS = {
  w: { kind: "zoom", by: 0.7 }, s: { kind: "zoom", by: 1 / 0.7 },
  "+": { kind: "zoom", by: 0.5 }, "=": { kind: "zoom", by: 0.5 }, "-": { kind: "zoom", by: 2 },
  a: { kind: "pan", by: -0.15 }, d: { kind: "pan", by: 0.15 },
  PageUp: { kind: "pan", by: -0.8 }, PageDown: { kind: "pan", by: 0.8 },
  0: { kind: "all" }, Home: { kind: "begin" }, End: { kind: "end" },
  ArrowLeft: { kind: "slice", by: -1 }, ArrowRight: { kind: "slice", by: 1 },
  ArrowUp: { kind: "row", by: -1 }, ArrowDown: { kind: "row", by: 1 },
  Enter: { kind: "pin" }, " ": { kind: "pin" }, Escape: { kind: "clear" },
  f: { kind: "fit" }, m: { kind: "mark" },
  l: { kind: "link" }, v: { kind: "waited" }, b: { kind: "bookmark" },
  ...Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => [n, { kind: "visit", by: n }])),
  "[": { kind: "rank", by: -1 }, "]": { kind: "rank", by: 1 },
};

export const TIMELINE_KEYS = [
  ["w s, + −", "zoom in and out"],
  ["a d, Page", "move in time"],
  ["0", "show the whole trace"],
  ["← →", "previous or next slice"],
  ["↑ ↓", "row above or below"],
  ["Enter", "show details of the slice"],
  ["f", "zoom to the slice or selection"],
  ["m", "select the slice's time range"],
  ["l", "go to the launch, or to what was launched"],
  ["v", "go to what the slice waited for"],
  ["b, 1 to 9", "bookmark the view, go to a bookmark"],
  ["[ ]", "previous or next rank"],
  ["Esc", "close details, clear the selection"],
];

/** The action for a key press, null if it is not ours. @returns {Action|null} */
export function action_of({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  if (ctrlKey || metaKey || altKey) return null;
  if (shiftKey && key === "ArrowLeft") return { kind: "pan", by: -0.15 };
  if (shiftKey && key === "ArrowRight") return { kind: "pan", by: 0.15 };
  const name = key.length === 1 ? key.toLowerCase() : key;
  return Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : null;
}
