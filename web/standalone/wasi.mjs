// SPDX-License-Identifier: Apache-2.0
// The system below the module: files in memory or of the host, a clock, random bytes. The part of
// WASI (preview 1) that wasi-libc calls; there is no network in it.

const OK = 0;
const BADF = 8;
const INVAL = 28;
const NOENT = 44;
const NOTDIR = 54;
const SPIPE = 70;
const O_CREAT = 1;
const O_DIRECTORY = 2;
const O_TRUNC = 8;
const IS_FOLDER = 3;
const IS_FILE = 4;
const IS_STREAM = 2;
const ROOT_FD = 3;
const ALL_RIGHTS = 0xffffffffffffffffn;
const FOLDERS = ["", ".", "tmp"];
const MOST_RANDOM = 65536; // bytes of one call

/**
 * A file that the module reads. @typedef {{size: number,
 *   read: (at: number, into: Uint8Array) => number,
 *   write?: (at: number, bytes: Uint8Array) => void, resize?: (size: number) => void}} HostFile
 */

/** Ends a command, as its exit status. */
export class Exit extends Error {
  constructor(status) {
    super(`exit status ${status}`);
    this.status = status;
  }
}

/** A file that grows in memory. @implements {HostFile} */
class MemoryFile {
  bytes = new Uint8Array(0);
  size = 0;

  read(at, into) {
    const count = Math.max(0, Math.min(into.length, this.size - at));
    into.set(this.bytes.subarray(at, at + count));
    return count;
  }

  resize(size) {
    if (size > this.bytes.length) {
      const grown = new Uint8Array(Math.max(size, 2 * this.bytes.length, 4096));
      grown.set(this.bytes.subarray(0, this.size));
      this.bytes = grown;
    } else if (size < this.size) {
      this.bytes.fill(0, size, this.size);
    }
    this.size = size;
  }

  write(at, bytes) {
    if (at + bytes.length > this.size) this.resize(at + bytes.length);
    this.bytes.set(bytes, at);
  }

  content() {
    return this.bytes.subarray(0, this.size);
  }
}

const encode = (text) => new TextEncoder().encode(`${text}\0`);
const kind_of = (one) => (one.folder ? IS_FOLDER : one.stream ? IS_STREAM : IS_FILE);
const fill = (file, at, bytes) => file.read(at, bytes);
const put = (file, at, bytes) => {
  file.write(at, bytes);
  return bytes.length;
};

/** The module's memory, as numbers, bytes and texts. */
class Memory {
  /** @type {WebAssembly.Memory} */
  memory = null;

  bytes(at, size) {
    return new Uint8Array(this.memory.buffer, at, size);
  }

  get view() {
    return new DataView(this.memory.buffer); // another one after the memory has grown
  }

  text(at, size) {
    return new TextDecoder().decode(this.bytes(at, size).slice());
  }

  u32(at) {
    return this.view.getUint32(at, true);
  }

  put_u32(at, value) {
    this.view.setUint32(at, value, true);
    return OK;
  }

  put_u64(at, value) {
    this.view.setBigUint64(at, BigInt(value), true);
    return OK;
  }

  put_stat(at, one) {
    this.bytes(at, 64).fill(0);
    this.view.setUint8(at + 16, kind_of(one));
    this.put_u64(at + 24, 1);
    return this.put_u64(at + 32, one.file?.size ?? 0);
  }

  /** Visits each piece of a list until one is not used up. @returns {number} bytes */
  each(list, count, visit) {
    let total = 0;
    for (let at = list; at < list + 8 * count; at += 8) {
      const size = this.u32(at + 4);
      const done = size === 0 ? 0 : visit(this.bytes(this.u32(at), size), total);
      total += done;
      if (done < size) break;
    }
    return total;
  }
}

/** Open files, by descriptor and by path without the first '/'. */
class Files {
  open = new Map([[ROOT_FD, { folder: true }]]);

  /** @param {Map<string, HostFile>} named */
  constructor(named) {
    this.named = named;
    for (const fd of [0, 1, 2]) this.open.set(fd, { stream: true });
  }

  add(opened) {
    let fd = ROOT_FD + 1;
    while (this.open.has(fd)) fd++;
    this.open.set(fd, opened);
    return fd;
  }

  /** What a path names; undefined: nothing. */
  at(path, flags = 0) {
    if (FOLDERS.includes(path) && !(flags & O_CREAT)) return { folder: true };
    const file = this.file(path, flags);
    return file && { file, at: 0 };
  }

  file(path, flags) {
    if ((flags & O_CREAT) && (flags & O_DIRECTORY)) return new MemoryFile(); // without a name
    const copied = /^dev\/fd\/(\d+)$/.exec(path);
    if (copied) return this.open.get(Number(copied[1]))?.file;
    if (flags & O_CREAT && !this.named.has(path)) this.named.set(path, new MemoryFile());
    if (flags & O_TRUNC) this.named.get(path)?.resize(0);
    return this.named.get(path);
  }
}

