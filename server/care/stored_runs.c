// SPDX-License-Identifier: Apache-2.0
// Stored runs with the size of their files: uploads and the traces made from them.
#include "server/care/stored_runs.h"

static uint64_t trace_bytes(struct blob_store *files, const struct stored_trace *trace)
{
    uint64_t bytes;
    struct err ignored; // not made yet, or being remade
    return blob_store_size(files, (struct blob_key){BLOB_TRACE, trace->id.at}, &bytes, &ignored)
               ? bytes
               : 0;
}

bool stored_runs_list(struct store *store, struct blob_store *files, enum stored_which which,
                      struct arena *arena, struct stored_list *list, struct err *err)
{
    size_t at = 0;
    if (!store_list_stored(store, which, arena, list, err))
        return false;
    for (size_t i = 0; i < list->trace_count; i++) {
        while (!str_equal(list->runs[at].id, list->traces[i].run_id))
            at++;
        list->runs[at].bytes += trace_bytes(files, &list->traces[i]);
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
