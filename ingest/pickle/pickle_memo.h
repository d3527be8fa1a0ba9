// SPDX-License-Identifier: Apache-2.0
// The values that a pickle may refer to again, by number. Python numbers nearly every value and
// refers to few, so this is most of what a pickle holds: it is kept in pages, and one that equals
// the page before takes no memory.
#ifndef INGEST_PICKLE_PICKLE_MEMO_H
#define INGEST_PICKLE_PICKLE_MEMO_H

#include "ingest/pickle/pickle.h"

struct pickle_memo {
    struct budget *budget;
    pickle_value **pages; // NULL: nothing is set
    size_t page_count, page_cap;
    uint64_t set; // how many are set, which is the number of the next one
};

void pickle_memo_free(struct pickle_memo *memo);

// PICKLE_ABSENT: not set.
pickle_value pickle_memo_get(const struct pickle_memo *memo, uint64_t at);
MUST_CHECK bool pickle_memo_set(struct pickle_memo *memo, uint64_t at, pickle_value value,
                                struct err *err);

#endif
