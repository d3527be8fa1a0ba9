// SPDX-License-Identifier: Apache-2.0
#include "server/hooks/hook_target.h"

#include "ingest/base/hash.h"
#include "server/hooks/hook_body.h"
#include "server/outbound/http_client.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_TARGETS = 64, LEAST_SECRET = 16 };

static const char *const kinds[] = {"alert", "run", "gate"};

static bool is_event(const char *word)
{
    if (strcmp(word, "*") == 0)
        return true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t len = strlen(kinds[i]);
        if (strncmp(word, kinds[i], len) == 0 && (!word[len] || word[len] == '.'))
            return true;
    }
    return false;
}

static bool check_events(const json_t *events, struct err *err)
{
    size_t i;
    const json_t *event;
    if (events && !json_is_array(events))
        return err_set(err, ERR_FORMAT, "found events that are not a list");
    json_array_foreach(events, i, event)
    {
        const char *word = json_string_value(event);
        if (!word || !is_event(word))
            return err_set(err, ERR_FORMAT,
                           "found event '%.40s', expected *, alert, run, gate, or one such as "
                           "gate.failed",
                           word ? word : "");
    }
    return true;
}

static bool read_format(struct hook_target *target, const char *word, struct err *err)
{
    target->format = strcmp(word, "slack") == 0 ? HOOK_SLACK : HOOK_JSON;
    return target->format == HOOK_SLACK || strcmp(word, "json") == 0 ||
           err_set(err, ERR_FORMAT, "found format '%.40s', expected json or slack", word);
}

static bool read_secret(struct hook_target *target, const char *variable, struct err *err)
{
    if (variable)
        target->secret = getenv(variable);
    if (variable && !target->secret)
        return err_set(err, ERR_USAGE, "found no secret in the environment variable '%.60s'",
                       variable);
    if (target->secret && strlen(target->secret) < LEAST_SECRET)
        return err_set(err, ERR_FORMAT, "found a secret of fewer than %d characters", LEAST_SECRET);
    struct buf signature = {0};
    bool signs = !target->secret || hook_sign(target->secret, STR(""), &signature, err);
    buf_free(&signature);
    return signs;
}

static bool read_target(struct hook_target *target, json_t *value, struct err *err)
{
    const char *format = "json", *variable = NULL;
    json_error_t why;
    json_t *events = NULL;
    if (json_unpack_ex(value, &why, JSON_STRICT, "{s:s,s?s,s?s,s?s,s?s,s?o}", "url", &target->url,
                       "format", &format, "secret", &target->secret, "secret_env", &variable,
                       "project", &target->project, "events", &events) != 0)
        return err_set(err, ERR_FORMAT, "%.150s", why.text);
    target->events = events;
    snprintf(target->id, sizeof target->id, "%016llx",
             (unsigned long long)hash_bytes(target->url, strlen(target->url)));
    return http_client_check_url(target->url, err) && read_format(target, format, err) &&
           read_secret(target, variable, err) && check_events(events, err);
}

// Their deliveries would have the same names.
static bool is_new(const struct hook_targets *targets, const struct hook_target *target,
                   struct err *err)
{
    for (size_t i = 0; i < targets->count; i++)
        if (strcmp(targets->at[i].id, target->id) == 0)
            return err_set(err, ERR_FORMAT, "found the address of webhook %zu again", i + 1);
    return true;
}

bool hook_targets_read(struct hook_targets *targets, const char *path, struct err *err)
{
    json_error_t why;
    *targets = (struct hook_targets){.file = json_load_file(path, JSON_REJECT_DUPLICATES, &why)};
    if (!targets->file)
        return err_set(err, ERR_FORMAT, "%.80s, line %d: %.120s", path, why.line, why.text);
    size_t count = json_array_size(targets->file);
    if (!json_is_array(targets->file) || count == 0 || count > MOST_TARGETS)
        return err_set(err, ERR_FORMAT, "%.80s: expected a list of 1 to %d webhooks", path,
                       MOST_TARGETS);
    targets->at = calloc(count, sizeof *targets->at);
    if (!targets->at)
        return err_set(err, ERR_MEMORY, "out of memory for webhooks");
    for (size_t i = 0; i < count; i++) {
        if (!read_target(&targets->at[i], json_array_get(targets->file, i), err) ||
            !is_new(targets, &targets->at[i], err))
            return err_wrap(err, "%.80s, webhook %zu", path, i + 1);
        targets->count++;
    }
    return true;
}

void hook_targets_free(struct hook_targets *targets)
{
    json_decref(targets->file);
    free(targets->at);
    *targets = (struct hook_targets){0};
}

static bool covers(const char *word, const char *type)
{
    size_t len = strlen(word);
    return strcmp(word, "*") == 0 ||
           (strncmp(word, type, len) == 0 && (!type[len] || type[len] == '.'));
}

bool hook_target_wants(const struct hook_target *target, const char *type, struct str project)
{
    size_t i;
    const json_t *event;
    bool wanted = !target->events;
    if (target->project && !str_equal(str_of(target->project), project))
        return false;
    json_array_foreach(target->events, i, event) wanted |= covers(json_string_value(event), type);
    return wanted;
}
