// SPDX-License-Identifier: Apache-2.0
// A text field with a list to choose from: arrows move, Enter accepts, Escape closes.
import { html, useEffect, useId, useRef, useState } from "../base/ui.mjs";

/** @typedef {{value: string, label: string, note?: string, group?: string}} Option */

/** What a key does in the list: the next position, or null if the key is not for it. */
export function next_place(key, at, count) {
  if (count === 0) return null;
  if (key === "ArrowDown") return (at + 1) % count;
  if (key === "ArrowUp") return at <= 0 ? count - 1 : at - 1;
  return null;
}

/** Options in their groups, each with its index in the whole list. @param {Option[]} options */
export function grouped(options) {
  const groups = [];
  options.forEach((option, at) => {
    const name = option.group ?? "";
    if (groups.at(-1)?.name !== name) groups.push({ name, items: [] });
    groups.at(-1).items.push({ option, at });
  });
  return groups;
}

function Options({ id, label, options, at, value, onpick }) {
  const item = ({ option, at: own }) => html`<li key=${option.value} id="${id}-${own}"
    role="option" aria-selected=${option.value === value} class=${own === at ? "active" : ""}
    onMouseDown=${(event) => event.preventDefault()} onClick=${() => onpick(option)}>
    <span>${option.label}</span><span class="faint">${option.note}</span></li>`;
  return html`<div class="combo-list" id="${id}-list" role="listbox" aria-label=${label}>
    ${grouped(options).map(({ name, items }) => html`<ul key=${name} role="group"
      aria-label=${name || undefined}>${name && html`<li class="combo-group"
        role="presentation">${name}</li>`}${items.map(item)}</ul>`)}</div>`;
}

/**
 * @param {{label: string, text: string, value: string, options: Option[]|null,
 *          placeholder?: string, onsearch: (text: string) => void,
 *          onpick: (value: string) => void}} props
 * `text` is what the field shows for `value` while nobody types; a text that is not an option can
 * be accepted with Enter as a key. Options that are not there yet are null.
 */
export function Combobox({ label, text, value, options: found, placeholder, onsearch, onpick }) {
  const options = found ?? [];
  const id = useId();
  const box = useRef(null);
  const [typed, set_typed] = useState(null);
  const [at, set_at] = useState(-1);
  const open = typed !== null;
  const close = () => {
    set_typed(null);
    set_at(-1);
    onsearch("");
  };
  const take = (picked) => {
    close();
    if (picked && picked !== value) onpick(picked);
  };
  const search = (next) => {
    set_typed(next);
    set_at(-1);
    onsearch(next.trim());
  };
  const on_key = (event) => {
    const next = open ? next_place(event.key, at, options.length) : null;
    if (next !== null) set_at(next);
    else if (event.key === "ArrowDown") search("");
    else if (event.key === "Escape" && open) close();
    else if (event.key === "Enter" && open) take(options[at]?.value ?? typed.trim());
    else return;
    event.preventDefault();
  };
  useEffect(() => {
    if (at >= 0) document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const start = () => open || search("");
  return html`<div class="combo" ref=${box}>
    <input type="text" role="combobox" aria-label=${label} aria-expanded=${open}
      aria-controls="${id}-list" aria-autocomplete="list" autocomplete="off" spellcheck=${false}
      aria-activedescendant=${at >= 0 ? `${id}-${at}` : undefined}
      value=${typed === null ? text : typed} placeholder=${open && text ? text : placeholder}
      onInput=${(event) => search(event.target.value)} onClick=${start} onKeyDown=${on_key}
      onBlur=${close} />
    ${open && options.length > 0 && html`<${Options} id=${id} label=${label} options=${options}
      at=${at} value=${value} onpick=${(option) => take(option.value)} />`}
    ${open && found?.length === 0 && html`<div class="combo-list" id="${id}-list" role="status">
      <p class="combo-none">No run of this name. Enter uses the text as typed.</p></div>`}
  </div>`;
}
