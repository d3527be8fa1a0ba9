// SPDX-License-Identifier: Apache-2.0
// Binds the markup templates to the renderer; the only module that knows the vendored names.
import { h } from "./vendor/preact.mjs";
import htm from "./vendor/htm.mjs";

export const html = htm.bind(h);
export { Fragment, render } from "./vendor/preact.mjs";
export {
  useEffect,
  useErrorBoundary,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "./vendor/hooks.mjs";

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
