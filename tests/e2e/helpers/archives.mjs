// SPDX-License-Identifier: Apache-2.0
// Archives written byte by byte, so that no program has to be installed and names can be hostile.

const BLOCK = 512;

/** @typedef {{name: string, data?: Buffer | string, type?: string}} Member */

/** @param {Member} member */
function tar_member({ name, data = "", type = "0" }) {
  const bytes = Buffer.from(data);
  const head = Buffer.alloc(BLOCK);
  head.write(name, 0, 100);
  head.write("0000644", 100);
  head.write(bytes.length.toString(8).padStart(11, "0"), 124);
  head.write("00000000000", 136);
  head.fill(" ", 148, 156);
  head.write(type, 156);
  if (type === "1" || type === "2") head.write("target", 157);
  head.write("ustar\u000000", 257);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, 148);
  return Buffer.concat([head, bytes, Buffer.alloc((BLOCK - bytes.length % BLOCK) % BLOCK)]);
}

/** @param {Member[]} members */
export const tar = (members) =>
  Buffer.concat([...members.map(tar_member), Buffer.alloc(2 * BLOCK)]);

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc >>> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** Numbers of 2 or 4 bytes. @param {[number, number][]} pairs */
function numbers(pairs) {
  return Buffer.concat(pairs.map(([value, size]) => {
    const bytes = Buffer.alloc(size);
    bytes.writeUIntLE(value, 0, size);
    return bytes;
  }));
}

/** A zip of stored members. @param {Member[]} members */
export function zip(members) {
  const files = [];
  const list = [];
  let at = 0;
  for (const { name, data = "" } of members) {
    const bytes = Buffer.from(data);
    const path = Buffer.from(name);
    /** @type {[number, number][]} */
    const common = [[20, 2], [0x800, 2], [0, 2], [0, 2], [0x21, 2], [crc32(bytes), 4],
      [bytes.length, 4], [bytes.length, 4], [path.length, 2], [0, 2]];
    const file = Buffer.concat([numbers([[0x04034b50, 4], ...common]), path, bytes]);
    files.push(file);
    list.push(numbers([[0x02014b50, 4], [20, 2], ...common, [0, 2], [0, 2], [0, 2], [0, 4],
      [at, 4]]), path);
    at += file.length;
  }
  const entries = Buffer.concat(list);
  const end = numbers([[0x06054b50, 4], [0, 2], [0, 2], [members.length, 2], [members.length, 2],
    [entries.length, 4], [at, 4], [0, 2]]);
  return Buffer.concat([...files, entries, end]);
}
