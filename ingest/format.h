// SPDX-License-Identifier: Apache-2.0
// The table of formats: what a file is, what it is called, and how it is read or what to do with it
// instead. To add one: a file format_x.c with a `const struct format format_x` and a line in
// formats.c; one that is recognized only is a row of formats_unread.c.
#ifndef INGEST_FORMAT_H
#define INGEST_FORMAT_H

#include "ingest/base/cores.h"
#include "ingest/source.h"
#include "ingest/trace/trace_builder.h"

#include <stdatomic.h>

// What a reader reports to and obeys while it works; shared with other threads.
struct progress {
    _Atomic uint64_t done_bytes; // of the compressed input
    _Atomic bool cancel;
    struct cores *cores; // whose free ones may help; NULL: all on the calling thread
};

// What a reader of traces reads, and what it fills.
struct format_input {
    struct source *source;
    struct str head; // the first bytes of the document, for messages; may be empty
    struct trace_builder *builder;
    struct budget *budget;     // of working memory
    struct progress *progress; // may be NULL
};

enum format_kind {
    FORMAT_TRACE,       // what ran when
    FORMAT_RECORDS,     // what a job or a rank noted about itself: metrics, dumps, settings
    FORMAT_TEXT,        // text, perhaps a log
    FORMAT_ARCHIVE,     // files in one file
    FORMAT_COMPRESSION, // one other file, smaller
    FORMAT_OTHER,       // nothing of a training run
    FORMAT_KINDS
};

enum format_access {
    FORMAT_STREAM, // from the first byte to the last
    FORMAT_SEEK,   // anywhere: not through compression or a pipe
};

enum format_likeness { FORMAT_UNLIKE, FORMAT_PERHAPS, FORMAT_SURE };

struct archive; // of the library that unpack.c uses

struct format {
    const char *name;   // "kineto"
    const char *what;   // "a zip archive": what messages say was found
    const char *advice; // what to do with one where it is not read; NULL: nothing
    enum format_kind kind;
    enum format_access access;
    const char *ending; // of names, ".json"; NULL: none
    // How it is recognized, each where set: by the first bytes, by a member of JSON that only it
    // has, by its name's ending; or, instead of all these, by a function.
    struct str magic;
    const char *member;
    enum format_likeness (*probe)(struct str head, struct str filename);
    // How it is read: one of these by its kind, none where it is recognized only.
    // Everything into the builder. ERR_FORMAT, saying what was found, without one event.
    bool (*read)(const struct format_input *input, struct err *err);
    // The bytes within; takes over `below`, also on failure.
    struct source *(*decode)(struct source *below, struct err *err);
    // Lets the library read archives of this format; its code.
    int (*unpack)(struct archive *archive);
};

// How many bytes a probe sees.
#define FORMAT_HEAD_BYTES ((size_t)4096)

// Whether this build reads it.
bool format_is_read(const struct format *format);

// "trace", "archive", ...
const char *format_kind_word(enum format_kind kind);

// What a file looks like most, by its first bytes and its name (which may be empty); NULL: nothing
// that is known.
const struct format *format_find(struct str head, struct str filename);

// The same among those that are not read.
const struct format *format_find_unread(struct str head, struct str filename);
// How much it looks like one format.
enum format_likeness format_like(const struct format *format, struct str head, struct str filename);

// The format that reads a trace of these first bytes, of which JSON may turn out to hold none. NULL
// with ERR_FORMAT or ERR_UNSUPPORTED, saying what was found and what is read.
MUST_CHECK const struct format *format_of_trace(struct str head, struct str filename,
                                                struct err *err);

// Fails with ERR_FORMAT: what was found, that a trace was expected, and what to do.
bool format_refuse(const struct format *found, struct err *err);
bool format_refuse_what(const char *what, struct err *err);

// The same of a text that begins as JSON does and holds no event. head: its first bytes, of which
// only names of members are repeated.
bool format_refuse_json(struct str head, struct err *err);

// The endings of what is read of some kinds (bits 1 << enum format_kind), as a list for people:
// ".json, .json.gz or .json.zst".
#define FORMAT_ENDINGS_BYTES ((size_t)128)
void format_endings(unsigned kinds, char out[FORMAT_ENDINGS_BYTES]);
// Whether a name has one of them.
bool format_has_ending(unsigned kinds, struct str filename);

#define FORMAT_MAX_LAYERS 2 // of compression: .json.gz inside .zst still reads

// What a file is beneath its compression.
struct format_found {
    struct str head;                                // its first bytes; live as long as the source
    const struct format *format;                    // NULL: nothing that is known
    const struct format *layers[FORMAT_MAX_LAYERS]; // of compression, the outermost first
    unsigned layer_count;
};

// Looks at the first bytes and puts the decompressors on top that they ask for; the name counts for
// what is beneath. Takes over `below`, also on failure.
MUST_CHECK struct source *format_open(struct source *below, struct str filename,
                                      struct format_found *found, struct err *err);

#endif
