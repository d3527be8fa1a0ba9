// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocm/rpd_processes.h"

#include <stdlib.h>

#define PARTS_MEMORY_BYTES ((uint64_t)4 << 30)

// --- who uses which GPU -------------------------------------------------------------------------

struct first_process {
    int64_t process; // ID_NONE: none yet
    bool several;
};

static bool take_process(void *context, const struct rows *rows, struct err *err)
{
    struct first_process *first = context;
    int64_t process = rows_i64_or(rows, 0, ID_NONE);
    (void)err;
    first->several |= first->process != ID_NONE && process != first->process;
    first->process = process;
    return true;
}

struct op_walk {
    struct rpd_processes *processes;
    const struct id_table *calls_of_ops;
};

static bool take_op(void *context, const struct rows *rows, struct err *err)
{
    const struct op_walk *walk = context;
    int64_t call = id_table_value(walk->calls_of_ops, rows_i64_or(rows, 0, -1), 0);
    int64_t process = id_table_value(&walk->processes->of_calls, call, 0);
    (void)err;
    if (process != ID_NONE)
        device_users_add(&walk->processes->users, process, rows_i64_or(rows, 1, 0));
    return true;
}

bool rpd_processes_load(struct rpd_processes *processes, struct database *database,
                        const struct id_table *calls_of_ops, struct err *err)
{
    struct first_process first = {ID_NONE, false};
    struct op_walk walk = {processes, calls_of_ops};
    if (!rows_each(database, "rocpd_api", "pid", take_process, &first, err))
        return false;
    if (!first.several)
        return true;
    bool ok = id_table_load(&processes->of_calls, calls_of_ops->budget, database, "rocpd_api",
                            "id pid", err) &&
              rows_each(database, "rocpd_op", "id gpuId", take_op, &walk, err);
    device_users_sort(&processes->users);
    return ok;
}

void rpd_processes_free(struct rpd_processes *processes)
{
    id_table_free(&processes->of_calls);
}

int64_t rpd_process_of(const struct rpd_processes *processes, int64_t call, int64_t gpu)
{
    int64_t process = id_table_value(&processes->of_calls, call, 0);
    return process != ID_NONE ? process : device_users_home(&processes->users, gpu);
}

// --- parts of the file --------------------------------------------------------------------------

static bool list_parts(struct database *database, struct rpd_processes *processes,
                       struct format_parts *parts, struct err *err)
{
    struct budget budget = {.limit = PARTS_MEMORY_BYTES};
    struct id_table calls_of_ops = {.budget = &budget};
    bool ok =
        id_table_load(&calls_of_ops, &budget, database, "rocpd_api_ops", "op_id api_id", err) &&
        rpd_processes_load(processes, database, &calls_of_ops, err);
    device_users_list(&processes->users, parts);
    rpd_processes_free(processes);
    id_table_free(&calls_of_ops);
    return ok;
}

bool rpd_parts(struct source *source, struct format_parts *parts, struct err *err)
{
    struct rpd_processes *processes = calloc(1, sizeof *processes);
    struct database *database = database_open(source, NULL, err);
    bool ok = database && (processes || err_set(err, ERR_MEMORY, "out of memory")) &&
              list_parts(database, processes, parts, err);
    database_close(database);
    free(processes);
    return ok;
}
