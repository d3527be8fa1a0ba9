// SPDX-License-Identifier: Apache-2.0
// What was uploaded besides single traces: archives, and what became of each of their members.
#ifndef SERVER_STORE_INPUTS_H
#define SERVER_STORE_INPUTS_H

#include "server/base/principal.h"
#include "server/store/store.h"

enum input_kind { INPUT_ARCHIVE, INPUT_TRACE, INPUT_ATTACHMENT, INPUT_SKIPPED };
const char *input_kind_word(enum input_kind kind); // "archive", "trace", "attachment", "skipped"

struct input_row {
    struct str id, run_id, run_name;
    struct str parent; // the archive's id; "": it was uploaded by itself
    int64_t position;  // in the archive
    enum input_kind kind;
    struct str format;   // its word, "" unknown
    struct str filename; // of a member its path in the archive
    int64_t bytes;
    int64_t rank;           // of a trace; STORE_NO_RANK unknown
    struct str trace_id;    // of a trace, "" once another one replaced it
    enum trace_state state; // of a trace its own
    struct str reason;      // why it failed, was skipped or is no trace; "" none
    int64_t secrets;        // in an attachment; -1 unknown
    struct str blob;        // where the bytes are, "" nowhere; those of a trace are the trace's
    int64_t created_ns;
};

// Inputs of a run: archives uploaded to it, each followed by its members, including those that went
// to other runs; then members of other archives that came to this run.
MUST_CHECK bool store_list_inputs(struct store *store, struct str run_id, struct arena *arena,
                                  struct input_row **inputs, size_t *count, struct err *err);

// ERR_NOT_FOUND.
MUST_CHECK bool store_find_input(struct store *store, struct str id, struct arena *arena,
                                 struct input_row *input, struct err *err);

// --- taking an archive apart (used by job_unpack.c) ---------------------------------------------

struct unpack_state {
    struct str owner;           // "" unknown
    struct quota_limits limits; // of the owner's token; -1: those of the service
    int64_t stored;             // how many members an earlier attempt has stored
};
MUST_CHECK bool store_begin_unpack(struct store *store, const struct job *job, struct arena *arena,
                                   struct unpack_state *state, struct err *err);

// A member whose blob is in place.
struct new_member {
    int64_t position;
    enum input_kind kind; // no archive
    struct str filename, format;
    struct str window;  // whose run it goes to; "": the archive's run
    const char *sha256; // "" if it is not kept
    int64_t process;    // of the file, as its format numbers them; 0: it has one
    bool is_repeat;     // its bytes are those of an earlier member, and count there
    int64_t bytes, secrets;
    bool failed;
    struct str reason;
};

// Adds members, and traces for those that are one, in a transaction. Members that exist already are
// not changed. ERR_NOT_FOUND if the job is no longer the caller's.
MUST_CHECK bool store_add_members(struct store *store, const struct job *job,
                                  const struct new_member *members, size_t count, struct err *err);

// The file is no archive but a trace: it becomes one, and the job is done.
MUST_CHECK bool store_unpack_as_trace(struct store *store, const struct job *job, struct err *err);

// The file is no archive but says something about the run: it becomes an attachment, without its
// secrets and its compression, and is read next. member has no name. The job is done.
MUST_CHECK bool store_unpack_as_attachment(struct store *store, const struct job *job,
                                           const struct new_member *member, struct err *err);

// Ends the job: all readable members are stored, and the archive's own bytes are deleted. reason:
// why the rest could not be read, "" if there is no rest.
MUST_CHECK bool store_finish_unpack(struct store *store, const struct job *job, struct str reason,
                                    struct err *err);

// --- attachments that say something about the run (used by job_evidence.c and job_run.c) --------

// Stores the tables of an attachment, a file of parts, and queues the run's job. join_bytes: their
// unpacked size. ERR_NOT_FOUND if the job is no longer the caller's.
MUST_CHECK bool store_finish_evidence(struct store *store, const struct job *job, int tables,
                                      int64_t join_bytes, struct err *err);

// An attachment that was read.
struct evidence_row {
    struct str input_id;
    int64_t join_bytes;
};

// Those of a run, by name; of several with one name and format the latest.
MUST_CHECK bool store_list_evidence(struct store *store, struct str run_id, struct arena *arena,
                                    struct evidence_row **rows, size_t *count, struct err *err);

// Adds those tables of `known` that it has; and as they are stored, to a file.
MUST_CHECK bool store_load_input_tables(struct store *store, struct str input_id,
                                        const struct table_desc *const *known,
                                        struct report *report, struct err *err);
MUST_CHECK bool store_copy_input_parts(struct store *store, struct str input_id,
                                       const struct table_desc *const *known, int fd,
                                       struct err *err);

#endif