/** The calls that are about neither files nor folders. */
function process_calls(memory, args) {
  const texts = args.map(encode);
  return {
    args_sizes_get(count, size) {
      memory.put_u32(count, texts.length);
      return memory.put_u32(size, texts.reduce((sum, text) => sum + text.length, 0));
    },
    args_get(pointers, at) {
      for (const [i, text] of texts.entries()) {
        memory.put_u32(pointers + 4 * i, at);
        memory.bytes(at, text.length).set(text);
        at += text.length;
      }
      return OK;
    },
    environ_sizes_get(count, size) {
      memory.put_u32(count, 0);
      return memory.put_u32(size, 0);
    },
    environ_get: () => OK,
    clock_time_get(id, precision, out) {
      const ms = id === 0 ? Date.now() : performance.now();
      return memory.put_u64(out, Math.round(ms * 1e6));
    },
    random_get(at, size) {
      for (let done = 0; done < size; done += MOST_RANDOM) {
        const count = Math.min(MOST_RANDOM, size - done);
        memory.bytes(at + done, count).set(crypto.getRandomValues(new Uint8Array(count)));
      }
      return OK;
    },
    proc_exit(status) {
      throw new Exit(status);
    },
    poll_oneoff(asked, events, count, result) { // everything is ready
      for (let i = 0; i < count; i++) {
        memory.bytes(events + 32 * i, 32).fill(0);
        memory.bytes(events + 32 * i, 8).set(memory.bytes(asked + 48 * i, 8));
        memory.bytes(events + 32 * i + 10, 1).set(memory.bytes(asked + 48 * i + 8, 1));
      }
      return memory.put_u32(result, count);
    },
  };
}

/** The calls with a path. */
function path_calls(memory, files) {
  return {
    fd_prestat_get(fd, out) {
      if (fd !== ROOT_FD) return BADF;
      memory.put_u32(out, 0);
      return memory.put_u32(out + 4, 1);
    },
    fd_prestat_dir_name(fd, at) {
      memory.bytes(at, 1)[0] = "/".charCodeAt(0);
      return OK;
    },
    path_open(dir, how, path, size, flags, rights, inherited, fd_flags, out) {
      const one = files.at(memory.text(path, size), flags);
      if (!one) return NOENT;
      if (one.file && (flags & O_DIRECTORY) && !(flags & O_CREAT)) return NOTDIR;
      return memory.put_u32(out, files.add(one));
    },
    path_filestat_get(dir, how, path, size, out) {
      const one = files.at(memory.text(path, size));
      return one ? memory.put_stat(out, one) : NOENT;
    },
    path_unlink_file: (dir, path, size) =>
      (files.named.delete(memory.text(path, size)) ? OK : NOENT),
  };
}

/** The calls about an open file that move no bytes of it. */
function file_calls(memory, { open }) {
  return {
    fd_close: (fd) => (open.delete(fd) ? OK : BADF),
    fd_fdstat_get(fd, out) {
      if (!open.has(fd)) return BADF;
      memory.bytes(out, 24).fill(0);
      memory.bytes(out, 1)[0] = kind_of(open.get(fd));
      memory.put_u64(out + 8, ALL_RIGHTS);
      return memory.put_u64(out + 16, ALL_RIGHTS);
    },
    fd_fdstat_set_flags: () => OK,
    fd_filestat_get: (fd, out) => (open.has(fd) ? memory.put_stat(out, open.get(fd)) : BADF),
    fd_filestat_set_size(fd, size) {
      const file = open.get(fd)?.file;
      if (!file?.resize) return file ? INVAL : BADF;
      file.resize(Number(size));
      return OK;
    },
    fd_sync: () => OK,
    fd_datasync: () => OK,
    fd_readdir: (fd, at, size, cookie, result) => memory.put_u32(result, 0),
    fd_seek(fd, offset, whence, result) {
      const one = open.get(fd);
      if (!one?.file) return one ? SPIPE : BADF;
      const at = [0, one.at, one.file.size][whence] + Number(offset);
      if (at < 0) return INVAL;
      one.at = at;
      return memory.put_u64(result, at);
    },
    fd_tell: (fd, result) => (open.get(fd)?.file ? memory.put_u64(result, open.get(fd).at) : BADF),
  };
}

/** The calls that move bytes. `at` undefined: at the file's own position. */
function byte_calls(memory, { open }, write) {
  const move = (fd, [list, count, at, result], visit) => {
    const one = open.get(fd);
    if (!one?.file || (visit === put && !one.file.write)) return BADF;
    const begin = Number(at ?? one.at);
    const total = memory.each(list, count,
      (bytes, before) => visit(one.file, begin + before, bytes));
    if (at === undefined) one.at += total;
    return memory.put_u32(result, total);
  };
  const print = (fd, list, count, result) => memory.put_u32(result,
    memory.each(list, count, (bytes) => {
      write(fd, bytes.slice());
      return bytes.length;
    }));
  return {
    fd_read: (fd, list, count, result) => move(fd, [list, count, undefined, result], fill),
    fd_pread: (fd, list, count, at, result) => move(fd, [list, count, at, result], fill),
    fd_pwrite: (fd, list, count, at, result) => move(fd, [list, count, at, result], put),
    fd_write: (fd, list, count, result) => (open.get(fd)?.stream ? print(fd, list, count, result)
      : move(fd, [list, count, undefined, result], put)),
  };
}

/**
 * What an instance of the module needs.
 * @param {{args?: string[], files?: Map<string, HostFile>,
 *          write?: (fd: number, bytes: Uint8Array) => void}} options
 *   `write` gets what is written to standard output and error
 */
export function make_wasi({ args = [], files = new Map(), write = () => {} } = {}) {
  const memory = new Memory();
  const opened = new Files(files);
  const calls = { ...process_calls(memory, args), ...path_calls(memory, opened),
    ...file_calls(memory, opened), ...byte_calls(memory, opened, write) };
  return {
    imports: { wasi_snapshot_preview1: calls },
    /** @param {WebAssembly.Instance} instance */
    attach: (instance) => { memory.memory = instance.exports.memory; },
  };
}
