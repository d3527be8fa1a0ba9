// SPDX-License-Identifier: Apache-2.0
// The collectives of all ranks of a run for exports: which belong together, and the clocks.
#ifndef SERVER_EVENT_COMM_H
#define SERVER_EVENT_COMM_H

#include "analysis/ranks/run_comm.h"
#include "analysis/report/rank_source.h"

#define EVENT_COMM_MOST_BYTES ((uint64_t)40 << 20)

struct event_comm {
    struct budget budget;
    struct run_comm comm;
    bool known; // false: there are too many for the memory; exports then have no flows and no
                // waits, and clocks as recorded
};

// Matches the ranks' collectives again from their tables. Pair with event_comm_free, also after a
// failure.
MUST_CHECK bool event_comm_load(struct event_comm *comm, const struct rank_source *ranks,
                                struct err *err);
void event_comm_free(struct event_comm *comm);

#endif
