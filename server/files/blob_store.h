// SPDX-License-Identifier: Apache-2.0
// Where files are stored, independent of the kind of place: uploads by their content, and the
// sealed traces made from them. Stored files never change. Thread-safe.
//
// To add a kind: a file blob_x.c with a `const struct blob_kind blob_x` and a line in blob_store.c.
// A kind whose files are on another machine brings them to its own folder before it opens
// them: analyses, downloads and timelines read descriptors.
#ifndef SERVER_BLOB_STORE_H
#define SERVER_BLOB_STORE_H

#include "ingest/base/err.h"

struct blob_store;
struct disk_fault;

#define BLOB_KEEP_FREE "&keep_free=" // of a place in S3, before the cache: bytes of its disk
#define BLOB_MARK      "place"       // what has the mark of a place
enum { BLOB_MARK_SIZE = 32 };

enum blob_type { BLOB_UPLOAD, BLOB_TRACE };

struct blob_key {
    enum blob_type type;
    const char *name; // the content's SHA-256, or the trace's id
};

// A file of the data folder that is being written.
struct blob_part {
    int dir_fd, fd;
    char name[32];
};

// What is found in a place. A callback that is NULL gets none of its type.
struct blob_visitor {
    bool (*blob)(void *ctx, const char *sha256, uint64_t bytes, struct err *err);
    bool (*trace)(void *ctx, const char *trace_id, uint64_t bytes, struct err *err);
    void *ctx;
    // Whether to look into a folder of a place that has folders, which are named by two characters;
    // names came and went last at changed_ns. NULL: into all.
    bool (*folder)(void *ctx, enum blob_type type, const char *name, int64_t changed_ns);
    // Removes what interrupted writers left there, and adds how many; NULL: that stays. Only for
    // those to whom the place belongs.
    unsigned *unfinished;
};

// What a service received of a resumable upload. The name of the service makes the piece its own.
enum { BLOB_PIECE_NAME = 24 };
struct blob_piece {
    char id[BLOB_PIECE_NAME]; // of the upload
    uint64_t from, bytes;
    char node[BLOB_PIECE_NAME];
};

struct blob_piece_visitor {
    bool (*visit)(void *ctx, const struct blob_piece *piece, struct err *err);
    void *ctx;
};

struct blob_piece_ops {
    bool (*put)(struct blob_store *store, const struct blob_piece *piece, int fd, struct err *err);
    bool (*get)(struct blob_store *store, const struct blob_piece *piece, int fd, struct err *err);
    bool (*remove)(struct blob_store *store, const struct blob_piece *piece, struct err *err);
    bool (*each)(struct blob_store *store, const char *id, const struct blob_piece_visitor *visitor,
                 struct err *err);
};

// The operations of a kind; functions of the same names below say what they do.
struct blob_kind {
    const char *name;
    bool (*is_place)(const char *place); // whether such a place belongs to this kind
    struct blob_store *(*open)(const char *place, struct disk_fault *fault, struct err *err);
    void (*close)(struct blob_store *store);
    bool (*put)(struct blob_store *store, struct blob_key key, const struct blob_part *part,
                struct err *err);
    bool (*read)(struct blob_store *store, struct blob_key key, int *fd, uint64_t *bytes,
                 struct err *err);
    bool (*read_past_cache)(struct blob_store *store, struct blob_key key, int *fd, uint64_t *bytes,
                            struct err *err);
    bool (*size)(struct blob_store *store, struct blob_key key, uint64_t *bytes, struct err *err);
    bool (*remove)(struct blob_store *store, struct blob_key key, int64_t asked_s, struct err *err);
    bool (*each)(struct blob_store *store, const struct blob_visitor *visitor, struct err *err);
    bool (*copy)(struct blob_store *store, struct blob_key key, const char *folder,
                 struct err *err);
    bool (*take)(struct blob_store *store, struct blob_key key, struct blob_store *from,
                 struct err *err);
    void (*sweep)(struct blob_store *store, unsigned *removed);     // NULL: each does all of that
    bool (*end_uploads)(struct blob_store *store, struct err *err); // NULL: there are none
    bool (*probe)(struct blob_store *store, struct err *err);
    bool (*read_mark)(struct blob_store *store, char mark[BLOB_MARK_SIZE], struct err *err);
    bool (*write_mark)(struct blob_store *store, const char *mark, struct err *err);
    const struct blob_piece_ops *pieces; // NULL in a place that only one service has
};

