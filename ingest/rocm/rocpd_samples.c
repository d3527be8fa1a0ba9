// SPDX-License-Identifier: Apache-2.0
// Memory over time and counters of a rocpd database.
#include "ingest/rocm/rocpd.h"

#include "ingest/trace/event_record.h"

#include <stdlib.h>

// --- memory -------------------------------------------------------------------------------------

struct step {
    int64_t address, time_ns, bytes; // bytes 0: a release, whose size is that of its allocation
    int32_t device;
};

struct steps {
    struct rocpd *rocpd;
    struct step *at;
    size_t count, cap;
};

#define MEMORY_COLUMNS ROCPD_COMMON "agent_id type level address size"
enum { AGENT = ROCPD_FIRST, TYPE, LEVEL, ADDRESS, SIZE };

static bool is_word(const struct rows *rows, unsigned column, const char *word)
{
    struct str text;
    return rows_text(rows, column, &text) && str_equal(text, str_of(word));
}

// Real memory of GPUs: what a framework's allocator takes from the driver.
static bool take_step(void *context, const struct rows *rows, struct err *err)
{
    struct steps *steps = context;
    struct rocpd *rocpd = steps->rocpd;
    const struct rocpd_agent *agent =
        rocpd_agent_of(rocpd, rocpd_place_of(rocpd, rows, AGENT, ROCPD_TRACK_AGENT));
    bool takes = is_word(rows, TYPE, "ALLOC"), gives = is_word(rows, TYPE, "FREE");
    struct step step = {.address = rows_i64_or(rows, ADDRESS, 0),
                        .time_ns = rocpd_time_of(rocpd, rows, ROCPD_START, ROCPD_START_ID),
                        .bytes = takes ? rows_i64_or(rows, SIZE, 0) : 0,
                        .device = agent ? (int32_t)agent->device : 0};
    bool is_known = agent && agent->is_gpu && agent->device >= 0 && agent->device <= INT32_MAX;
    if ((!takes && !gives) || !is_word(rows, LEVEL, "REAL") || (takes && step.bytes <= 0) ||
        step.time_ns == ID_NONE || (takes && !is_known))
        return true;
    struct step *at = budget_room(rocpd->tables.input->budget, steps->at, &steps->cap,
                                  steps->count + 1, sizeof *at, err);
    if (!at)
        return false;
    steps->at = at;
    at[steps->count++] = step;
    return true;
}

static int by_address(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static bool add_step(struct rocpd *rocpd, const struct step *step, struct err *err)
{
    enum { GPU = 1 }; // as PyTorch calls them on ROCm, too
    struct event_record record = event_record_of(EVENT_ALLOCATION);
    if (!event_record_times(rocpd->builder, &record, step->time_ns, step->time_ns, ERR_NO_POS))
        return true;
    record.memory.address = step->address;
    record.memory.bytes = step->bytes;
    record.memory.device_type = GPU;
    record.memory.device = step->device;
    return trace_builder_text(rocpd->builder, STR("[memory]"), ERR_NO_POS, &record.name, err) &&
           trace_builder_add(rocpd->builder, &record, err);
}

// A release follows its allocation; one from before the recording has no size.
static bool add_steps(struct steps *steps, struct err *err)
{
    const struct step *taken = NULL;
    if (steps->count)
        qsort(steps->at, steps->count, sizeof *steps->at, by_address);
    for (size_t i = 0; i < steps->count; i++) {
        struct step step = steps->at[i];
        bool gives = step.bytes == 0;
        bool is_its = taken && taken->address == step.address;
        if (gives && !is_its)
            continue;
        step.bytes = gives ? -taken->bytes : step.bytes;
        step.device = gives ? taken->device : step.device;
        taken = gives ? NULL : &steps->at[i];
        if (!add_step(steps->rocpd, &step, err))
            return false;
    }
    return true;
}

bool rocpd_read_memory(struct rocpd *rocpd, struct err *err)
{
    struct steps steps = {.rocpd = rocpd};
    char table[ROCPD_NAME_BYTES];
    bool ok = table_reader_each(&rocpd->tables, rocpd_table_of(rocpd, "memory_allocate", table),
                                MEMORY_COLUMNS, take_step, &steps, err) &&
              add_steps(&steps, err);
    budget_free(rocpd->tables.input->budget, steps.at, steps.cap * sizeof *steps.at);
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
};

static int64_t time_in(const struct rocpd *rocpd, const struct id_row *row)
{
    if (row->value[OF_TIME] != ID_NONE)
        return row->value[OF_TIME];
    return id_table_value(&rocpd->times, row->value[OF_TIME_ID], 0);
}

// A sampled value, or one of a kernel, which holds from its start on.
static bool take_value(void *context, const struct rows *rows, struct err *err)
{
    struct counting *all = context;
    struct rocpd *rocpd = all->rocpd;
    int64_t event = rows_i64_or(rows, EVENT, -1), id = rows_i64_or(rows, COUNTER, -1);
    const struct id_row *sample = id_table_find(&all->samples, event);
    const struct id_row *kernel = sample ? NULL : id_table_find(&all->kernels, event);
    int64_t agent_id = id_table_value(&all->counters, id, OF_AGENT);
    if (agent_id == ID_NONE && kernel)
        agent_id = kernel->value[KERNEL_AGENT];
    const struct rocpd_agent *agent = rocpd_agent_of(rocpd, agent_id);
    struct counter_record record = {.pid.number = agent ? agent->device : 0};
    if ((!sample && !kernel) || !rows_f64(rows, VALUE, &record.value))
        return true;
    record.time_ns = time_in(rocpd, sample ? sample : kernel);
    if (record.time_ns < 0 || record.time_ns >= TRACE_MAX_NS)
        return true;
    return text_table_intern(&all->names, rocpd->builder, id, &record.name, err) &&
           trace_builder_count(rocpd->builder, &record, err);
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
                             VALUE_COLUMNS, take_value, all, err);
}

// Loads nothing if there are no counters: the table of kernels may be long.
bool rocpd_read_counters(struct rocpd *rocpd, struct err *err)
{
    struct counting all = {.rocpd = rocpd};
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
    return ok;
}
