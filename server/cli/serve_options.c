// SPDX-License-Identifier: Apache-2.0
// The table of the service's options.
#include "server/cli/serve_options.h"

#include "ingest/base/log.h"
#include "server/cli/retention_options.h"

#define AT(member) offsetof(struct serve_options, member)
static const struct option table[] = {
    {"--listen", "STEPSCOPE_LISTEN", "127.0.0.1:8080", "ADDR:PORT",
     "address to listen on; port 0 takes a free one", NULL, OPTION_TEXT, AT(listen)},
    {"--data", "STEPSCOPE_DATA", "./data", "DIR", "folder for everything that is stored", NULL,
     OPTION_TEXT, AT(data)},
    {"--job-memory", "STEPSCOPE_JOB_MEMORY", "4G", "BYTES",
     "memory that the analysis of one trace may use", NULL, OPTION_BYTES, AT(job_memory_bytes)},
    {"--max-tables", "STEPSCOPE_MAX_TABLES", "1G", "BYTES",
     "most that the tables of a trace or a run take; beyond it the last rows are left out, and the "
     "trust report says so; 0: any",
     NULL, OPTION_BYTES, AT(max_tables_bytes)},
    {"--job-time", "STEPSCOPE_JOB_TIME", "0", "SECONDS",
     "time that the analysis of one trace may take, 0: five minutes and more for large files", NULL,
     OPTION_INT, AT(job_seconds)},
    {"--jobs", "STEPSCOPE_JOBS", "0", "COUNT", "analyses at a time, 0: one per core", NULL,
     OPTION_INT, AT(jobs)},
    {"--max-upload", "STEPSCOPE_MAX_UPLOAD", "16G", "BYTES", "largest upload taken", NULL,
     OPTION_BYTES, AT(max_upload_bytes)},
    {"--min-free", "STEPSCOPE_MIN_FREE", "1G", "BYTES",
     "disk space that uploads leave free, for results and for the system", NULL, OPTION_BYTES,
     AT(min_free_bytes)},
    {"--connections", "STEPSCOPE_CONNECTIONS", "1100", "COUNT",
     "connections served at a time; each has a thread", NULL, OPTION_INT, AT(connections)},
    {"--per-client", "STEPSCOPE_PER_CLIENT", "512", "COUNT",
     "of these, connections of one address and requests of one address or token; half at most",
     NULL, OPTION_INT, AT(per_client)},
    {"--uploads-in-flight", "STEPSCOPE_UPLOADS_IN_FLIGHT", "128", "COUNT",
     "uploads received at a time; more are told to come back", NULL, OPTION_INT,
     AT(uploads_in_flight)},
    {"--queue", "STEPSCOPE_QUEUE", "10000", "COUNT",
     "analyses that may wait, 0: any number; uploads beyond come back later", NULL, OPTION_INT,
     AT(queue_limit)},
    {"--resume-hours", "STEPSCOPE_RESUME_HOURS", "24", "HOURS",
     "how long an upload in pieces may be gone on with after its last byte", NULL, OPTION_INT,
     AT(resume_hours)},
    {"--auth", "STEPSCOPE_AUTH", "auto", NULL,
     "whether requests need a token: auto asks for one unless only this machine can reach us",
     "auto|required|off", OPTION_CHOICE, AT(auth)},
    {"--trusted-proxy", "STEPSCOPE_TRUSTED_PROXY", NULL, "ADDR,...",
     "addresses, or ADDR/BITS, of proxies that are believed who a user is and where from; "
     "127.0.0.1 "
     "believes everybody who has an account on this machine",
     NULL, OPTION_TEXT, AT(trusted_proxies)},
    {"--proxy-user-header", "STEPSCOPE_PROXY_USER_HEADER", "X-Forwarded-User", "NAME",
     "header in which such a proxy names the user; it must replace what clients send", NULL,
     OPTION_TEXT, AT(proxy_user_header)},
    {"--proxy-admins", "STEPSCOPE_PROXY_ADMINS", NULL, "USER,...",
     "users of the proxy that may delete runs and manage tokens", NULL, OPTION_TEXT,
     AT(proxy_admins)},
    {"--quota-day", "STEPSCOPE_QUOTA_DAY", "0", "BYTES",
     "most that one token uploads a day, unless it has a limit of its own; 0: no limit", NULL,
     OPTION_BYTES, AT(quota_day_bytes)},
    {"--quota-stored", "STEPSCOPE_QUOTA_STORED", "0", "BYTES",
     "most that one token has stored, likewise", NULL, OPTION_BYTES, AT(quota_stored_bytes)},
    {"--quota-in-flight", "STEPSCOPE_QUOTA_IN_FLIGHT", "0", "COUNT",
     "most uploads of one token at a time, likewise", NULL, OPTION_INT, AT(quota_in_flight)},
    {"--ballast", "STEPSCOPE_BALLAST", "64M", "BYTES",
     "disk space that is kept back, so that deletions can be written on a full disk", NULL,
     OPTION_BYTES, AT(ballast_bytes)},
    RETENTION_OPTIONS(AT(retention)),
    {"--audit-days", "STEPSCOPE_AUDIT_DAYS", "400", "DAYS",
     "forget entries of the audit log that are older, 30 at least; 0: keep them", NULL, OPTION_INT,
     AT(audit_days)},
    {"--audit-log-size", "STEPSCOPE_AUDIT_LOG_SIZE", "32M", "BYTES",
     "size at which audit.log is put aside as audit.log.1; 0: never", NULL, OPTION_BYTES,
     AT(audit_log_bytes)},
    {"--audit-log-files", "STEPSCOPE_AUDIT_LOG_FILES", "8", "COUNT",
     "files put aside that stay; older ones are removed", NULL, OPTION_INT, AT(audit_log_files)},
    {"--public-url", "STEPSCOPE_PUBLIC_URL", NULL, "URL",
     "what links begin with when a proxy stands in front", NULL, OPTION_TEXT, AT(public_url)},
    {"--allow-host", "STEPSCOPE_ALLOW_HOST", NULL, "HOST,...",
     "more names under which browsers may ask for this service", NULL, OPTION_TEXT,
     AT(allow_hosts)},
    {"--log-format", LOG_FORMAT_ENV, "text", NULL,
     "form of the log's lines on standard error: text is logfmt", "text|json", OPTION_CHOICE,
     AT(log_format)},
    {"--web-dir", "STEPSCOPE_WEB_DIR", NULL, "DIR",
     "serve the dashboard from this folder instead of the built-in one", NULL, OPTION_TEXT,
     AT(web_dir)},
    {"--peaks", "STEPSCOPE_PEAKS", NULL, "FILE",
     "peaks of devices that go before those built in, as in analysis/names/peaks.tsv", NULL,
     OPTION_TEXT, AT(peaks_path)},
};
const struct option_set serve_option_set = {
    "serve", "Receives traces, analyses them and shows the results, until SIGTERM or SIGINT.", NULL,
    table, sizeof table / sizeof *table};

bool serve_options_check(const struct serve_options *options, struct err *err)
{
    // Below that the tables which every report has do not fit.
    static const uint64_t least_bytes = (uint64_t)1 << 20;
    if (options->max_tables_bytes && options->max_tables_bytes < least_bytes)
        return err_set(err, ERR_USAGE, "--max-tables: found %llu bytes, expected 1M or more, or 0",
                       (unsigned long long)options->max_tables_bytes);
    return retention_check(&options->retention, err);
}
