// SPDX-License-Identifier: Apache-2.0
#include "server/hooks/hook_queue.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"
#include "server/files/json_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_DELIVERIES = 10000,
    MOST_SEEN = 100000,
    KEPT_SEEN = 50000,
    MOST_KEY = 200,
    NAME_SIZE = 240
};

// --- keys ---------------------------------------------------------------------------------------

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool is_key(const char *key)
{
    size_t len = strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    return len > 0 && len <= MOST_KEY && !key[len] && key[0] != '.';
}

bool hook_queue_has_seen(const struct hook_queue *queue, const char *key)
{
    return tfind(key, &queue->seen, by_text) != NULL;
}

static bool remember(struct hook_queue *queue, const char *key, struct err *err)
{
    if (hook_queue_has_seen(queue, key))
        return true;
    char *copy = strdup(key);
    if (!copy || !tsearch(copy, &queue->seen, by_text)) {
        free(copy);
        return err_set(err, ERR_MEMORY, "out of memory for webhooks");
    }
    queue->seen_count++;
    return true;
}

// Keys are kept far longer than anything asks for them: enough for many days of runs and alerts.
static void shorten(const char *path)
{
    char line[MOST_KEY + 2], kept[600];
    size_t count = 0;
    FILE *in = fopen(path, "r");
    if (!in)
        return;
    while (fgets(line, sizeof line, in))
        count++;
    snprintf(kept, sizeof kept, "%s.new", path);
    FILE *out = count > MOST_SEEN ? fopen(kept, "w") : NULL;
    rewind(in);
    for (size_t at = 0; out && fgets(line, sizeof line, in); at++)
        if (at + KEPT_SEEN >= count)
            fputs(line, out);
    fclose(in);
    if (out && (fclose(out) != 0 || rename(kept, path) != 0))
        log_warn("the keys of webhooks cannot be shortened");
}

static bool open_seen(struct hook_queue *queue, struct err *err)
{
    char path[600], line[MOST_KEY + 2];
    struct stat info;
    snprintf(path, sizeof path, "%s/seen", queue->folder);
    shorten(path);
    queue->seen_fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    FILE *in = queue->seen_fd >= 0 ? fopen(path, "r") : NULL;
    if (!in)
        return err_set_errno(err, "cannot open %.150s", path);
    bool ok = true;
    while (ok && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        ok = !is_key(line) || remember(queue, line, err);
    }
    fclose(in);
    snprintf(path, sizeof path, "%s/since", queue->folder);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    queue->since_ns = fd >= 0 && fstat(fd, &info) == 0 ? (int64_t)info.st_mtim.tv_sec * 1000000000
                                                       : clock_wall_ns();
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool tell(struct hook_queue *queue, const char *key, struct err *err)
{
    char line[MOST_KEY + 3];
    int len = snprintf(line, sizeof line, "%s\n", key);
    return remember(queue, key, err) &&
           ((write(queue->seen_fd, line, (size_t)len) == len && fdatasync(queue->seen_fd) == 0) ||
            err_set_errno(err, "cannot write the key of a webhook"));
}

// --- deliveries ---------------------------------------------------------------------------------

static void free_delivery(struct hook_delivery *delivery)
{
    free(delivery->key);
    free(delivery->type);
    free(delivery->body);
    free(delivery);
}

static void path_of(const struct hook_queue *queue, const char *key, const char *target,
                    char path[1024])
{
    snprintf(path, 1024, "%s/%s.%s.json", queue->folder, key, target);
}

// Due at once.
static bool list_delivery(struct hook_queue *queue, const struct hook_target *target, json_t *saved,
                          struct err *err)
{
    const char *key = NULL, *type = NULL, *body = NULL;
    json_int_t at_ns = 0;
    if (json_unpack(saved, "{s:s,s:s,s:s,s:I}", "key", &key, "type", &type, "body", &body, "at_ns",
                    &at_ns) != 0 ||
        !is_key(key))
        return err_set(err, ERR_FORMAT, "found an invalid delivery");
    struct hook_delivery *delivery = calloc(1, sizeof *delivery);
    if (!delivery)
        return err_set(err, ERR_MEMORY, "out of memory for webhooks");
    *delivery = (struct hook_delivery){.target = target,
                                       .key = strdup(key),
                                       .type = strdup(type),
                                       .body = strdup(body),
                                       .at_ns = at_ns,
                                       .due_ns = clock_mono_ns()};
    if (!delivery->key || !delivery->type || !delivery->body) {
        free_delivery(delivery);
        return err_set(err, ERR_MEMORY, "out of memory for webhooks");
    }
    struct hook_delivery **last = &queue->first;
    while (*last)
        last = &(*last)->next;
    *last = delivery;
    queue->count++;
    return true;
}

static const struct hook_target *target_named(const struct hook_targets *targets, const char *id)
{
    for (size_t i = 0; i < targets->count; i++)
        if (strcmp(targets->at[i].id, id) == 0)
            return &targets->at[i];
    return NULL;
}

// Removes what is no delivery, or whose target is gone.
static bool load_delivery(struct hook_queue *queue, const char *name, struct err *err)
{
    char path[1024];
    struct err why = {.pos = ERR_NO_POS};
    snprintf(path, sizeof path, "%s/%s", queue->folder, name);
    json_t *saved = json_load_file(path, 0, NULL);
    const char *id = json_string_value(json_object_get(saved, "target"));
    const struct hook_target *target = id ? target_named(queue->targets, id) : NULL;
    bool ok = target && queue->count < MOST_DELIVERIES && list_delivery(queue, target, saved, &why);
    if (!ok && why.code != ERR_MEMORY)
        unlink(path);
    json_decref(saved);
    return why.code != ERR_MEMORY || err_set(err, ERR_MEMORY, "%s", why.msg);
}

static bool load_deliveries(struct hook_queue *queue, struct err *err)
{
    bool ok = true;
    DIR *dir = opendir(queue->folder);
    if (!dir)
        return err_set_errno(err, "cannot list %.150s", queue->folder);
    for (const struct dirent *entry; ok && (entry = readdir(dir));) {
        size_t len = strlen(entry->d_name);
        if (len > 5 && strcmp(entry->d_name + len - 5, ".json") == 0)
            ok = load_delivery(queue, entry->d_name, err);
    }
    closedir(dir);
    return ok;
}

bool hook_queue_open(struct hook_queue *queue, const char *folder,
                     const struct hook_targets *targets, struct err *err)
{
    *queue = (struct hook_queue){.targets = targets, .seen_fd = -1};
    snprintf(queue->folder, sizeof queue->folder, "%s", folder);
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return err_set_errno(err, "cannot make %.150s", folder);
    return open_seen(queue, err) && load_deliveries(queue, err);
}

void hook_queue_free(struct hook_queue *queue)
{
    while (queue->first) {
        struct hook_delivery *next = queue->first->next;
        free_delivery(queue->first);
        queue->first = next;
    }
    tdestroy(queue->seen, free);
    queue->seen = NULL;
    if (queue->seen_fd >= 0)
        close(queue->seen_fd);
    queue->seen_fd = -1;
}

static bool add_for(struct hook_queue *queue, const struct hook_target *target,
                    const struct hook_event *event, struct err *err)
{
    char path[1024];
    struct buf body = {0};
    hook_body(event, target->format, &body);
    bool ok = buf_ok(&body, err);
    json_t *saved =
        ok ? json_pack("{s:s,s:s,s:s,s:s,s:I}", "target", target->id, "key", event->key, "type",
                       event->type, "body", body.at, "at_ns", (json_int_t)event->at_ns)
           : NULL;
    path_of(queue, event->key, target->id, path);
    ok = ok && (saved || err_set(err, ERR_MEMORY, "out of memory for a webhook")) &&
         json_file_save(path, saved, "a webhook", err) && list_delivery(queue, target, saved, err);
    json_decref(saved);
    buf_free(&body);
    return ok;
}

static bool is_listed(const struct hook_queue *queue, const char *key,
                      const struct hook_target *target)
{
    const struct hook_delivery *at = queue->first;
    while (at && (at->target != target || strcmp(at->key, key) != 0))
        at = at->next;
    return at != NULL;
}

// The key of an event for one target, kept in memory only, for events that could not be queued for
// all targets.
static void name_for(const char *key, const struct hook_target *target, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "%s/%s", key, target->id);
}

