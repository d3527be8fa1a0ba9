// SPDX-License-Identifier: Apache-2.0
// Options for starting the service.
#ifndef SERVER_SERVE_OPTIONS_H
#define SERVER_SERVE_OPTIONS_H

#include "server/access/oidc.h"
#include "server/care/retention_plan.h"
#include "server/cli/options.h"

struct serve_options {
    const char *allow_hosts, *log_format;
    const char *listen, *data, *store, *blobs, *roles;
    const char *public_url, *web_dir, *standalone_dir, *peaks_path, *webhooks_path;
    const char *auth, *trusted_proxies, *proxy_user_header, *proxy_admins;
    struct oidc_config oidc; // but for its public_url
    uint64_t quota_day_bytes, quota_stored_bytes;
    int64_t quota_in_flight;
    uint64_t job_memory_bytes, max_tables_bytes, max_upload_bytes, min_free_bytes;
    int64_t connections, per_client, job_seconds, uploads_in_flight, queue_limit, resume_hours,
        jobs;
    uint64_t ballast_bytes;
    struct retention_rules retention;
    uint64_t audit_log_bytes;
    int64_t audit_days, audit_log_files;
};

extern const struct option_set serve_option_set;

// Checks that go beyond parsing each option. ERR_USAGE.
MUST_CHECK bool serve_options_check(const struct serve_options *options, struct err *err);

#endif
