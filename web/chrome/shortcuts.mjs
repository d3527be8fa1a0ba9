// SPDX-License-Identifier: Apache-2.0
// Single-key shortcuts; they can be switched off, because speech input types stray letters.

const KEY = "shortcuts";

export function shortcuts_on() {
  try {
    return localStorage.getItem(KEY) !== "off";
  } catch {
    return true;
  }
}

/** @param {boolean} on */
export function set_shortcuts(on) {
  try {
    localStorage.setItem(KEY, on ? "on" : "off");
  } catch {
    // Without storage they stay on.
  }
}

const is_typing = (node) => node.closest?.("input, textarea, select, [contenteditable]");

/** @param {{help: () => void}} actions @returns {() => void} stops them */
export function start_shortcuts({ help }) {
  const on_key = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (is_typing(event.target) || document.querySelector("dialog[open]")) return;
    if ((event.key !== "?" && event.key !== "/") || !shortcuts_on()) return;
    event.preventDefault();
    if (event.key === "?") help();
    else document.querySelector("[data-search]")?.focus();
  };
  addEventListener("keydown", on_key);
  return () => removeEventListener("keydown", on_key);
}
