// SPDX-License-Identifier: Apache-2.0
// How often each name occurs in a file, or for how long; the names with the most.
#ifndef INGEST_ATTACHED_NAME_TALLY_H
#define INGEST_ATTACHED_NAME_TALLY_H

#include "ingest/base/figures.h"
#include "ingest/trace/strtab.h"

struct name_tally {
    struct strtab names;
    double *sums; // by name
    size_t cap;
    double total;
};

MUST_CHECK bool name_tally_init(struct name_tally *tally, struct budget *budget, struct err *err);
void name_tally_free(struct name_tally *tally);

// The number of a name. Untrusted text; anything that looks like a secret is redacted, a long one
// cut.
MUST_CHECK bool name_tally_id(struct name_tally *tally, struct str name, str_id *id,
                              struct err *err);
void name_tally_weigh(struct name_tally *tally, str_id id, double weight);
// Both at once, with a weight of 1.
MUST_CHECK bool name_tally_add(struct name_tally *tally, struct str name, struct err *err);

// How many different names there are.
int64_t name_tally_count(const struct name_tally *tally);

// Adds a text of the names with the most and their share: "forward 61 %, backward 20 %".
void name_tally_report(const struct name_tally *tally, struct figures *figures, const char *path);

#endif
