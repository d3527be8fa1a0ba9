// SPDX-License-Identifier: Apache-2.0
// Announces a text to screen readers; of a quick succession (a moving data cursor) only the last.
let timer = 0;

/** @param {string} text */
export function announce(text) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const live = document.getElementById("live");
    if (live) live.textContent = text;
  }, 250);
}
