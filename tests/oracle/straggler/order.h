// SPDX-License-Identifier: Apache-2.0
// What waits for what in a step of a job: the paper's dependency model. It is read off the first
// data rank's first step and is the same for all.
#ifndef TESTS_ORACLE_ORDER_H
#define TESTS_ORACLE_ORDER_H

#include "analysis/replay/replay.h"
#include "tests/oracle/straggler/job.h"

// Operations that communicate with each other start their transfer together.
struct order {
    uint32_t *group; // per operation, JOB_NONE unless it communicates
    uint32_t group_count;
    bool *all_data_ranks; // per group: the data ranks take part in one, not in one each
    struct replay_graph graph;
};

// Operation o of data rank d is node d * op_count + o; what comes after these takes no time.
static inline uint32_t order_node(const struct job *job, uint32_t data_rank, uint32_t op)
{
    return data_rank * job->op_count + op;
}

// In the job's arena. ERR_FORMAT for a job that the model does not cover.
MUST_CHECK bool order_make(const struct job *job, struct order *order, struct err *err);

#endif
