// SPDX-License-Identifier: Apache-2.0
// Sets up access control.
#include "server/cli/serve_access.h"

#include "ingest/base/log.h"

static int64_t as_limit(uint64_t bytes)
{
    return bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX;
}

static void say_what_is_odd(const struct serve_options *options, const struct access *access)
{
    bool named = options->public_url && *options->public_url;
    if (named && !access_is_required(access))
        log_warn("--auth off: anyone who reaches this service can change and delete everything; "
                 "authenticate users in front of it");
}

struct quota_limits serve_quota(const struct serve_options *options)
{
    return (struct quota_limits){.day_bytes = as_limit(options->quota_day_bytes),
                                 .stored_bytes = as_limit(options->quota_stored_bytes),
                                 .in_flight = options->quota_in_flight};
}

bool serve_access_open(struct serve_access *guards, const struct serve_options *options,
                       struct store *store, struct err *err)
{
    struct access_config config = {
        .store = store,
        .data_dir = options->data,
        .auth = options->auth,
        .listen = options->listen,
        .public_url = options->public_url,
        .trusted_proxies = options->trusted_proxies,
        .proxy_user_header = options->proxy_user_header,
        .proxy_admins = options->proxy_admins,
        .oidc = options->oidc,
    };
    config.oidc.public_url = options->public_url;
    struct quota_limits limits = serve_quota(options);
    guards->access = access_open(&config, err);
    if (!guards->access)
        return false;
    guards->quota = quota_new(store, &limits, err);
    if (!guards->quota)
        return false;
    guards->audit = audit_open(store, options->data, err);
    if (guards->audit)
        audit_rotate(guards->audit, options->audit_log_bytes, options->audit_log_files);
    if (guards->audit)
        say_what_is_odd(options, guards->access);
    return guards->audit != NULL;
}

void serve_access_close(struct serve_access *guards)
{
    audit_close(guards->audit);
    quota_free(guards->quota);
    access_close(guards->access);
    *guards = (struct serve_access){0};
}
