// SPDX-License-Identifier: Apache-2.0
// What every canvas needs: the page's colors as the theme resolves them, and sharp pixels.
import { useLayoutEffect, useState } from "../base/ui.mjs";

/**
 * Reads variables of the page as red, green and blue.
 * @param {HTMLElement} node inside the page, whose own color does not matter
 * @returns {(variable: string) => number[]}
 */
export function color_reader(node) {
  const pixel = document.createElement("canvas");
  pixel.width = pixel.height = 1;
  const pen = pixel.getContext("2d", { willReadFrequently: true });
  return (variable) => {
    node.style.color = `var(${variable})`;
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = getComputedStyle(node).color;
    pen.fillRect(0, 0, 1, 1);
    node.style.color = "";
    return [...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  };
}

/** Relative luminance as WCAG defines it. @param {number[]} rgb */
export function luminance(rgb) {
  const [r, g, b] = rgb.map((value) => {
    const v = value / 255;
    return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export const written = ([r, g, b]) => `rgb(${r} ${g} ${b})`;

export const mixed = (a, b, share) =>
  a.map((value, i) => Math.round(value * share + b[i] * (1 - share)));

export const ink_on = (rgb) => (luminance(rgb) > 0.2 ? "#0b0f14" : "#ffffff");

/**
 * The result of `read` for the canvas, refreshed when the theme changes; null before the first
 * layout.
 * @template T
 * @param {{current: HTMLCanvasElement|null}} canvas @param {(node: HTMLCanvasElement) => T} read
 * @returns {T | null}
 */
export function use_palette(canvas, read) {
  const [palette, set_palette] = useState(null);
  useLayoutEffect(() => {
    const stop = new AbortController();
    const again = () => set_palette(read(canvas.current));
    const observer = new MutationObserver(again);
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again,
      { signal: stop.signal });
    again();
    return () => {
      observer.disconnect();
      stop.abort();
    };
  }, []);
  return palette;
}

/** The drawing context of a canvas of that size in CSS pixels, sharp on any screen. */
export function sized_pen(node, width, height) {
  const ratio = globalThis.devicePixelRatio || 1;
  const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (node.width !== wide) node.width = wide;
  if (node.height !== tall) node.height = tall;
  const pen = node.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}
