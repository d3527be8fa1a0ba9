// SPDX-License-Identifier: Apache-2.0
// Looks after stored data on a separate thread: checks the database and the files, deletes what is
// old, maintains the ballast, gives back memory and disk space.
#ifndef SERVER_CARE_H
#define SERVER_CARE_H

#include "server/care/intake.h"
#include "server/care/retention_plan.h"
#include "server/store/store_care.h"

struct audit;
struct care;
struct export_spool;
struct metrics;

struct care_config {
    struct intake intake;       // its jobs may be NULL
    struct metrics *metrics;    // NULL: nothing is counted
    struct audit *audit;        // NULL: deletions are not logged
    struct export_spool *spool; // NULL: there is none
    uint64_t ballast_bytes;     // released when the database cannot write; 0 none
    uint64_t min_free_bytes;    // kept free by the ballast; the bin keeps a quarter more
    struct retention_rules retention;
    int64_t audit_days; // older audit entries are deleted, at least 30; 0 never
    bool crashed;       // the previous process, which may have left traces of what it deleted
    bool has_files;     // stored files are on this service's own disk
};

// Of several services, the one that has stored files on its own disk.
#define CARE_FILES_ROLE "files"

// Starts the thread. Everything in the config must outlive it.
MUST_CHECK struct care *care_open(const struct care_config *config, struct err *err);
void care_close(struct care *care); // waits for it; NULL is allowed

// Something was deleted: its bytes will go soon. NULL is allowed.
void care_wake(struct care *care);

struct care_status {
    struct store_check check; // last check of the database
    bool is_checking;
    bool has_ballast;
};
void care_status(struct care *care, struct care_status *status);

// The time used to decide what has expired. A clock that jumped expires nothing before it is
// trusted.
int64_t care_clock_ns(struct care *care); // NULL: the time of day

// The worst known state of stored data: "disk" (a flush failed), "database", "files", or "sound".
// NULL is allowed: nothing is checked.
const char *care_storage_word(struct care *care);

// Whether anything can be stored now, tested by writing at most once a second (see write_probe.h).
// NULL is allowed: nothing is checked.
MUST_CHECK bool care_probe(struct care *care, struct err *err);

// ERR_BUSY with the reason if a restart, or a person, is needed: the disk failed, or the database
// is damaged. NULL is allowed: nothing is checked.
MUST_CHECK bool care_check(struct care *care, struct err *err);

#endif
