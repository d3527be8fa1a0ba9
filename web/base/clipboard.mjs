// SPDX-License-Identifier: Apache-2.0
// Copying: the clipboard API exists only on secure origins; elsewhere falls back to a selection.

/** @param {string} text @returns {Promise<boolean>} whether it was copied */
export async function copy_text(text) {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}
