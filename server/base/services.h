// SPDX-License-Identifier: Apache-2.0
// The parts of the service that a request can use. Forward declarations only: users include the
// header of what they use, which is in a room above this one.
#ifndef SERVER_SERVICES_H
#define SERVER_SERVICES_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct access;
struct known_agents;
struct known_answers;
struct audit;
struct connections;
struct export_spool;
struct hooks;
struct intake;
struct metrics;
struct quota;
struct replays;
struct reply_room;
struct request;
struct retention_rules;

struct services {
    const struct intake *intake;
    struct metrics *metrics;     // NULL: nothing is counted
    struct access *access;       // NULL: nobody is asked who they are
    struct quota *quota;         // NULL: no limits
    struct audit *audit;         // NULL: nothing is logged
    struct known_agents *agents; // NULL: none may come
    struct replays *replays;     // for what-if
    struct hooks *hooks;         // NULL: nothing is announced
    struct export_spool *spool;  // of exports read in ranges; NULL: they are always sent whole
    const char *public_url;      // NULL: links use the request's Host
    const char *web_dir;         // NULL: built-in dashboard
    // Whether what a page asks for first would be refused; NULL: it is never known.
    bool (*lacks_data)(struct request *request);
    const char *standalone_dir; // of the page that analyzes in the browser; NULL: not served
    uint64_t max_upload_bytes;
    uint64_t min_free_bytes; // with less disk space, uploads are refused and /readyz fails
    const struct retention_rules *retention;
    unsigned uploads_in_flight; // at most
    uint64_t queue_limit;       // most jobs queued or running before uploads are refused; 0: no
                                // limit
    int64_t resume_ns;          // how long a resumable upload waits for its next byte

    // Set by the HTTP server:
    atomic_uint *uploads;    // now in progress
    atomic_bool *draining;   // the service is about to stop
    struct reply_room *room; // of large answers
    struct connections *connections;
    struct known_answers *known_answers;
    sem_t *comparing; // turns for comparing runs, which takes memory for all their tables
};

#endif
