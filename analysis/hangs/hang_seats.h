// SPDX-License-Identifier: Apache-2.0
// The dumps of all ranks side by side: which process groups are the same on several ranks, and how
// far each rank has come in each.
#ifndef ANALYSIS_HANGS_HANG_SEATS_H
#define ANALYSIS_HANGS_HANG_SEATS_H

#include "ingest/base/arena.h"
#include "ingest/evidence/flight.h"
#include "ingest/trace/record_set.h"

#define HANG_NO_SEQ INT64_C(-1)

// A rank's place in a process group. Only collectives count: a send or receive that is unfinished
// says who waits, not who is late.
struct hang_seat {
    uint32_t dump, group;
    int64_t unfinished;               // sequence number of the first unfinished; HANG_NO_SEQ
    int64_t entered;                  // of the last one entered; HANG_NO_SEQ: none
    bool known;                       // the dump says what it entered
    const struct flight_entry *first; // the first unfinished
    const struct flight_entry *here;  // what the rank called at the group's lowest unfinished
};

struct hang_dump {
    const struct flight *flight;
    size_t first_seat;                      // of as many as it has groups
    int64_t collectives, p2p;               // that are unfinished
    const struct flight_entry *oldest;      // of its unfinished collectives
    const struct flight_entry *oldest_p2p;  // of its unfinished sends and receives
    const struct flight_entry *last_finish; // of its finished collectives
    int64_t behind_in, weakly_behind_in, absent_in, waits_in; // groups
    bool awaited; // a peer waits for it in a send or receive
};

struct hang_group {
    struct str desc, ranks;   // of some dump
    struct hang_seat **seats; // by rank, at most one of each
    size_t seat_count;
    int64_t *members; // ascending; NULL: not looked at, or nobody waits
    size_t member_count;
    int64_t lowest;                 // of what its seats have unfinished; HANG_NO_SEQ
    int64_t furthest;               // that a seat has entered; HANG_NO_SEQ
    bool p2p;                       // sends and receives count in its status, too
    const struct flight_entry *op;  // the lowest unfinished
    const struct flight *op_flight; // whose texts it has
};

// Everything lives in the arena.
struct hang_job {
    struct arena *arena;
    struct hang_dump *dumps; // by rank; of several of a rank the first
    size_t dump_count;
    bool *used; // of each dump that was given: it is among these
    struct hang_seat *seats;
    size_t seat_count;
    const void **voted; // of each seat: the case that it voted on last (hang_judge.c)
    struct hang_group *groups;
    size_t group_count;
};

static inline bool hang_is_unfinished(const struct flight_entry *entry)
{
    return entry->state != FLIGHT_COMPLETED;
}

// Larger numbers come from damaged dumps.
#define HANG_MOST_SEQ (INT64_MAX / 4)

// Whether it is known which collective of its group it is.
static inline bool hang_has_seq(const struct flight_entry *entry)
{
    return entry->collective_seq >= 0 && entry->collective_seq <= HANG_MOST_SEQ;
}

// Its timeout; -1 unknown.
static inline int64_t hang_timeout_ns(const struct flight_entry *entry)
{
    bool known = entry->timeout_ms >= 0 && entry->timeout_ms < INT64_MAX / 1000000;
    return known ? entry->timeout_ms * 1000000 : -1;
}

// Dumps without a rank are left out. ERR_LIMIT past the arena's budget.
MUST_CHECK bool hang_job_make(const struct flight *const *dumps, size_t count, struct arena *arena,
                              struct hang_job *job, struct err *err);

// The same without what depends on other dumps: `here` and the members of groups.
MUST_CHECK bool hang_job_place(const struct flight *const *dumps, size_t count, struct arena *arena,
                               struct hang_job *job, struct err *err);

// The dump of a rank; NULL: none.
struct hang_dump *hang_find_dump(const struct hang_job *job, int64_t rank);

// Sorts ranks and drops those that are there twice; how many are left.
size_t hang_sort_ranks(int64_t *ranks, size_t count);

static inline int64_t hang_rank(const struct hang_job *job, const struct hang_seat *seat)
{
    return job->dumps[seat->dump].flight->rank;
}

static inline struct str hang_text(const struct flight *flight, str_id id)
{
    return strtab_get(&flight->texts, id);
}

#endif
