// SPDX-License-Identifier: Apache-2.0
// Flight Recorder dumps, whatever they are written in: which members they have, and what becomes of
// them. A reader opens each record, finds the field of each member, and passes on its value.
#ifndef INGEST_TORCH_FLIGHT_DUMP_H
#define INGEST_TORCH_FLIGHT_DUMP_H

#include "ingest/source/evidence_count.h"
#include "ingest/torch/call_frames.h"

enum flight_record { FLIGHT_ROOT, FLIGHT_GROUP, FLIGHT_STATUS, FLIGHT_ENTRY, FLIGHT_RECORDS };

enum flight_field_kind {
    // values
    FLIGHT_NUMBER, // also as text
    FLIGHT_TIME,   // the same; unknown unless above 0
    FLIGHT_FLAG,
    FLIGHT_TEXT,
    FLIGHT_RANK_LIST, // as text
    FLIGHT_STATE,
    // lists
    FLIGHT_PAIR,   // the group's name and description; before 2.0 its name as a text
    FLIGHT_SIZES,  // lists of numbers
    FLIGHT_DTYPES, // texts
    FLIGHT_FRAMES,
};

struct flight_field {
    const char *name;
    enum flight_field_kind kind;
    size_t at; // in its record
};

// Of a member; NULL for those that are not kept.
const struct flight_field *flight_field_of(enum flight_record record, struct str name);

// A number or text; neither: something else.
struct flight_value {
    bool is_number, is_text;
    int64_t number;
    struct str text;
};

struct flight_dump {
    struct evidence *evidence;
    struct flight_group group;
    struct flight_status status;
    struct flight_entry entry;
    struct flight_status *statuses;
    size_t status_count, status_cap;
    // of the list that is read
    struct buf list;
    unsigned items, frames;
    int64_t elements, product;
};

// Pair with flight_dump_end, also on failure.
MUST_CHECK bool flight_dump_start(struct flight_dump *dump, const struct format_input *input,
                                  struct err *err);
void flight_dump_end(struct flight_dump *dump);
// After the last record.
MUST_CHECK bool flight_dump_finish(struct flight_dump *dump, struct err *err);

// key: the member that holds the record, which names a group or status; else empty.
MUST_CHECK bool flight_dump_open(struct flight_dump *dump, enum flight_record record,
                                 struct str key, struct err *err);
MUST_CHECK bool flight_dump_close(struct flight_dump *dump, enum flight_record record,
                                  struct err *err);
MUST_CHECK bool flight_dump_set(struct flight_dump *dump, enum flight_record record,
                                const struct flight_field *field, const struct flight_value *value,
                                struct err *err);

// A list of the entry: open, then its items, then close.
void flight_list_open(struct flight_dump *dump);
MUST_CHECK bool flight_list_close(struct flight_dump *dump, const struct flight_field *field,
                                  struct err *err);
// One of a pair or of dtypes.
MUST_CHECK bool flight_list_text(struct flight_dump *dump, const struct flight_field *field,
                                 struct str text, struct err *err);
// The sizes of a tensor.
void flight_tensor_open(struct flight_dump *dump);
void flight_tensor_size(struct flight_dump *dump, int64_t size);
void flight_tensor_close(struct flight_dump *dump);
// A call, the innermost first. False once no more are kept.
bool flight_list_frame(struct flight_dump *dump, const struct call_frame *frame);

// What inspect shows of a dump that `gather` reads.
MUST_CHECK bool flight_dump_count(const struct format_input *input, evidence_gather *gather,
                                  struct err *err);

#endif
