// SPDX-License-Identifier: Apache-2.0
// Sets the chosen theme before the first paint, and hides the bar's links from those who have yet
// to sign in; a classic script, because modules run too late.
(() => {
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage may be forbidden; then the system's theme applies.
  }
  if (location.pathname === "/login") document.documentElement.dataset.signing = "in";
})();
