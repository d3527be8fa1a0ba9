// SPDX-License-Identifier: Apache-2.0
// What can be chosen when the service starts.
#ifndef SERVER_SERVE_OPTIONS_H
#define SERVER_SERVE_OPTIONS_H

#include "server/options.h"

struct serve_options {
    const char *listen, *data, *public_url, *web_dir, *peaks_path;
    uint64_t job_memory_bytes, max_upload_bytes, min_free_bytes;
    int64_t uploads_in_flight, queue_limit, jobs;
};

extern const struct option_set serve_option_set;

#endif
