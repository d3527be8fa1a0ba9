// SPDX-License-Identifier: Apache-2.0
// multipart/form-data written by hand, so that tests control order, names and every byte.

const BOUNDARY = "----stepscope-e2e-7MA4YWxkTrZu0gW";

/**
 * @typedef {{name: string, value?: string | Buffer, filename?: string | Buffer,
 *            data?: Buffer | string}} Part
 */

/** @param {Part} part */
function part_bytes({ name, value, filename, data }) {
  const head = [Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"`)];
  if (filename !== undefined) {
    head.push(Buffer.from('; filename="'), Buffer.from(filename), Buffer.from('"'));
    head.push(Buffer.from("\r\nContent-Type: application/octet-stream"));
  }
  return [...head, Buffer.from("\r\n\r\n"), Buffer.from(value ?? data ?? ""), Buffer.from("\r\n")];
}

/** @param {Part[]} parts @returns {{body: Buffer, headers: Record<string, string>}} */
export function multipart(parts) {
  return {
    body: Buffer.concat([...parts.flatMap(part_bytes), Buffer.from(`--${BOUNDARY}--\r\n`)]),
    headers: { "Content-Type": `multipart/form-data; boundary=${BOUNDARY}` },
  };
}

/** Fields as parts; an array gives one part per value. @param {Record<string, any>} fields */
export function fields(values) {
  return Object.entries(values).flatMap(([name, value]) =>
    [value].flat().map((one) => ({ name, value: String(one) })));
}

/** A file part. @param {Buffer | string} data @param {string | Buffer} filename */
export const file_part = (data, filename = "trace.json") => ({ name: "trace", filename, data });
