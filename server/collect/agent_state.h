// SPDX-License-Identifier: Apache-2.0
// What an agent knows: the training processes of its node, and captures for them. Shared by its two
// threads; whoever calls holds the lock.
#ifndef SERVER_AGENT_STATE_H
#define SERVER_AGENT_STATE_H

#include "server/collect/fabric.h"

#include <sys/types.h>

// Every process that imports PyTorch asks, those of loaders and compilers included.
enum { AGENT_MOST_PROCESSES = 4096, AGENT_MOST_CAPTURES = 16 };

struct agent_process {
    char name[108];  // of its socket: a process has a new one
    int32_t own_pid; // as it sees itself, which is in the names of its files
    pid_t pid;       // as this agent sees it
    uid_t uid;
    int64_t job, seen_ns, rank; // rank: -1 unknown
    bool is_busy;               // recording
    bool is_worker;             // of another one that knows the same rank
    uint32_t given, started;    // captures, a bit each by their place
};

struct agent_capture {
    struct fabric_capture what;
    int64_t since_ns; // 0: a free place
};

struct agent_state {
    struct agent_process processes[AGENT_MOST_PROCESSES];
    size_t process_count;
    struct agent_capture captures[AGENT_MOST_CAPTURES];
};

// The process that sent a message, new or known; NULL: there are too many.
struct agent_process *agent_state_see(struct agent_state *state, const char *name,
                                      const struct fabric_message *message, int64_t now_ns);

// Whether the process is a worker: one with the same rank is among those that started it.
void agent_state_place(const struct agent_state *state, struct agent_process *process,
                       const struct fabric_message *message);

// Up to most of the processes: first those with a rank that are nobody's worker. Returns how many.
size_t agent_state_list(const struct agent_state *state, const struct agent_process **listed,
                        size_t most);

// Drops processes that have not asked for a minute, and captures of an hour ago.
void agent_state_age(struct agent_state *state, int64_t now_ns);

// Keeps a capture that is not known yet. False: there are too many.
bool agent_state_add(struct agent_state *state, const struct fabric_capture *capture,
                     int64_t now_ns);

// A capture that the process should get now, which counts as given; NULL: none. It is only offered
// for half a minute, so that no process starts long after the others. Until then it is given each
// time the process asks and has not started: one without a counted step yet drops it and says
// nothing, and one that waits for its step drops what comes twice. *is_first: not given before.
const struct fabric_capture *agent_state_take(struct agent_state *state,
                                              struct agent_process *process, int64_t now_ns,
                                              bool *is_first);

// Says that the process which knows itself as own_pid has started a capture: there is a file of it.
void agent_state_start(struct agent_state *state, const char *id, int32_t own_pid);

#endif
