// SPDX-License-Identifier: Apache-2.0
// The chosen theme; theme.js applies it before the first paint of the next visit.

/** @returns {"auto"|"light"|"dark"} */
export function chosen_theme() {
  const theme = document.documentElement.dataset.theme;
  return theme === "light" || theme === "dark" ? theme : "auto";
}

/** @param {string} theme */
export function apply_theme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
