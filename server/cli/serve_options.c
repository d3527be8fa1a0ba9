// SPDX-License-Identifier: Apache-2.0
// The table of the service's options.
#include "server/cli/serve_options.h"

#include "ingest/base/log.h"
#include "server/cli/retention_options.h"

#define AT(member) offsetof(struct serve_options, member)
static const struct option table[] = {
    {"--listen", "STEPSCOPE_LISTEN", "127.0.0.1:8080", "ADDR:PORT",
     "address to listen on; port 0: any free port", NULL, OPTION_TEXT, AT(listen)},
    {"--data", "STEPSCOPE_DATA", "./data", "DIR", "data folder", NULL, OPTION_TEXT, AT(data)},
    {"--store", "STEPSCOPE_STORE", NULL, "PLACE",
     "database: postgres://USER@HOST/NAME, which several services can share; default: SQLite in "
     "the data folder",
     NULL, OPTION_TEXT, AT(store)},
    {"--blobs", "STEPSCOPE_BLOBS", NULL, "PLACE",
     "stored files: s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME], which several services can "
     "share, with the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; default: in the data "
     "folder",
     NULL, OPTION_TEXT, AT(blobs)},
    {"--roles", "STEPSCOPE_ROLES", "all", NULL,
     "web: answers requests and leaves analyses to other services of the same --store; worker: "
     "analyzes, and answers requests, too; all: the same as worker",
     "all|web|worker", OPTION_CHOICE, AT(roles)},
    {"--job-memory", "STEPSCOPE_JOB_MEMORY", "4G", "BYTES",
     "memory limit of the analysis of one trace", NULL, OPTION_BYTES, AT(job_memory_bytes)},
    {"--max-tables", "STEPSCOPE_MAX_TABLES", "1G", "BYTES",
     "maximum size of the tables of a trace or a run; further rows are left out and noted in the "
     "trust report; 0: no limit",
     NULL, OPTION_BYTES, AT(max_tables_bytes)},
    {"--job-time", "STEPSCOPE_JOB_TIME", "0", "SECONDS",
     "time limit of the analysis of one trace; 0: five minutes, more for large files", NULL,
     OPTION_INT, AT(job_seconds)},
    {"--jobs", "STEPSCOPE_JOBS", "0", "COUNT", "concurrent analyses; 0: one per core", NULL,
     OPTION_INT, AT(jobs)},
    {"--max-upload", "STEPSCOPE_MAX_UPLOAD", "16G", "BYTES", "maximum size of an upload", NULL,
     OPTION_BYTES, AT(max_upload_bytes)},
    {"--min-free", "STEPSCOPE_MIN_FREE", "1G", "BYTES",
     "disk space that uploads leave free for results and the system", NULL, OPTION_BYTES,
     AT(min_free_bytes)},
    {"--connections", "STEPSCOPE_CONNECTIONS", "1100", "COUNT",
     "concurrent connections; each has a thread", NULL, OPTION_INT, AT(connections)},
    {"--per-client", "STEPSCOPE_PER_CLIENT", "512", "COUNT",
     "limit of connections per address and of requests per address or token; at most half of "
     "--connections",
     NULL, OPTION_INT, AT(per_client)},
    {"--uploads-in-flight", "STEPSCOPE_UPLOADS_IN_FLIGHT", "128", "COUNT",
     "concurrent uploads; more are asked to retry later", NULL, OPTION_INT, AT(uploads_in_flight)},
    {"--queue", "STEPSCOPE_QUEUE", "10000", "COUNT",
     "queued analyses, 0: no limit; further uploads are asked to retry later", NULL, OPTION_INT,
     AT(queue_limit)},
    {"--resume-hours", "STEPSCOPE_RESUME_HOURS", "24", "HOURS",
     "how long a resumable upload can be resumed after its last byte", NULL, OPTION_INT,
     AT(resume_hours)},
    {"--auth", "STEPSCOPE_AUTH", "auto", NULL,
     "whether requests need a token; auto: unless only this host can reach the service",
     "auto|required|off", OPTION_CHOICE, AT(auth)},
    {"--trusted-proxy", "STEPSCOPE_TRUSTED_PROXY", NULL, "ADDR,...",
     "addresses, or ADDR/BITS, of proxies trusted to name users and their addresses; 127.0.0.1 "
     "trusts everyone with an account on this host",
     NULL, OPTION_TEXT, AT(trusted_proxies)},
    {"--proxy-user-header", "STEPSCOPE_PROXY_USER_HEADER", "X-Forwarded-User", "NAME",
     "header in which a trusted proxy names the user; it must replace the client's header", NULL,
     OPTION_TEXT, AT(proxy_user_header)},
    {"--proxy-admins", "STEPSCOPE_PROXY_ADMINS", NULL, "USER,...",
     "users of the proxy who may delete runs and manage tokens", NULL, OPTION_TEXT,
     AT(proxy_admins)},
    {"--oidc-issuer", "STEPSCOPE_OIDC_ISSUER", NULL, "URL",
     "provider of OpenID Connect where people sign in, exactly as it names itself; needs "
     "--oidc-client-id, --oidc-users and --public-url, and sends browsers back to "
     "URL/login/oidc/callback",
     NULL, OPTION_TEXT, AT(oidc.issuer)},
    {"--oidc-client-id", "STEPSCOPE_OIDC_CLIENT_ID", NULL, "ID",
     "client ID of this service at the provider", NULL, OPTION_TEXT, AT(oidc.client_id)},
    {"--oidc-secret-file", "STEPSCOPE_OIDC_SECRET_FILE", NULL, "FILE",
     "file with the client's secret; without it this is a public client, by PKCE alone", NULL,
     OPTION_TEXT, AT(oidc.secret_file)},
    {"--oidc-claim", "STEPSCOPE_OIDC_CLAIM", "email", "NAME",
     "claim of the ID token that names the user; email must be verified", NULL, OPTION_TEXT,
     AT(oidc.claim)},
    {"--oidc-users", "STEPSCOPE_OIDC_USERS", NULL, "USER,...",
     "who may sign in: users, or @DOMAIN; '*': everyone with an account at the provider", NULL,
     OPTION_TEXT, AT(oidc.users)},
    {"--oidc-admins", "STEPSCOPE_OIDC_ADMINS", NULL, "USER,...",
     "of these, who may delete runs and manage tokens", NULL, OPTION_TEXT, AT(oidc.admins)},
    {"--quota-day", "STEPSCOPE_QUOTA_DAY", "0", "BYTES",
     "maximum upload per token and day, unless the token has its own limit; 0: no limit", NULL,
     OPTION_BYTES, AT(quota_day_bytes)},
    {"--quota-stored", "STEPSCOPE_QUOTA_STORED", "0", "BYTES",
     "maximum stored per token, unless the token has its own limit; 0: no limit", NULL,
     OPTION_BYTES, AT(quota_stored_bytes)},
    {"--quota-in-flight", "STEPSCOPE_QUOTA_IN_FLIGHT", "0", "COUNT",
     "concurrent uploads per token, unless the token has its own limit; 0: no limit", NULL,
     OPTION_INT, AT(quota_in_flight)},
    {"--ballast", "STEPSCOPE_BALLAST", "64M", "BYTES",
     "disk space reserved so that deletions work on a full disk", NULL, OPTION_BYTES,
     AT(ballast_bytes)},
    RETENTION_OPTIONS(AT(retention)),
    {"--audit-days", "STEPSCOPE_AUDIT_DAYS", "400", "DAYS",
     "age at which audit log entries are deleted, at least 30; 0: keep all", NULL, OPTION_INT,
     AT(audit_days)},
    {"--audit-log-size", "STEPSCOPE_AUDIT_LOG_SIZE", "32M", "BYTES",
     "size at which audit.log is rotated to audit.log.1; 0: never", NULL, OPTION_BYTES,
     AT(audit_log_bytes)},
    {"--audit-log-files", "STEPSCOPE_AUDIT_LOG_FILES", "8", "COUNT",
     "rotated audit logs to keep; older ones are removed", NULL, OPTION_INT, AT(audit_log_files)},
    {"--public-url", "STEPSCOPE_PUBLIC_URL", NULL, "URL",
     "base of links when the service is behind a proxy", NULL, OPTION_TEXT, AT(public_url)},
    {"--allow-host", "STEPSCOPE_ALLOW_HOST", NULL, "HOST,...",
     "additional host names of this service", NULL, OPTION_TEXT, AT(allow_hosts)},
    {"--log-format", LOG_FORMAT_ENV, "text", NULL,
     "format of the log on standard error: text is logfmt", "text|json", OPTION_CHOICE,
     AT(log_format)},
    {"--web-dir", "STEPSCOPE_WEB_DIR", NULL, "DIR",
     "serve the dashboard from this folder instead of the built-in one", NULL, OPTION_TEXT,
     AT(web_dir)},
    {"--standalone-dir", "STEPSCOPE_STANDALONE_DIR", NULL, "DIR",
     "serve this folder, as `cmake --preset wasm` builds it, at /standalone: a page that analyzes "
     "traces in the browser and uploads nothing; default: the one that came with the program",
     NULL, OPTION_TEXT, AT(standalone_dir)},
    {"--peaks", "STEPSCOPE_PEAKS", NULL, "FILE",
     "table of device peaks that overrides the built-in one, as analysis/names/peaks.tsv", NULL,
     OPTION_TEXT, AT(peaks_path)},
    {"--webhooks", "STEPSCOPE_WEBHOOKS", NULL, "FILE",
     "file of addresses to notify of finished runs, alerts and gates; see deploy/webhooks.json",
     NULL, OPTION_TEXT, AT(webhooks_path)},
};
const struct option_set serve_option_set = {
    "serve", "Receives traces, analyzes them and serves the results, until SIGTERM or SIGINT.",
    NULL, table, sizeof table / sizeof *table};

bool serve_options_check(const struct serve_options *options, struct err *err)
{
    // With less, the tables that every report has do not fit.
    static const uint64_t least_bytes = (uint64_t)1 << 20;
    if (options->max_tables_bytes && options->max_tables_bytes < least_bytes)
        return err_set(err, ERR_USAGE, "--max-tables: found %llu bytes, expected 1M or more, or 0",
                       (unsigned long long)options->max_tables_bytes);
    return retention_check(&options->retention, err);
}
