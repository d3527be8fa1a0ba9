// SPDX-License-Identifier: Apache-2.0
// Binds the markup templates to the renderer; the only module that knows the vendored names.
import { h, options } from "../vendor/preact.mjs";
import htm from "../vendor/htm.mjs";
import { unbroken } from "./format.mjs";
import { reorders, visible } from "./visible.mjs";

export const html = htm.bind(h);

/** Attributes that people read. */
const READ = ["title", "aria-label", "alt", "placeholder"];
/** Elements that contain only text, each a separate paragraph. */
const TEXT_ALONE = new Set(["bdi", "option", "title", "text", "tspan", "textarea", "style"]);

const turns = (child) =>
  (typeof child === "string" ? reorders(child) : Array.isArray(child) && child.some(turns));

const isolated = (child) => {
  if (!turns(child)) return child;
  return Array.isArray(child) ? child.map(isolated) : h("bdi", null, child);
};

// Everything shown passes through here, so that no page needs to think of names from outside.
options.vnode = (vnode) => {
  const { type, props } = vnode;
  if (type === null && typeof props === "string") vnode.props = unbroken(visible(props));
  if (typeof type !== "string") return;
  for (const name of READ) {
    if (typeof props[name] === "string") props[name] = visible(props[name]);
  }
  if (!TEXT_ALONE.has(type)) props.children = isolated(props.children);
};
export { Fragment, render } from "../vendor/preact.mjs";
export {
  useEffect,
  useErrorBoundary,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "../vendor/hooks.mjs";

/**
 * A value with listeners, for the few states that outlive a page.
 * @template T
 * @param {T} value
 */
export function create_store(value) {
  const listeners = new Set();
  return {
    get: () => value,
    /** @param {T} next */
    set(next) {
      value = next;
      for (const listener of [...listeners]) listener();
    },
    /** @param {() => void} listener */
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
