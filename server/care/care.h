// SPDX-License-Identifier: Apache-2.0
// Looks after what is stored, on a thread of its own beside the service: checks the database and
// the files, deletes what is old, keeps the ballast, gives memory and disk space back.
#ifndef SERVER_CARE_H
#define SERVER_CARE_H

#include "server/care/intake.h"
#include "server/care/retention_plan.h"
#include "server/store/store_care.h"

struct audit;
struct care;
struct metrics;

struct care_config {
    struct intake intake;    // its jobs may be NULL
    struct metrics *metrics; // NULL: nothing is counted
    struct audit *audit;     // NULL: deletions are not noted
    uint64_t ballast_bytes;  // given back when the database cannot write; 0 none
    uint64_t min_free_bytes; // the ballast leaves it free, and the bin a quarter more
    struct retention_rules retention;
    int64_t audit_days; // entries of the audit log that are older go, at least 30; 0 never
};

// Starts the thread. Everything in the config outlives it.
MUST_CHECK struct care *care_open(const struct care_config *config, struct err *err);
void care_close(struct care *care); // waits for it; NULL is allowed

// Something was deleted: its bytes go soon. NULL is allowed.
void care_wake(struct care *care);

struct care_status {
    struct store_check check; // the last one of the database
    bool is_checking;
    bool has_ballast;
};
void care_status(struct care *care, struct care_status *status);

// The time by which something has expired. A clock that leapt ends nothing before it is believed.
int64_t care_clock_ns(struct care *care); // NULL: the time of day

// The worst that is known of what is stored: "disk" (a flush failed), "database", "files", or
// "sound". NULL is allowed: nobody looks.
const char *care_storage_word(struct care *care);

// Whether anything can be stored now, tried by writing at most once a second (see write_probe.h).
// NULL is allowed: nobody looks.
MUST_CHECK bool care_probe(struct care *care, struct err *err);

// ERR_BUSY with the reason when a restart, or a person, is needed: the disk failed, or the database
// is damaged. NULL is allowed: nobody looks.
MUST_CHECK bool care_check(struct care *care, struct err *err);

#endif
