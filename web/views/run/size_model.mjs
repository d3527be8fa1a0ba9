// SPDX-License-Identifier: Apache-2.0
// Sizes beside links to exports, in words.
import { bytes, bytes_round } from "../../base/format.mjs";

/** "1.24 MB", or "about 1.2 MB" if it was taken from a part. @param {any} size */
export const size_text = (size) => !size ? ""
  : size.exact ? bytes(size.bytes) : `about ${bytes_round(Number(size.bytes.toPrecision(2)))}`;
