// SPDX-License-Identifier: Apache-2.0
// The audit log: a row that triggers protect, and a line of a file that can be shipped elsewhere.
#include "server/access/audit.h"

#include "server/api/api.h"
#include "server/routes.h"
#include "server/store/store_access.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"
#include "ingest/base/secrets.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define OBJECT_MAX_BYTES 300
#define OBJECT_ROOM      1024 // for the address and what it named

struct audit {
    struct store *store;
    char path[4096];
};

// Opened for each line, so that the file may be moved away while we run.
static int open_file(const struct audit *audit)
{
    return open(audit->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

struct audit *audit_open(struct store *store, const char *data_dir, struct err *err)
{
    struct audit *audit = calloc(1, sizeof(*audit));
    if (!audit) {
        err_set(err, ERR_MEMORY, "out of memory for the audit log");
        return NULL;
    }
    audit->store = store;
    int len = snprintf(audit->path, sizeof(audit->path), "%s/audit.log", data_dir);
    int fd = (size_t)len < sizeof(audit->path) ? open_file(audit) : -1;
    if (fd >= 0) {
        close(fd);
        return audit;
    }
    err_set_errno(err, "%s", audit->path);
    audit_close(audit);
    return NULL;
}

void audit_close(struct audit *audit)
{
    free(audit);
}

static void add_member(struct buf *line, const char *name, struct str value)
{
    buf_printf(line, ",\"%s\":", name);
    buf_json(line, value);
}

static void write_line(const struct audit *audit, const struct audit_row *row)
{
    struct buf line = {0};
    char at[CLOCK_RFC3339_SIZE];
    clock_rfc3339(row->at_ns, at);
    buf_printf(&line, "{\"at\":\"%s\"", at);
    add_member(&line, "who", row->who);
    add_member(&line, "peer", row->peer);
    add_member(&line, "action", row->action);
    add_member(&line, "object", row->object);
    buf_printf(&line, ",\"status\":%d", row->status);
    add_member(&line, "request_id", row->request_id);
    buf_puts(&line, "}\n");
    int fd = line.failed ? -1 : open_file(audit);
    if (fd < 0 || write(fd, line.at, line.len) != (ssize_t)line.len) // at once: no mix of two lines
        log_error("%s cannot be written", audit->path);
    if (fd >= 0)
        close(fd);
    buf_free(&line);
}

void audit_write(struct audit *audit, const struct audit_entry *entry)
{
    struct err err = {0};
    char object[OBJECT_ROOM]; // a token may stand in an address where its name was meant
    if (!audit)
        return;
    size_t len = secrets_redact_into(entry->object, object, sizeof(object));
    struct audit_row row = {.at_ns = clock_wall_ns(),
                            .who = entry->who,
                            .peer = entry->peer,
                            .action = entry->action,
                            .object = {object, len},
                            .request_id = entry->request_id,
                            .status = entry->status};
    if (!store_add_audit(audit->store, &row, &err))
        log_error("the audit log misses '%.*s' by %.*s: %s", (int)row.action.len, row.action.at,
                  (int)row.who.len, row.who.at, err.msg);
    write_line(audit, &row);
}

// --- requests -----------------------------------------------------------------------------------

void audit_name_upload(struct request *request, const struct upload *upload)
{
    struct buf text = {0};
    buf_printf(&text, "upload %.*s run %.*s", (int)upload->id.len, upload->id.at,
               (int)upload->run_id.len, upload->run_id.at);
    for (size_t i = 0; i < upload->count && text.len < OBJECT_MAX_BYTES - 80; i++)
        buf_printf(&text, " sha256 %.*s", (int)upload->traces[i].sha256.len,
                   upload->traces[i].sha256.at);
    char *copy =
        text.failed ? NULL : arena_strdup(request->arena, (struct str){text.at, text.len}, NULL);
    request->object = copy ? str_of(copy) : upload->id;
    buf_free(&text);
}

static bool names_upload(const struct request *request)
{
    return str_starts_with(request->object, STR("upload "));
}

// A piece of an upload says nothing until the last one made it an upload.
static bool is_piece(const struct request *request, const struct response *response)
{
    return (request->route->handle == tus_patch || tus_overrides(request, "PATCH")) &&
           response->status == 204 && !names_upload(request);
}

// Wrong credentials have an entry of their own; without any nothing was done, and whoever can
// reach the port could fill the disk.
static bool counts(const struct request *request, const struct response *response)
{
    if (!request->route || request->who.kind == WHO_NOBODY)
        return false;
    if (request->route->handle == api_get_trace)
        return response->status == 0 || response->status < 300;
    if (request_is_safe(request)) // asking how far it came may bring an upload to its end
        return names_upload(request);
    return !is_piece(request, response);
}

// The address as it was sent, and what it named: "/api/v1/runs/exp42 (run r_7q2k9d0x)".
static struct str object_of(const struct request *request)
{
    struct str path = request->path, named = request->object;
    if (path.len > OBJECT_MAX_BYTES)
        path.len = OBJECT_MAX_BYTES;
    char *text = named.len ? arena_printf(request->arena, NULL, "%.*s (%.*s)", (int)path.len,
                                          path.at, (int)named.len, named.at)
                           : NULL;
    return text ? str_of(text) : path;
}

void audit_request(struct request *request, const struct response *response)
{
    struct audit *audit = request->services->audit;
    char action[128];
    if (!audit || !counts(request, response))
        return;
    snprintf(action, sizeof(action), "%.*s %s",
             (int)(request->method.len < 10 ? request->method.len : 10), request->method.at,
             request->route->pattern);
    struct audit_entry entry = {.who = request->who.name,
                                .peer = request->peer,
                                .action = str_of(action),
                                .object = object_of(request),
                                .request_id = str_of(request->id),
                                .status = response->status ? response->status : 200};
    audit_write(audit, &entry);
}
