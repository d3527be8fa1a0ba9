// SPDX-License-Identifier: Apache-2.0
// Input shapes and types as people write them; unreadable ones stay as they are.

const MOST_CHARACTERS = 4000; // longer texts are not parsed as JSON

/** @returns {any[]|null} null if the text is not a list */
function list_of(text) {
  if (typeof text !== "string" || text.length > MOST_CHARACTERS) return null;
  try {
    const value = JSON.parse(text);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

const is_number = (value) => typeof value === "number";

/** One argument: 16×64, a list of tensors in parentheses, "–" if it has no shape. */
function shape(argument) {
  if (!Array.isArray(argument) || argument.length === 0) return "–";
  if (argument.every(is_number)) return argument.join("×");
  const inner = argument.map((one) =>
    (Array.isArray(one) && one.length > 0 && one.every(is_number) ? one.join("×") : "–"));
  return `(${inner.join(", ")})`;
}

function without_tail(words, nothing) {
  let end = words.length;
  while (end > 1 && nothing(words[end - 1])) end--;
  return words.slice(0, end).join(", ");
}

/** "[[8944,1024],[1024,2816],[]]" as "8944×1024, 1024×2816". @param {unknown} text */
export function shapes_text(text) {
  const list = list_of(text);
  if (!list) return String(text ?? "").replace(/\s+/g, " ");
  return without_tail(list.map(shape), (word) => word === "–");
}

/** '["c10::BFloat16","Scalar"]' as "BFloat16". @param {unknown} text */
export function types_text(text) {
  const list = list_of(text);
  if (!list) return String(text ?? "").replace(/\s+/g, " ");
  const words = list.map((type) => String(type).replace(/^c10::/, "") || "–");
  return without_tail(words, (word) => word === "Scalar" || word === "–");
}
