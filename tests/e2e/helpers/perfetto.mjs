// SPDX-License-Identifier: Apache-2.0
// Reads Perfetto's trace format as its published schema (protos/perfetto/trace) numbers the fields,
// as strictly as its own importer: unknown wire types, names that were not interned and ends
// without a begin fail.
import assert from "node:assert/strict";

/** The fields of a message: number to list of values; bytes stay buffers. */
export function proto_fields(bytes) {
  const fields = new Map();
  let at = 0;
  const varint = () => {
    let value = 0n, shift = 0n;
    for (;;) {
      assert.ok(at < bytes.length, "a number is cut");
      const byte = bytes[at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
      shift += 7n;
      assert.ok(shift < 70n, "a number is too long");
    }
  };
  const take = (len) => {
    assert.ok(at + len <= bytes.length, "a field is cut");
    at += len;
    return bytes.subarray(at - len, at);
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const wire = key & 7, number = key >>> 3;
    assert.ok([0, 1, 2].includes(wire), `wire type ${wire} of field ${number}`);
    const value = wire === 0 ? varint() : take(wire === 1 ? 8 : Number(varint()));
    if (!fields.has(number)) fields.set(number, []);
    fields.get(number).push(value);
  }
  return fields;
}

const PACKET = { interned: 12, timestamp: 8, sequence: 10, event: 11, flags: 13, track: 60 };
const TRACK = { uuid: 1, name: 2, process: 3, parent: 5, counter: 8 };
const EVENT = { category_iids: 3, debug_annotations: 4, type: 9, name_iid: 10, track_uuid: 11,
  name: 23, double_counter_value: 44, flow_ids: 47 };
const NOTE = { int_value: 4, string_value: 6, name: 10 };
const INTERNED = { iid: 1, name: 2 };

/** The fields read here by Perfetto's names, of the messages that slices are made of. */
export const SLICE_FIELDS = { TrackEvent: EVENT, DebugAnnotation: NOTE, EventName: INTERNED,
  EventCategory: INTERNED };

const one = (fields, number) => fields.get(number)?.[0];
const text = (bytes) => new TextDecoder("utf8", { fatal: true }).decode(bytes);
const text_of = (fields, number) => fields.has(number) ? text(one(fields, number)) : undefined;
const all = (fields, number) => fields.get(number) ?? [];

function read_track(bytes, tracks) {
  const track = proto_fields(bytes);
  const uuid = String(one(track, TRACK.uuid));
  assert.ok(!tracks.has(uuid), `track ${uuid} is described twice`);
  const process = one(track, TRACK.process) && proto_fields(one(track, TRACK.process));
  tracks.set(uuid, { name: text_of(track, TRACK.name), process: process && text_of(process, 6),
    parent: track.has(TRACK.parent) ? String(one(track, TRACK.parent)) : undefined,
    is_counter: track.has(TRACK.counter), slices: [], samples: [], events: [] });
}

function intern(bytes, state) {
  const interned = proto_fields(bytes);
  for (const [number, table] of [[1, state.categories], [2, state.names]]) {
    for (const entry of all(interned, number)) {
      const fields = proto_fields(entry);
      const iid = one(fields, INTERNED.iid);
      assert.ok(iid > 0n && !table.has(iid), "interned twice");
      table.set(iid, text_of(fields, INTERNED.name));
    }
  }
}

function expect_known(fields, known) {
  const numbers = Object.values(known);
  for (const number of fields.keys()) assert.ok(numbers.includes(number), `field ${number}`);
}

function notes_of(event) {
  return Object.fromEntries(all(event, EVENT.debug_annotations).map((bytes) => {
    const note = proto_fields(bytes);
    expect_known(note, NOTE);
    return [text_of(note, NOTE.name), note.has(NOTE.string_value)
      ? text_of(note, NOTE.string_value) : Number(one(note, NOTE.int_value))];
  }));
}

function looked_up(table, iid) {
  assert.ok(table.has(iid), `${iid} was not interned`);
  return table.get(iid);
}

function read_event(bytes, ts, state) {
  const event = proto_fields(bytes);
  expect_known(event, EVENT);
  const id = (value) => value.readBigUInt64LE();
  return {
    ts: Number(ts), type: Number(one(event, EVENT.type)),
    track: String(one(event, EVENT.track_uuid)),
    name: event.has(EVENT.name) ? text_of(event, EVENT.name)
      : event.has(EVENT.name_iid) ? looked_up(state.names, one(event, EVENT.name_iid)) : undefined,
    categories: all(event, EVENT.category_iids).map((iid) => looked_up(state.categories, iid)),
    value: event.has(EVENT.double_counter_value)
      ? one(event, EVENT.double_counter_value).readDoubleLE() : undefined,
    flows: all(event, EVENT.flow_ids).map(id),
    notes: notes_of(event),
  };
}

/** Pairs begins and ends of a track, in order of time, as the importer does. */
function pair(track) {
  const open = [];
  track.events.map((event, i) => ({ event, i }))
    .sort((a, b) => a.event.ts - b.event.ts || a.i - b.i).forEach(({ event }) => {
      if (event.type === 1) open.push(event);
      else if (event.type === 2) {
        assert.ok(open.length > 0, `an end without a begin on ${track.name}`);
        const begin = open.pop();
        track.slices.push({ ...begin, depth: open.length, dur: event.ts - begin.ts });
      } else if (event.type === 4) track.samples.push({ ts: event.ts, value: event.value });
    });
  assert.equal(open.length, 0, `${open.length} slices of ${track.name} do not end`);
}

/**
 * The tracks of a trace, each with its slices, samples and the rank that it belongs to.
 * @param {Buffer} bytes
 * @returns {{name: string, rank: string, is_counter: boolean, slices: any[], samples: any[]}[]}
 */
export function read_perfetto(bytes) {
  const tracks = new Map(), sequences = new Map();
  for (const raw of all(proto_fields(bytes), 1)) {
    const packet = proto_fields(raw);
    const sequence = one(packet, PACKET.sequence);
    if (Number(one(packet, PACKET.flags)) & 1)
      sequences.set(sequence, { names: new Map(), categories: new Map() });
    const state = sequences.get(sequence);
    assert.ok(state, "a sequence starts without clearing its state");
    if (packet.has(PACKET.interned)) intern(one(packet, PACKET.interned), state);
    if (packet.has(PACKET.track)) read_track(one(packet, PACKET.track), tracks);
    if (!packet.has(PACKET.event)) continue;
    const event = read_event(one(packet, PACKET.event), one(packet, PACKET.timestamp), state);
    assert.ok(tracks.has(event.track), "an event on a track that is not described");
    tracks.get(event.track).events.push(event);
  }
  for (const track of tracks.values()) pair(track);
  return [...tracks.values()].filter(({ parent }) => parent !== undefined)
    .map((track) => ({ ...track, rank: tracks.get(track.parent).process }));
}
