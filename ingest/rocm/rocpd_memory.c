// SPDX-License-Identifier: Apache-2.0
// Memory over time of a rocpd database.
#include "ingest/rocm/rocpd.h"

#include "ingest/rocm/rocm_memory.h"

struct memory_walk {
    struct rocpd *rocpd;
    struct rocm_memory memory;
};

#define MEMORY_COLUMNS ROCPD_COMMON "agent_id type level address size"
enum { AGENT = ROCPD_FIRST, TYPE, LEVEL, ADDRESS, SIZE };

static bool take_block(void *context, const struct rows *rows, struct err *err)
{
    struct memory_walk *walk = context;
    struct rocpd *rocpd = walk->rocpd;
    struct str operation = STR(""), level = STR("");
    const struct rocm_agent *agent =
        rocm_agents_find(&rocpd->agents, rocpd_place_of(rocpd, rows, AGENT, ROCPD_TRACK_AGENT));
    (void)rows_text(rows, TYPE, &operation);
    (void)rows_text(rows, LEVEL, &level);
    struct rocm_block block = {.address = rows_i64_or(rows, ADDRESS, VALUE_ABSENT),
                               .time_ns = rocpd_time_of(rocpd, rows, ROCPD_START, ROCPD_START_ID),
                               .bytes = rows_i64_or(rows, SIZE, 0),
                               .device = agent && agent->is_gpu ? agent->device : -1};
    return str_equal(level, STR("SCRATCH")) || // of the stacks of kernels
           rocm_memory_add(&walk->memory, operation, &block, err);
}

bool rocpd_read_memory(struct rocpd *rocpd, struct err *err)
{
    struct memory_walk walk = {.rocpd = rocpd, .memory.budget = rocpd->tables.input->budget};
    char table[ROCPD_NAME_BYTES];
    bool ok = table_reader_each(&rocpd->tables, rocpd_table_of(rocpd, "memory_allocate", table),
                                MEMORY_COLUMNS, take_block, &walk, err) &&
              rocm_memory_end(&walk.memory, rocpd->builder, err);
    rocm_memory_free(&walk.memory);
    return ok;
}