extern const struct blob_kind *const blob_kinds[]; // ends with NULL
extern const struct blob_kind blob_local, blob_s3;

// The first member of each kind's struct.
struct blob_store {
    const struct blob_kind *kind;
};

// place: the path of a data folder or of a backup, or s3://BUCKET[/PREFIX]?...&cache=FOLDER. fault
// is where failures to flush are recorded; NULL: nothing is put, swept or probed, and nothing
// created.
MUST_CHECK struct blob_store *blob_store_open(const char *place, struct disk_fault *fault,
                                              struct err *err);
void blob_store_close(struct blob_store *store); // NULL is allowed

// Stores a complete file under its key, replacing what is there; the part is gone afterwards. An
// upload is flushed already, and durable with its name when this returns. A trace is not: it can be
// made again.
MUST_CHECK bool blob_store_put(struct blob_store *store, struct blob_key key,
                               const struct blob_part *part, struct err *err);

// A descriptor for reading the file, which the caller closes, and its size. It stays readable when
// the file is removed. ERR_NOT_FOUND, ERR_BUSY for a lack of descriptors or memory.
MUST_CHECK bool blob_store_read(struct blob_store *store, struct blob_key key, int *fd,
                                uint64_t *bytes, struct err *err);

// The same of what is stored itself, rather than of a copy in a cache.
MUST_CHECK bool blob_store_read_past_cache(struct blob_store *store, struct blob_key key, int *fd,
                                           uint64_t *bytes, struct err *err);

// The file's size without opening it. ERR_NOT_FOUND.
MUST_CHECK bool blob_store_size(struct blob_store *store, struct blob_key key, uint64_t *bytes,
                                struct err *err);

// A missing file is not an error.
MUST_CHECK bool blob_store_remove(struct blob_store *store, struct blob_key key, struct err *err);
// The same, asked for at that time of day (seconds): 15 minutes later nothing is removed any more,
// even if this service was stopped in between. 0: now.
MUST_CHECK bool blob_store_remove_as_of(struct blob_store *store, struct blob_key key,
                                        int64_t asked_s, struct err *err);

// Visits every file in no particular order; visitors may remove what they are given. In a place
// that several services share, those of the last hour are left out: their rows may be on their way.
MUST_CHECK bool blob_store_each(struct blob_store *store, const struct blob_visitor *visitor,
                                struct err *err);

// Copies a file into a folder with the layout of the local kind, replacing what is there. Not
// flushed. ERR_NOT_FOUND.
MUST_CHECK bool blob_store_copy(struct blob_store *store, struct blob_key key, const char *folder,
                                struct err *err);

// Copies a file of another place, replacing what is there. In a folder it is not flushed.
// ERR_NOT_FOUND.
MUST_CHECK bool blob_store_take(struct blob_store *store, struct blob_key key,
                                struct blob_store *from, struct err *err);

// Removes what interrupted writers left here outside the folders of files, before anything writes;
// adds to *removed.
void blob_store_sweep(struct blob_store *store, unsigned *removed);

// Ends uploads in parts that began more than a day ago: their writers were interrupted.
MUST_CHECK bool blob_store_end_uploads(struct blob_store *store, struct err *err);

// Tries to write. ERR_SPACE, ERR_IO.
MUST_CHECK bool blob_store_probe(struct blob_store *store, struct err *err);

// A word by which services that share a database know that they have the same place; "" if there is
// none yet.
MUST_CHECK bool blob_store_read_mark(struct blob_store *store, char mark[BLOB_MARK_SIZE],
                                     struct err *err);
MUST_CHECK bool blob_store_write_mark(struct blob_store *store, const char *mark, struct err *err);

// Whether services that share the place also share what they received of resumable uploads.
bool blob_store_has_pieces(const struct blob_store *store);

// Stores bytes from..from+bytes of a file as a piece; brings a piece into an empty file. The others
// as above. id: of one upload, NULL: of all.
MUST_CHECK bool blob_store_put_piece(struct blob_store *store, const struct blob_piece *piece,
                                     int fd, struct err *err);
MUST_CHECK bool blob_store_get_piece(struct blob_store *store, const struct blob_piece *piece,
                                     int fd, struct err *err);
MUST_CHECK bool blob_store_remove_piece(struct blob_store *store, const struct blob_piece *piece,
                                        struct err *err);
MUST_CHECK bool blob_store_each_piece(struct blob_store *store, const char *id,
                                      const struct blob_piece_visitor *visitor, struct err *err);

#endif
