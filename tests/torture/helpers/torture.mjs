// SPDX-License-Identifier: Apache-2.0
// What every torture test needs: short or long form, seed, its own programs, and reporting of
// figures.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { stepscope_bin } from "../../e2e/helpers/tools.mjs";

/** Whether the long form was asked for. */
export const is_long = process.env.STEPSCOPE_TORTURE === "long";

/** The random seed. */
export const seed = Number(process.env.STEPSCOPE_SEED ?? 1);

/** Options for services that start thousands of times: skips the costliest parts of the start. */
export const lean = ["--connections", "32", "--ballast", "0", "--bin-days", "0"];

/** A file that the build of the tested binary put into this folder. @param {string} name */
function built(name) {
  const path = join(dirname(stepscope_bin()), "tests/torture", name);
  if (existsSync(path)) return path;
  throw new Error(`found no ${path}; build the target torture there`);
}

/** The program built from X.c. @param {string} name */
export const torture_program = (name) => built(name);

/** The library built from preload_X.c, for LD_PRELOAD. @param {string} name */
export const torture_preload = (name) => built(`preload_${name}.so`);

/** Reports what was measured for a promise. @param {string} promise @param {string} text */
export function figure(promise, text) {
  console.log(`${promise} ${text}`);
}
