// SPDX-License-Identifier: Apache-2.0
// Has the agents of a job that turned slow record the suspects.
#ifndef SERVER_STEP_WATCH_H
#define SERVER_STEP_WATCH_H

#include "server/agents/known_agents.h"
#include "server/steps/step_log.h"

struct step_watch {
    struct known_agents *agents;
    const char *folder; // of the run's steps
    struct str run;     // its name
    int64_t job;        // as its processes tell the agents
    const char *owner;  // whose agents may be asked, "": anybody's
};

// Looks at the newest steps, if an agent has processes of the job, at most every 20 seconds for a
// run. For a change to slower steps that it has not seen, agents are asked to record the suspects,
// and a rank that is none for comparison, as run NAME@STEP; once for each change. Whatever fails
// here leaves things as they are: the steps are kept already.
void step_watch(const struct step_watch *watch, struct arena *arena);

// Whether two steps are those of the same change: found again with more steps after it, it may move
// a little.
bool step_watch_is_same(uint64_t a, uint64_t b);

// The step and the run of the last such capture; false: there was none.
bool step_watch_last(const char *folder, uint64_t *step, char run[256]);

#endif
