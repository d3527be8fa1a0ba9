// SPDX-License-Identifier: Apache-2.0
// A disk that forgets: what was synced stays, anything else may be there or not, in pages of 4 KiB
// and in names; folders keep their changes in order. Syncing a file does not make its name durable.
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const PAGE = 4096;

/** A growing array of bytes. */
class Bytes {
  constructor(bytes = Buffer.alloc(0)) {
    this.room = bytes;
    this.size = bytes.length;
  }

  view() {
    return this.room.subarray(0, this.size);
  }

  copy() {
    return new Bytes(Buffer.from(this.view()));
  }

  resize(size) {
    if (size > this.room.length) {
      const room = Buffer.alloc(Math.max(size, 2 * this.room.length));
      this.view().copy(room);
      this.room = room;
    }
    if (size > this.size) this.room.fill(0, this.size, size);
    this.size = size;
  }

  write(data, at) {
    this.resize(Math.max(this.size, at + data.length));
    data.copy(this.room, at);
  }

  /** @param {{data?: Buffer, at?: number, size?: number}} change */
  apply({ data, at, size }) {
    if (data) this.write(data, at);
    else this.resize(size);
  }
}

/** A file: its current state, its durable state, and the changes in between. */
class File {
  constructor() {
    this.live = new Bytes();
    this.durable = new Bytes();
    this.pending = [];
  }

  change(seq, change) {
    this.live.apply(change);
    this.pending.push({ seq, ...change });
  }

  sync(mark) {
    while (this.pending.length > 0 && this.pending[0].seq <= mark)
      this.durable.apply(this.pending.shift());
  }

  /** @param {Variant} variant @param {() => number} random @returns {Buffer} */
  after_cut(variant, random) {
    if (variant.data === "lost" || this.pending.length === 0) return this.durable.view();
    if (variant.data === "kept") return this.live.view();
    const found = this.durable.copy();
    const until = variant.data === "sizes" ? this.live
      : this.until(Math.floor(random() * (this.pending.length + 1)));
    const size = random() < 0.5 || variant.data === "sizes" ? until.size : this.durable.size;
    found.resize(size);
    const both = Math.min(size, until.size);
    for (let at = 0; variant.data === "torn" && at < both; at += PAGE)
      if (random() < 0.5) until.view().copy(found.room, at, at, Math.min(at + PAGE, both));
    return found.view();
  }

  /** The first `count` pending changes. */
  until(count) {
    const found = this.durable.copy();
    for (const change of this.pending.slice(0, count)) found.apply(change);
    return found;
  }
}

/** A folder: its current names, its durable names, and the changes in between. */
class Folder {
  constructor() {
    this.live = new Map();
    this.durable = new Map();
    this.pending = [];
  }

  /** @param {File | Folder | null} node null removes the name */
  change(seq, name, node) {
    const change = { seq, name, node };
    Folder.apply(this.live, change);
    this.pending.push(change);
  }

  static apply(names, { name, node }) {
    if (node) names.set(name, node);
    else names.delete(name);
  }

  sync(mark) {
    while (this.pending.length > 0 && this.pending[0].seq <= mark)
      Folder.apply(this.durable, this.pending.shift());
  }

  /** @param {Variant} variant @param {() => number} random @returns {Map<string, any>} */
  after_cut(variant, random) {
    const names = new Map(this.durable);
    const count = { lost: 0, kept: this.pending.length,
      torn: Math.floor(random() * (this.pending.length + 1)) }[variant.names];
    const last = this.pending[count - 1]?.seq ?? -1; // changes of one call stay together
    for (const change of this.pending) if (change.seq <= last) Folder.apply(names, change);
    return names;
  }
}

/**
 * @typedef {{names: "lost" | "kept" | "torn", data: "lost" | "kept" | "torn" | "sizes"}} Variant
 * What happens to unsynced names and to unsynced bytes; "sizes": the bytes are zeros.
 */

export const VARIANTS = /** @type {Record<string, Variant>} */ ({
  lost: { names: "lost", data: "lost" },
  torn: { names: "torn", data: "torn" },
  named: { names: "kept", data: "lost" },
  sized: { names: "kept", data: "sizes" },
  unnamed: { names: "lost", data: "kept" },
  kept: { names: "kept", data: "kept" },
});

const NO_STRINGS = [];

/** Replays calls on everything below one folder. */
export class Disk {
  /** @param {string} root its own name is durable @param {(path: string) => boolean} forgets */
  constructor(root, forgets = () => false) {
    Object.assign(this, { root, forgets });
    this.top = new Folder();
    this.seq = 0;
    /** Where each open file writes next, by descriptor. @type {Map<string, Map<any, any>>} */
    this.offsets = new Map();
  }

  has(path) {
    return path === this.root || path.startsWith(`${this.root}/`);
  }

  /** @returns {File | Folder | undefined} */
  find(path) {
    let node = this.top;
    for (const name of path.slice(this.root.length).split("/").filter(Boolean))
      node = node?.live?.get?.(name);
    return node;
  }

