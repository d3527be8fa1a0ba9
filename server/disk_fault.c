// SPDX-License-Identifier: Apache-2.0
// Remembers the first flush that failed.
#include "server/disk_fault.h"

#include "ingest/base/log.h"

#include <stdio.h>

void disk_fault_set(struct disk_fault *fault, const char *what)
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&fault->state, &none, 1))
        return;
    snprintf(fault->what, sizeof fault->what, "%s", what);
    atomic_store(&fault->state, 2);
    log_error("the disk failed to keep what was written (%s): nothing more is written until a "
              "restart",
              fault->what);
}

bool disk_fault_check(const struct disk_fault *fault, struct err *err)
{
    int state = atomic_load(&fault->state);
    return state == 0 ||
           err_set(err, ERR_BUSY,
                   "the disk failed to keep what was written (%s): nothing is written until the "
                   "service is restarted",
                   state == 2 ? fault->what : "just now");
}
