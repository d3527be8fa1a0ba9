// SPDX-License-Identifier: Apache-2.0
// Perfetto's own schema as Chromium carries it: descriptors of its messages, serialized.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { proto_fields } from "./perfetto.mjs";

const FILE = { name: 1, message: 4 };
const MESSAGE = { name: 1, field: 2 };
const FIELD = { name: 1, number: 3 };
const LENGTH_BYTES = 2; // the descriptors are between 128 bytes and 16 kB long

const text = (fields, number) => fields.get(number)[0].toString("utf8");

/** A descriptor starts with its name, after its own length. */
function descriptor_at(program, at) {
  const [low, high] = program.subarray(at - 2 - LENGTH_BYTES, at - 2);
  const length = (low & 0x7f) + (high << 7);
  const starts = program[at - 2] === FILE.name << 3 | 2 && low >= 0x80 && high < 0x80;
  return starts ? program.subarray(at - 2, at - 2 + length) : null;
}

function find_descriptor(program, path) {
  for (let at = program.indexOf(path); at >= 0; at = program.indexOf(path, at + 1)) {
    const found = descriptor_at(program, at);
    if (found) return proto_fields(found);
  }
  return null;
}

const named = (list, read) => Object.fromEntries(list.map((bytes) => read(proto_fields(bytes))));

/** The program itself: Debian starts it by a script of its name. */
function bytes_of(program) {
  const bytes = readFileSync(program);
  return bytes.subarray(0, 2).toString("latin1") === "#!"
    ? readFileSync(join("/usr/lib/chromium", basename(program))) : bytes;
}

/**
 * The numbers of the fields of each message of a file of the schema; null if the program has none.
 * @param {string} program a Chromium @param {string} path such as
 * "protos/perfetto/trace/track_event/track_event.proto"
 * @returns {Record<string, Record<string, number>>|null}
 */
export function perfetto_schema(program, path) {
  const file = find_descriptor(bytes_of(program), path);
  return file && named(file.get(FILE.message), (message) => [text(message, MESSAGE.name),
    named(message.get(MESSAGE.field) ?? [], (field) => [text(field, FIELD.name),
      Number(field.get(FIELD.number)[0])])]);
}
