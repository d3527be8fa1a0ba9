// SPDX-License-Identifier: Apache-2.0
// The table of formats: how each is recognized and read, or what to do with a file that is not
// read. To add one: a file format_x.c with a `const struct format format_x` and a line in
// formats.c; a format that is only recognized is a row in formats_unread.c.
#ifndef INGEST_SOURCE_FORMAT_H
#define INGEST_SOURCE_FORMAT_H

#include "ingest/base/cores.h"
#include "ingest/base/figures.h"
#include "ingest/base/scratch.h"
#include "ingest/trace/trace_builder.h"

#include <stdatomic.h>

struct source;
struct evidence;
struct json_outline;

// What a reader reports its progress to and checks for cancellation; shared between threads.
struct progress {
    _Atomic uint64_t done_bytes; // of the compressed input
    _Atomic bool cancel;
    struct cores *cores; // free ones may help; NULL: single-threaded
};

// Reports how far a reader got, in bytes of the file. False with ERR_CANCELLED if it has to stop.
// To be called every thousand records or so; progress may be NULL.
MUST_CHECK static inline bool progress_report(struct progress *progress, uint64_t done_bytes,
                                              struct err *err)
{
    if (!progress)
        return true;
    progress->done_bytes = done_bytes;
    return !progress->cancel || err_set(err, ERR_CANCELLED, "cancelled while reading");
}

// The whole file, which holds one process.
#define FORMAT_WHOLE INT64_C(0)

// A trace reader's input and output.
struct format_input {
    struct source *source; // that can be read at any position, if the format needs that
    struct str head;       // the first bytes of the document, for messages; may be empty
    struct trace_builder *builder;
    struct budget *budget;     // of working memory
    struct progress *progress; // may be NULL
    int64_t part;              // which process of the file; FORMAT_WHOLE: the only one
    struct evidence *evidence; // for gather; or NULL
    struct str
        filename; // or the member's path, which may be all that says which rank it is; may be empty
    struct figures *figures; // where to say what was counted that the trace does not show; or NULL
};

enum format_kind {
    FORMAT_TRACE,       // a timeline of events
    FORMAT_RECORDS,     // data that a job or rank recorded: metrics, dumps, settings
    FORMAT_TEXT,        // text, perhaps a log
    FORMAT_ARCHIVE,     // files in one file
    FORMAT_COMPRESSION, // one other file, smaller
    FORMAT_DATABASE,    // tables, which tell what it is
    FORMAT_OTHER,       // unrelated to a training run
    FORMAT_KINDS
};

enum format_access {
    FORMAT_STREAM, // from the first byte to the last
    FORMAT_SEEK,   // at any position: not from a pipe, and not compressed unless there is a scratch
};

enum format_likeness { FORMAT_UNLIKE, FORMAT_PERHAPS, FORMAT_SURE };

struct archive; // of the library that unpack.c uses

// What a file is recognized by: its first bytes, and its name, which may be empty.
struct format_sample {
    struct str head, filename;
    const struct json_outline *outline; // of these bytes
};

enum { FORMAT_MAX_PARTS = 4096 };

// The processes in a file.
struct format_parts {
    uint32_t count;
    int64_t at[FORMAT_MAX_PARTS]; // values for format_input.part, never FORMAT_WHOLE
};

struct format {
    const char *name;   // "kineto"
    const char *what;   // as in messages: "a zip archive"
    const char *advice; // what to do with a file that is not read; NULL: none
    enum format_kind kind;
    enum format_access access;
    const char *ending; // of file names, ".json"; NULL: none
    bool common;        // other files have the same ending, so it is listed but proves nothing
    // How it is recognized: by its first bytes, by a JSON member unique to it, or by the ending of
    // its name, whichever are set; or by a function instead.
    struct str magic;
    const char *member;
    // Or, if nothing else fits better, by words in its first bytes.
    const char *words;
    enum format_likeness (*probe)(const struct format_sample *sample);
    // A format in a database is recognized by a table unique to it: names, as in database_has,
    // separated by blanks.
    const char *tables;
    // How it is read: read, decode or unpack, depending on its kind; none if it is only recognized.
    // Reads all events into the builder. ERR_FORMAT with what was found if there is no event.
    bool (*read)(const struct format_input *input, struct err *err);
    // The processes in the file, in the order of their ranks if that is known. NULL: it has one.
    bool (*parts)(struct source *source, struct format_parts *parts, struct err *err);
    // The decompressed bytes; takes over `below`, also on failure.
    struct source *(*decode)(struct source *below, struct err *err);
    // Adds figures of the whole file to input->figures, for inspect: of records that are not read,
    // or what the traces of a file do not show. There is no builder. May be NULL.
    bool (*count)(const struct format_input *input, struct err *err);
    // Records that are no trace: everything they say about the run goes into input->evidence. There
    // is no builder. ERR_FORMAT if there is nothing.
    bool (*gather)(const struct format_input *input, struct err *err);
    // Enables this format in libarchive; returns libarchive's status.
    int (*unpack)(struct archive *archive);
};

