// SPDX-License-Identifier: Apache-2.0
#include "server/exports/xlsx_close.h"

#include <pthread.h>

struct closing {
    lxw_workbook *book;
    lxw_error rc;
};

static void *run_close(void *context)
{
    struct closing *closing = context;
    closing->rc = workbook_close(closing->book);
    return NULL;
}

lxw_error xlsx_close(lxw_workbook *book)
{
    struct closing closing = {.book = book};
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_close, &closing) != 0)
        return LXW_ERROR_MEMORY_MALLOC_FAILED; // with the workbook: nothing else frees one
    pthread_join(thread, NULL);
    return closing.rc;
}
