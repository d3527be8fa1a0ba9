// SPDX-License-Identifier: Apache-2.0
// Lines of tests of links: what a launcher puts before them, their words and numbers.
#ifndef INGEST_LINKS_LINK_TEXT_H
#define INGEST_LINKS_LINK_TEXT_H

#include "ingest/evidence/evidence.h"

enum { LINK_MOST_WORDS = 128 };

struct link_words {
    struct str at[LINK_MOST_WORDS];
    size_t count;
    bool more; // the line has more words
};

// Separated by blanks or tabs.
void link_split(struct str line, struct link_words *words);

// The word at that place; "" if there is none.
static inline struct str link_word(const struct link_words *words, size_t place)
{
    return place < words->count ? words->at[place] : STR("");
}

// What follows `from`, and the blanks after it.
struct str link_after(struct str text, size_t from);

// The line without what is put before it by mpirun --tag-output ("[1,0]<stdout>:") and
// --timestamp-output, srun --label ("0: "), pdsh and clush ("gpu-7: "), Ray ("(head, rank=0,
// pid=3808) "), kubectl logs --prefix ("[pod/NAME/CONTAINER] ") and
// --timestamps, in any order. *tag: the last of them but times, and those right before it, which
// say whose line it is; "" none.
struct str link_unprefixed(struct str line, struct str *tag);

// A finite number of at least 0, else NAN.
double link_number(struct str word);
// An integer of at least 0, also as "0x1b" or "1e+06"; else -1.
int64_t link_whole(struct str word);

// "all_reduce" of "build/all_reduce_perf_mpi"; "" if it is no program of nccl-tests.
struct str link_test_name(struct str word);

// Texts repeat from row to row: *kept changes only if `raw` differs from it.
MUST_CHECK bool link_keep(struct evidence *evidence, struct str raw, struct str *kept,
                          struct err *err);

// Calls with each line of a head that has the word, the last of which may be cut, until `is` holds.
bool link_any_line(struct str head, const char *word, bool (*is)(struct str line));

#endif
