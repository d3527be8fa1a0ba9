// SPDX-License-Identifier: Apache-2.0
// Says something to screen readers; quick successions (a moving data cursor) are said once.
let timer = 0;

/** @param {string} text */
export function announce(text) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const live = document.getElementById("live");
    if (live) live.textContent = text;
  }, 250);
}
