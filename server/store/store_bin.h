// SPDX-License-Identifier: Apache-2.0
// The bin: deleted runs that can be restored. Nothing else in the store sees them. Also lists all
// runs, in the bin or not, with the fields retention decides by.
#ifndef SERVER_STORE_BIN_H
#define SERVER_STORE_BIN_H

#include "server/store/store.h"

// Moves a run to the bin. Its name becomes free, work on it ends, and its uploads are forgotten.
// who: who does it, "" unknown. ERR_NOT_FOUND; ERR_CONFLICT if it has changed since the expected
// revision (or STORE_ANY), or is a baseline.
MUST_CHECK bool store_bin_run(struct store *store, struct str id, int64_t expected, struct str who,
                              struct err *err);

// Takes a run out of the bin and queues what it lacks. ERR_NOT_FOUND if it is not in the bin;
// ERR_CONFLICT if its project has another run with its name by now.
MUST_CHECK bool store_restore_run(struct store *store, struct str id, struct err *err);

// A run as retention sees it.
struct stored_run {
    struct str id, name, project, series, deleted_by;
    int64_t created_ns;
    int64_t since_ns;   // its age counts from here: when it was created or restored
    int64_t deleted_ns; // 0: it is not in the bin
    int64_t revision;
    int64_t traces;
    bool is_baseline, is_busy; // busy: jobs of it are queued or running
    // Size of its files. A file that several runs share counts for one of them: one that is not in
    // the bin, and among those the one it was uploaded to last.
    uint64_t bytes;
};

// A run that is in the bin; its bytes are not computed. ERR_NOT_FOUND.
MUST_CHECK bool store_find_in_bin(struct store *store, struct str id, struct arena *arena,
                                  struct stored_run *run, struct err *err);

// The run that has been in the bin longest, if it was deleted before a given time; *found false:
// none.
// Whoever deletes it for good (store_delete_run) passes its revision: it may be restored meanwhile.
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

// bytes counts uploaded files only; the caller adds the traces made from them.
MUST_CHECK bool store_list_stored(struct store *store, enum stored_which which, struct arena *arena,
                                  struct stored_list *list, struct err *err);
// Of series that have a run from before a time, without bytes and without the bin: only among
// these may one be too old.
MUST_CHECK bool store_list_old(struct store *store, int64_t before_ns, struct arena *arena,
                               struct stored_list *list, struct err *err);

#endif
