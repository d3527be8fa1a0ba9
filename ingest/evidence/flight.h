// SPDX-License-Identifier: Apache-2.0
// What a rank's Flight Recorder still had when it was dumped: the process groups, how far each had
// come, and the latest operations. Nothing in the file is trusted: sequence numbers and ranks may
// be any, and groups may have members that do not exist.
#ifndef INGEST_EVIDENCE_FLIGHT_H
#define INGEST_EVIDENCE_FLIGHT_H

#include "ingest/trace/strtab.h"

struct evidence;
struct figures;

#define FLIGHT_UNKNOWN INT64_MIN // a number that the dump does not have

enum flight_state {
    FLIGHT_SCHEDULED, // by the host; without timing, it stays so while the GPU runs it
    FLIGHT_STARTED,
    FLIGHT_COMPLETED,
    FLIGHT_OTHER,
    FLIGHT_STATES
};
extern const char *const flight_state_words[FLIGHT_STATES];

struct flight_group {
    str_id name;                          // a counter, or a hash, of the rank's own
    str_id desc;                          // "TENSOR_MODEL_PARALLEL_GROUP"
    str_id ranks;                         // "[0, 1]", for flight_next_rank; 0: not listed
    int64_t id;                           // of the rank's own; FLIGHT_UNKNOWN
    int64_t enqueued, started, completed; // last sequence numbers, of collectives and
                                          // point-to-point operations alike; FLIGHT_UNKNOWN
};

// The tensors on one side of an operation.
struct flight_tensors {
    str_id sizes;     // "[[4096, 1, 5120]]", perhaps cut
    str_id dtypes;    // "BFloat16, Long"
    int64_t elements; // of all of them; saturated; FLIGHT_UNKNOWN
};

struct flight_entry {
    str_id group_name, group_desc;
    uint32_t group;   // its place in groups; set by flight_finish
    int64_t group_id; // FLIGHT_UNKNOWN
    int64_t collective_seq, p2p_seq;
    bool is_p2p, retired;
    enum flight_state state;
    str_id op; // "nccl:all_reduce"
    struct flight_tensors input, output;
    int64_t created_ns, started_ns, completed_ns; // Unix time of the rank's host
    int64_t timeout_ms;
    str_id frames; // the innermost calls of the user's code: "step (train.py:88)"
};

// Entries that are not here, where only a part was kept.
struct flight_left {
    int64_t entries, unfinished, unfinished_p2p; // unfinished: collectives
};

// Empty unless the file is a dump.
struct flight {
    int64_t rank; // by the name of the file; -1 unknown
    str_id version, nccl_version;
    struct strtab texts; // fit to be stored
    struct flight_group *groups;
    size_t group_count, group_cap;
    struct flight_entry *entries; // in the order of the dump
    size_t entry_count, entry_cap;
    struct flight_left left;
};

void flight_free(struct flight *flight, struct budget *budget);

// Whether a dump was read, even an empty one.
static inline bool flight_is_known(const struct flight *flight)
{
    return flight->texts.slots;
}

// The number that ends the name of a dump, "_dump_3" or "trace_rank_12.json.gz", which is its only
// mark of the rank; -1 if there is none.
int64_t flight_rank_of_name(struct str filename);

// Steps through a list of ranks as a dump writes it; false at the end, and at anything that is not
// a rank.
bool flight_next_rank(struct str *list, int64_t *rank);

// --- filling ------------------------------------------------------------------------------------

// ERR_LIMIT past the budget, as all below.
MUST_CHECK bool flight_start(struct evidence *evidence, struct str filename, struct err *err);
// A text of the dump as kept: valid UTF-8, without secrets, cut at 1 KiB.
MUST_CHECK bool flight_text(struct evidence *evidence, struct str raw, str_id *id, struct err *err);
// A list of ranks, which is kept whole; one of more than 1 MiB, or of anything else, is none.
MUST_CHECK bool flight_ranks(struct evidence *evidence, struct str raw, str_id *id,
                             struct err *err);
MUST_CHECK bool flight_add_group(struct evidence *evidence, const struct flight_group *group,
                                 struct err *err);
MUST_CHECK bool flight_add_entry(struct evidence *evidence, const struct flight_entry *entry,
                                 struct err *err);

// How far a group has come, by its id.
struct flight_status {
    int64_t id, enqueued, started, completed;
};
// Links entries to groups, and each status to its group: the dump does not say which that is
// unless an entry does, but ids and names both count the groups of a rank in the order in which
// they were made. What was coalesced has the state of its end. What gloo retired is finished, but
// for the last collective of a group.
MUST_CHECK bool flight_finish(struct evidence *evidence, struct flight_status *statuses,
                              size_t count, struct err *err);

// Gloo leaves every operation "scheduled", and retires it when it ends or is given up.
bool flight_keeps_no_states(const struct flight *flight, const struct flight_entry *entry);

void flight_report(const struct flight *flight, struct figures *figures);

#endif
