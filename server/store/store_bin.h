// SPDX-License-Identifier: Apache-2.0
// The bin: deleted runs that can be restored. Nothing else of the store sees them. And all runs, in
// the bin or not, with what retention goes by.
#ifndef SERVER_STORE_BIN_H
#define SERVER_STORE_BIN_H

#include "server/store/store.h"

// Moves a run to the bin. Its name is free then, work on it ends, and its uploads are forgotten.
// who: who does it, "" nobody known. ERR_NOT_FOUND; ERR_CONFLICT when it has changed since the
// expected revision (or STORE_ANY), or is a baseline.
MUST_CHECK bool store_bin_run(struct store *store, struct str id, int64_t expected, struct str who,
                              struct err *err);

// Takes a run out of the bin and queues what it lacks. ERR_NOT_FOUND when it is not in there;
// ERR_CONFLICT when its project has another run of its name by now.
MUST_CHECK bool store_restore_run(struct store *store, struct str id, struct err *err);

// A run as retention sees it.
struct stored_run {
    struct str id, name, project, series, deleted_by;
    int64_t created_ns;
    int64_t since_ns;   // its age counts from then: when it was made, or restored
    int64_t deleted_ns; // 0: it is not in the bin
    int64_t revision;
    int64_t traces;
    bool is_baseline, is_busy; // busy: jobs of it wait or work
    // What its files take. A file that several runs have counts for one of them: one that is not in
    // the bin, and there the one it came to last.
    uint64_t bytes;
};

// A run that is in the bin; its bytes are not looked at. ERR_NOT_FOUND.
MUST_CHECK bool store_find_in_bin(struct store *store, struct str id, struct arena *arena,
                                  struct stored_run *run, struct err *err);

// The run that has been in the bin longest, if it came there before a time; *found false: none.
// Who deletes it for good (store_delete_run) expects its revision: it may be restored meanwhile.
MUST_CHECK bool store_next_in_bin(struct store *store, int64_t before_ns, struct arena *arena,
                                  struct stored_run *run, bool *found, struct err *err);

struct stored_trace {
    struct str run_id, id;
};

struct stored_list {
    struct stored_run *runs; // in the bin: longest there first; all: oldest since_ns first
    size_t count;
    struct stored_trace *traces; // of these runs, in their order
    size_t trace_count;
};

enum stored_which { STORED_IN_BIN, STORED_ALL };

// bytes are those of uploaded files alone: traces made of them are the caller's to add.
MUST_CHECK bool store_list_stored(struct store *store, enum stored_which which, struct arena *arena,
                                  struct stored_list *list, struct err *err);

#endif
