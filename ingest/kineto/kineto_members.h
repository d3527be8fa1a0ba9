// SPDX-License-Identifier: Apache-2.0
// Members of the document beside its events, and what they say about the job.
#ifndef INGEST_KINETO_MEMBERS_H
#define INGEST_KINETO_MEMBERS_H

#include "ingest/trace/record_set.h"
#include "ingest/trace/trace_builder.h"

// Kept as JSON text until the document ends, as a later member replaces one with the same key.
struct kineto_members {
    struct budget *budget;
    struct strtab texts;
    struct record_set keys; // str_id
    str_id *values;         // by index in keys
    size_t cap;
    int64_t own_rank; // the rank to read, of several merged into the file; VALUE_ABSENT: there is
                      // but one
};

MUST_CHECK bool kineto_members_init(struct kineto_members *members, struct budget *budget,
                                    struct err *err);
void kineto_members_free(struct kineto_members *members);

// Neither may be longer than STRTAB_MAX_LEN. Secrets are redacted.
MUST_CHECK bool kineto_members_keep(struct kineto_members *members, struct str key, struct str text,
                                    struct err *err);

// Adds devices, groups, settings, rank and base time to the builder.
MUST_CHECK bool kineto_members_read(const struct kineto_members *members,
                                    struct trace_builder *builder, struct err *err);

#endif
