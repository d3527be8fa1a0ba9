// SPDX-License-Identifier: Apache-2.0
// The table of the service's options.
#include "server/serve_options.h"

#define AT(member) offsetof(struct serve_options, member)
static const struct option table[] = {
    {"--listen", "STEPSCOPE_LISTEN", "127.0.0.1:8080", "ADDR:PORT",
     "address to listen on; port 0 takes a free one", NULL, OPTION_TEXT, AT(listen)},
    {"--data", "STEPSCOPE_DATA", "./data", "DIR", "folder for everything that is stored", NULL,
     OPTION_TEXT, AT(data)},
    {"--job-memory", "STEPSCOPE_JOB_MEMORY", "4G", "BYTES",
     "memory that the analysis of one trace may use", NULL, OPTION_BYTES, AT(job_memory_bytes)},
    {"--jobs", "STEPSCOPE_JOBS", "0", "COUNT", "analyses at a time, 0: one per core", NULL,
     OPTION_INT, AT(jobs)},
    {"--max-upload", "STEPSCOPE_MAX_UPLOAD", "16G", "BYTES", "largest upload taken", NULL,
     OPTION_BYTES, AT(max_upload_bytes)},
    {"--min-free", "STEPSCOPE_MIN_FREE", "1G", "BYTES",
     "disk space that uploads leave free, for results and for the system", NULL, OPTION_BYTES,
     AT(min_free_bytes)},
    {"--uploads-in-flight", "STEPSCOPE_UPLOADS_IN_FLIGHT", "128", "COUNT",
     "uploads received at a time; more are told to come back", NULL, OPTION_INT,
     AT(uploads_in_flight)},
    {"--queue", "STEPSCOPE_QUEUE", "10000", "COUNT",
     "analyses that may wait, 0: any number; uploads beyond come back later", NULL, OPTION_INT,
     AT(queue_limit)},
    {"--public-url", "STEPSCOPE_PUBLIC_URL", NULL, "URL",
     "what links begin with when a proxy stands in front", NULL, OPTION_TEXT, AT(public_url)},
    {"--web-dir", "STEPSCOPE_WEB_DIR", NULL, "DIR",
     "serve the dashboard from this folder instead of the built-in one", NULL, OPTION_TEXT,
     AT(web_dir)},
    {"--peaks", "STEPSCOPE_PEAKS", NULL, "FILE",
     "peaks of devices that go before those built in, in the form of analysis/peaks.tsv", NULL,
     OPTION_TEXT, AT(peaks_path)},
};
const struct option_set serve_option_set = {
    "serve", "Receives traces, analyses them and shows the results, until SIGTERM or SIGINT.", NULL,
    table, sizeof table / sizeof *table};
