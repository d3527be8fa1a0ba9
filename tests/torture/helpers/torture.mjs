// SPDX-License-Identifier: Apache-2.0
// What every torture test needs: which form, which seed, its own programs, and a line for a figure.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { stepscope_bin } from "../../e2e/helpers/tools.mjs";

/** Whether the long form was asked for. */
export const is_long = process.env.STEPSCOPE_TORTURE === "long";

/** Where chance begins. */
export const seed = Number(process.env.STEPSCOPE_SEED ?? 1);

/** Options of services that start thousands of times: what costs most at the start is left out. */
export const lean = ["--connections", "32", "--ballast", "0", "--bin-days", "0"];

/** A file that the build of the tested binary made in this folder. @param {string} name */
function built(name) {
  const path = join(dirname(stepscope_bin()), "tests/torture", name);
  if (existsSync(path)) return path;
  throw new Error(`found no ${path}; build the target torture there`);
}

/** The program made of X.c. @param {string} name */
export const torture_program = (name) => built(name);

/** The library made of preload_X.c, for LD_PRELOAD. @param {string} name */
export const torture_preload = (name) => built(`preload_${name}.so`);

/** Says what was measured of a promise. @param {string} promise @param {string} text */
export function figure(promise, text) {
  console.log(`${promise} ${text}`);
}