// How many bytes a probe sees.
#define FORMAT_HEAD_BYTES ((size_t)4096)

// Whether this build reads the format.
bool format_is_read(const struct format *format);

// Whether a file is kept with its run though it is no trace: for what it says, or for people.
bool format_is_kept(const struct format *format);

// "trace", "archive", ...
const char *format_kind_word(enum format_kind kind);

// The most likely format by the first bytes and the name (may be empty); NULL: unknown.
const struct format *format_find(struct str head, struct str filename);

// The same among formats that are not read.
const struct format *format_find_unread(struct str head, struct str filename);
// How likely it is a given format.
enum format_likeness format_like(const struct format *format, struct str head, struct str filename);

// The format of a name, such as "kineto", that is read; NULL: none.
const struct format *format_named(struct str name);

// The format that reads a trace with these first bytes; JSON may still turn out to have no event.
// NULL with ERR_FORMAT or ERR_UNSUPPORTED, with what was found and what can be read.
MUST_CHECK const struct format *format_of_trace(struct str head, struct str filename,
                                                struct err *err);

// Fails with ERR_FORMAT: a database without the tables of any format, or, if *cut, a damaged one.
bool format_refuse_database(struct source *source, bool *cut, struct err *err);

// Fails with ERR_FORMAT: what was found, that a trace was expected, and what to do.
bool format_refuse(const struct format *found, struct err *err);
bool format_refuse_what(const char *what, struct err *err);
// ERR_UNSUPPORTED with the first bytes, as no format fits them; ERR_FORMAT if there are none.
bool format_refuse_unknown(struct str head, struct err *err);

// The same for JSON without an event. head: its first bytes; of them the message repeats only names
// of members.
bool format_refuse_json(struct str head, struct err *err);

// The endings of the formats that are read, of the given kinds (bits 1 << enum format_kind), as a
// list: ".json, .xplane.pb, .prv, .csv, .db, .rpd or .sqlite, also as .gz or .zst"; ".tar, .tar.gz,
// .tar.zst or .zip".
#define FORMAT_ENDINGS_BYTES ((size_t)128)
void format_endings(unsigned kinds, char out[FORMAT_ENDINGS_BYTES]);
// Whether a name has one of them.
bool format_has_ending(unsigned kinds, struct str filename);
// The same with endings that other files have as well, such as ".csv": only their bytes tell.
bool format_has_common_ending(unsigned kinds, struct str filename);
// Whether a name has the ending of a format that may hold several traces: an archive, or several
// processes.
bool format_may_be_many(struct str filename);

#define FORMAT_MAX_LAYERS 2 // of compression: .json.gz within .zst can be read

// What a file is beneath its compression.
struct format_found {
    struct str head;                                // the first bytes; live as long as the source
    const struct format *format;                    // NULL: unknown
    int64_t part;                                   // the process to read
    struct figures *figures;                        // for people who inspect the file; or NULL
    const struct format *layers[FORMAT_MAX_LAYERS]; // of compression, the outermost first
    unsigned layer_count;
};

// The format of a database by its tables; NULL: unknown, or damaged.
const struct format *format_of_database(struct source *source);

// What is known of a file besides its bytes.
struct format_hint {
    struct str filename;    // may be empty
    struct scratch scratch; // for formats that are read at any position
};

// Detects the format and adds the decompressors needed; hint may be NULL. The name is used for the
// decompressed content. A format that must be read at any position is unpacked into the scratch
// file if it has to be. Takes over `below`, also on failure.
MUST_CHECK struct source *format_open(struct source *below, const struct format_hint *hint,
                                      struct format_found *found, struct err *err);

#endif
