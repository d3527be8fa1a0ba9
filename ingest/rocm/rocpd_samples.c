// SPDX-License-Identifier: Apache-2.0
// Memory over time and counters of a rocpd database.
#include "ingest/rocm/rocpd.h"

#include "ingest/rocm/rocm_counts.h"
#include "ingest/rocm/rocm_memory.h"

// --- memory -------------------------------------------------------------------------------------

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
    const struct rocpd_agent *agent =
        rocpd_agent_of(rocpd, rocpd_place_of(rocpd, rows, AGENT, ROCPD_TRACK_AGENT));
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

// --- counters -----------------------------------------------------------------------------------

#define VALUE_COLUMNS "event_id pmc_id value"
enum { EVENT, COUNTER, VALUE };

enum { OF_AGENT };                                  // of counters
enum { OF_TIME, OF_TIME_ID };                       // of samples
enum { KERNEL_TIME, KERNEL_TIME_ID, KERNEL_AGENT }; // of kernels

struct counting {
    struct rocpd *rocpd;
    struct text_table names;
    struct id_table counters; // agent
    struct id_table samples, kernels;
    struct rocm_counts counts; // of this event and agent
    int64_t event, agent;
};

// When an event was: a sample, or a kernel, whose values hold from its start on. ID_NONE: never.
static int64_t time_of(const struct counting *all, int64_t event)
{
    const struct id_row *row = id_table_find(&all->samples, event);
    row = row ? row : id_table_find(&all->kernels, event);
    if (!row || row->value[OF_TIME] != ID_NONE)
        return row ? row->value[OF_TIME] : ID_NONE;
    return id_table_value(&all->rocpd->times, row->value[OF_TIME_ID], 0);
}

// A counter that several GPUs have is listed with the first of them only.
static int64_t agent_of(const struct counting *all, int64_t event, int64_t counter)
{
    int64_t of_kernel = id_table_value(&all->kernels, event, KERNEL_AGENT);
    return of_kernel != ID_NONE ? of_kernel : id_table_value(&all->counters, counter, OF_AGENT);
}

static bool end_event(struct counting *all, struct err *err)
{
    const struct rocpd_agent *agent = rocpd_agent_of(all->rocpd, all->agent);
    struct counter_record when = {.pid.number = agent ? agent->device : 0,
                                  .time_ns = time_of(all, all->event)};
    if (when.time_ns < 0)
        all->counts.count = 0;
    return rocm_counts_end(&all->counts, &all->names, all->rocpd->builder, &when, err);
}

static bool take_value(void *context, const struct rows *rows, struct err *err)
{
    struct counting *all = context;
    double value;
    int64_t event = rows_i64_or(rows, EVENT, -1), counter = rows_i64_or(rows, COUNTER, -1);
    int64_t agent = agent_of(all, event, counter);
    if ((event != all->event || agent != all->agent) && !end_event(all, err))
        return false;
    all->event = event;
    all->agent = agent;
    return !rows_f64(rows, VALUE, &value) || rocm_counts_add(&all->counts, counter, value, err);
}

static bool note_any(void *context, const struct rows *rows, struct err *err)
{
    (void)rows;
    (void)err;
    *(bool *)context = true;
    return true;
}

static bool read_values(struct counting *all, struct err *err)
{
    struct rocpd *rocpd = all->rocpd;
    char table[ROCPD_NAME_BYTES];
    return rocpd_load_texts(rocpd, &all->names, "info_pmc", "id name", err) &&
           rocpd_load_ids(rocpd, &all->counters, "info_pmc", "id agent_id", err) &&
           rocpd_load_ids(rocpd, &all->samples, "sample", "event_id timestamp timestamp_id", err) &&
           rocpd_load_ids(rocpd, &all->kernels, "kernel_dispatch",
                          "event_id start start_id agent_id", err) &&
           table_reader_each(&rocpd->tables, rocpd_table_of(rocpd, "pmc_event", table),
                             VALUE_COLUMNS, take_value, all, err) &&
           end_event(all, err);
}

// Loads nothing if there are no counters: the table of kernels may be long.
bool rocpd_read_counters(struct rocpd *rocpd, struct err *err)
{
    struct counting all = {.rocpd = rocpd, .counts.budget = rocpd->tables.input->budget};
    char table[ROCPD_NAME_BYTES];
    bool any = false;
    if (!rows_each(rocpd->tables.database, rocpd_table_of(rocpd, "info_pmc", table), "id", note_any,
                   &any, err))
        return false;
    bool ok = !any || read_values(&all, err);
    text_table_free(&all.names);
    id_table_free(&all.counters);
    id_table_free(&all.samples);
    id_table_free(&all.kernels);
    rocm_counts_free(&all.counts);
    return ok;
}