static bool add_once(struct hook_queue *queue, const struct hook_target *target,
                     const struct hook_event *event, struct err *err)
{
    char name[NAME_SIZE];
    name_for(event->key, target, name);
    if (is_listed(queue, event->key, target) || hook_queue_has_seen(queue, name))
        return true;
    if (queue->count >= MOST_DELIVERIES)
        return err_set(err, ERR_LIMIT, "%d webhooks wait already", MOST_DELIVERIES);
    return add_for(queue, target, event, err);
}

// A target for which the event was queued does not get it again on the next try, even if it was
// sent by then.
static bool add_for_all(struct hook_queue *queue, const struct hook_event *event, struct err *err)
{
    const struct hook_targets *targets = queue->targets;
    char name[NAME_SIZE];
    bool ok = true;
    for (size_t i = 0; ok && i < targets->count; i++)
        ok = !hook_target_wants(&targets->at[i], event->type, event->project) ||
             add_once(queue, &targets->at[i], event, err);
    for (size_t i = 0; !ok && i < targets->count; i++)
        if (is_listed(queue, event->key, &targets->at[i])) {
            struct err ignored;
            name_for(event->key, &targets->at[i], name);
            (void)!remember(queue, name, &ignored);
        }
    return ok;
}

bool hook_queue_mark(struct hook_queue *queue, const char *key, struct err *err)
{
    return hook_queue_has_seen(queue, key) || tell(queue, key, err);
}

bool hook_queue_waits(const struct hook_queue *queue, const char *key)
{
    const struct hook_delivery *at = queue->first;
    while (at && strcmp(at->key, key) != 0)
        at = at->next;
    return at != NULL;
}

bool hook_queue_add(struct hook_queue *queue, const struct hook_event *event, struct err *err)
{
    if (!is_key(event->key))
        return err_set(err, ERR_INTERNAL, "found an invalid key of a webhook");
    return hook_queue_has_seen(queue, event->key) ||
           (add_for_all(queue, event, err) && tell(queue, event->key, err));
}

struct hook_delivery *hook_queue_next(const struct hook_queue *queue)
{
    struct hook_delivery *found = queue->first;
    for (struct hook_delivery *at = queue->first; at; at = at->next)
        found = at->due_ns < found->due_ns ? at : found;
    return found;
}

void hook_queue_remove(struct hook_queue *queue, struct hook_delivery *delivery)
{
    char path[1024];
    struct hook_delivery **at = &queue->first;
    path_of(queue, delivery->key, delivery->target->id, path);
    unlink(path);
    while (*at != delivery)
        at = &(*at)->next;
    *at = delivery->next;
    queue->count--;
    free_delivery(delivery);
}
