// SPDX-License-Identifier: Apache-2.0
// Stored runs with the size of their files: uploads and the traces made from them.
#include "server/care/stored_runs.h"

#include "server/files/blob.h"

#include <sys/stat.h>

static uint64_t trace_bytes(const char *data_dir, const struct stored_trace *trace)
{
    char path[BLOB_PATH_SIZE];
    struct stat info;
    blob_trace_path_in(data_dir, trace->id.at, path);
    return stat(path, &info) == 0 ? (uint64_t)info.st_size : 0; // not made yet, or being remade
}

bool stored_runs_list(struct store *store, const char *data_dir, enum stored_which which,
                      struct arena *arena, struct stored_list *list, struct err *err)
{
    size_t at = 0;
    if (!store_list_stored(store, which, arena, list, err))
        return false;
    for (size_t i = 0; i < list->trace_count; i++) {
        while (!str_equal(list->runs[at].id, list->traces[i].run_id))
            at++;
        list->runs[at].bytes += trace_bytes(data_dir, &list->traces[i]);
    }
    return true;
}

uint64_t stored_runs_bytes(const struct stored_list *list)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < list->count; i++)
        bytes += list->runs[i].bytes;
    return bytes;
}
