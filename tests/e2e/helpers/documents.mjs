// SPDX-License-Identifier: Apache-2.0
// What the documents promise, so that tests run it as it stands.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./tools.mjs";

/** A document at the top, such as "GUIDE.md". @param {string} name */
export const read_document = (name) => readFileSync(join(root, name), "utf8");

/** The lines of the guide's first shell block with these words in it. @param {string} words */
export const guide_script = (words) => read_document("GUIDE.md").match(/```sh\n[^]*?```/g)
  .find((block) => block.includes(words)).replace(/^```.*$/gm, "").trim();
