// SPDX-License-Identifier: Apache-2.0
// Whether anything can be stored, which only writing can show.
#ifndef SERVER_WRITE_PROBE_H
#define SERVER_WRITE_PROBE_H

#include "server/care/intake.h"

#include <pthread.h>

struct write_probe {
    pthread_mutex_t lock; // guards what follows
    int64_t tried_ns;     // monotonic, 0 never
    bool ok;
    struct err err; // why not
};

void write_probe_init(struct write_probe *probe);
void write_probe_destroy(struct write_probe *probe);

// Writes, syncs and removes a small file in each folder, and a row. Callers within a second get the
// last answer. Fails like an upload: ERR_SPACE, ERR_IO, ERR_BUSY.
MUST_CHECK bool write_probe_try(struct write_probe *probe, const struct intake *intake,
                                struct err *err);

#endif
