// SPDX-License-Identifier: Apache-2.0
// Agents that asked lately, and captures that someone wants. Agents are known in memory only: they
// ask again. Captures are kept as a file too.
#ifndef SERVER_KNOWN_AGENTS_H
#define SERVER_KNOWN_AGENTS_H

#include "ingest/base/buf.h"
#include "ingest/base/err.h"

struct known_agents;

enum {
    AGENTS_MOST_NODES = 1024,
    AGENTS_MOST_PROCESSES = 64, // of a node
    AGENTS_MOST_CAPTURES = 32,
    AGENTS_MOST_RANKS = 16, // of a capture
    AGENTS_POLL_SECONDS = 5
};

struct known_process {
    int64_t pid, job, rank; // rank: -1 unknown
    bool is_busy;
};

struct known_node {
    char name[64];
    char owner[80];  // whose token it uses
    int64_t seen_ns; // wall clock
    struct known_process processes[AGENTS_MOST_PROCESSES];
    size_t process_count;
};

struct wanted_capture {
    char id[24], run[256], job[32]; // job: "": any
    char owner[80];                 // whose agents record it, "": anybody's
    int64_t steps, warmup, roundup;
    int64_t ranks[AGENTS_MOST_RANKS];
    size_t rank_count;  // 0: all
    bool is_automatic;  // such captures leave half of the places to people
    int64_t at_ns;      // wall clock
    int64_t offered_ns; // since when agents get it
    int64_t handed;     // nodes that got it
};

// path: of the file that keeps captures, NULL: none does. Those of a service that ran until a
// moment ago are offered again; agents that had one know its id, and do not record it twice.
MUST_CHECK struct known_agents *known_agents_new(const char *path, struct err *err);
void known_agents_free(struct known_agents *agents); // NULL is allowed

// Takes what a node says, and appends the captures for it as a JSON list. ERR_LIMIT: too many
// nodes, and no token with more of them than the node's own.
MUST_CHECK bool known_agents_poll(struct known_agents *agents, const struct known_node *node,
                                  struct buf *out, struct err *err);

// Adds a capture, which gets an id and its time and is kept; *nodes: how many have processes for it
// now. ERR_LIMIT: too many are wanted.
MUST_CHECK bool known_agents_want(struct known_agents *agents, struct wanted_capture *capture,
                                  size_t *nodes, struct err *err);

// Whether a process of the job asks the owner's agents for work now; owner "": anybody's.
bool known_agents_have(struct known_agents *agents, int64_t job, const char *owner);

// Appends nodes and captures as JSON lists.
void known_agents_nodes(struct known_agents *agents, struct buf *out);
void known_agents_captures(struct known_agents *agents, struct buf *out);

#endif