  /** @param {import("./calls.mjs").Event} event */
  replay({ call, begins, ends }) {
    if (begins) call.mark = this.seq;
    if (!ends || call.result < 0 || Number.isNaN(call.result)) return;
    this.seq++;
    HANDLERS[call.name]?.call(this, call);
  }

  put(path, node) {
    this.find(dirname(path)).change(this.seq, basename(path), node);
  }

  offset(place, node) {
    const of_fd = this.offsets.get(place.fd) ?? new Map();
    this.offsets.set(place.fd, of_fd);
    if (!of_fd.has(node)) of_fd.set(node, { at: 0, appends: false });
    return of_fd.get(node);
  }

  open({ words, opened, result }) {
    if (!this.has(opened)) return;
    const flags = words.find((word) => /^O_/.test(word)) ?? "";
    if (!this.find(opened)) this.put(opened, new File());
    const node = this.find(opened);
    if (/\bO_TRUNC\b/.test(flags) && node.live.size) node.change(this.seq, { size: 0 });
    Object.assign(this.offset({ fd: String(result) }, node),
      { at: 0, appends: /\bO_APPEND\b/.test(flags) });
  }

  /** The file a call is about, undefined if it is not one of ours. */
  file({ places: [place] }) {
    if (!place || !this.has(place.path)) return undefined;
    const node = this.find(place.path);
    if (!node) throw new Error(`a call on ${place.path}, which no call made`);
    return node;
  }

  write(call) {
    const node = this.file(call);
    if (!node) return;
    const offset = this.offset(call.places[0], node);
    const data = Buffer.concat(call.strings).subarray(0, call.result);
    const at = offset.appends ? node.live.size : offset.at;
    node.change(this.seq, { data, at });
    offset.at = at + data.length;
  }

  write_at(call) {
    const node = this.file(call);
    const at = Number(call.words.at(call.name === "pwritev2" ? -2 : -1));
    const data = Buffer.concat(call.strings).subarray(0, call.result);
    node?.change(this.seq, { data, at });
  }

  sync(call) {
    const node = this.file(call);
    if (node && !this.forgets(call.places[0].path)) node.sync(call.mark);
  }

  /** Paths named by a call: relative ones are relative to their folder's descriptor. */
  paths({ places, strings = NO_STRINGS }) {
    return strings.map((name, i) => resolve(places[i]?.path ?? "/", name.toString()));
  }

  remove(call) {
    const [path] = this.paths(call);
    if (this.has(path)) this.put(path, null);
  }

  rename(call) {
    const [from, to] = this.paths(call);
    if (!this.has(from) && !this.has(to)) return;
    const node = this.find(from);
    this.put(from, null);
    this.put(to, node);
  }

  link(call) {
    const [from, to] = this.paths(call);
    if (this.has(to)) this.put(to, this.find(from));
  }

  make_folder(call) {
    const [path] = this.paths(call);
    if (this.has(path)) this.put(path, new Folder());
  }

  truncate(call) {
    const node = call.places.length > 0 ? this.file(call) : this.find(this.paths(call)[0]);
    node?.change(this.seq, { size: Number(call.words.at(-1)) });
  }

  allocate(call) {
    const node = this.file(call);
    if (!node || /KEEP_SIZE/.test(call.words[1])) return;
    const end = Number(call.words.at(-2)) + Number(call.words.at(-1));
    if (end > node.live.size) node.change(this.seq, { size: end });
  }

  seek(call) {
    const node = this.file(call);
    if (node instanceof File) this.offset(call.places[0], node).at = call.result;
  }

  refuse(call) {
    if (call.places.some(({ path }) => this.has(path)))
      throw new Error(`the model does not know ${call.name}`);
  }

  /** Writes what remains after a power cut. @param {Variant} variant */
  save(target, variant, random) {
    const todo = [{ node: this.top, path: target }];
    while (todo.length > 0) {
      const { node, path } = todo.pop();
      const left = node.after_cut(variant, random);
      if (node instanceof File) {
        writeFileSync(path, left, { mode: 0o600 });
      } else {
        mkdirSync(path, { mode: 0o700, recursive: true });
        for (const [name, inner] of left) todo.push({ node: inner, path: join(path, name) });
      }
    }
  }
}

const { prototype: p } = Disk;
const HANDLERS = {
  open: p.open, openat: p.open, creat: p.open,
  write: p.write, writev: p.write,
  pwrite64: p.write_at, pwritev: p.write_at, pwritev2: p.write_at,
  fsync: p.sync, fdatasync: p.sync,
  rename: p.rename, renameat: p.rename, renameat2: p.rename,
  unlink: p.remove, unlinkat: p.remove, rmdir: p.remove,
  mkdir: p.make_folder, mkdirat: p.make_folder,
  link: p.link, linkat: p.link, symlink: p.refuse, symlinkat: p.refuse,
  ftruncate: p.truncate, truncate: p.truncate, fallocate: p.allocate, lseek: p.seek,
  copy_file_range: p.refuse, sendfile: p.refuse, splice: p.refuse, syncfs: p.refuse,
};
