// SPDX-License-Identifier: Apache-2.0
#include "server/agents/capture_file.h"

#include "server/files/json_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 128 << 10 }; // of AGENTS_MOST_CAPTURES with every letter escaped

static json_t *json_of(const struct wanted_capture *capture)
{
    json_t *ranks = json_array();
    for (size_t i = 0; i < capture->rank_count; i++)
        json_array_append_new(ranks, json_integer(capture->ranks[i]));
    return json_pack("{ss ss ss ss sI sI sI sI sb so}", "id", capture->id, "run", capture->run,
                     "job", capture->job, "owner", capture->owner, "at_ns",
                     (json_int_t)capture->at_ns, "steps", (json_int_t)capture->steps, "warmup",
                     (json_int_t)capture->warmup, "roundup", (json_int_t)capture->roundup,
                     "automatic", capture->is_automatic, "ranks", ranks);
}

bool capture_file_save(const char *path, const struct wanted_capture *captures, size_t count,
                       struct err *err)
{
    json_t *list = json_array();
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = json_array_append_new(list, json_of(&captures[i])) == 0 ||
             err_set(err, ERR_MEMORY, "out of memory for a capture");
    ok = ok && json_file_save(path, list, "a capture", err);
    json_decref(list);
    return ok;
}

// False if it is longer than its place.
#define COPY(place, text) (snprintf(place, sizeof(place), "%s", text) < (int)sizeof(place))

static bool is_id(const char *text)
{
    return strlen(text) == 18 && text[0] == 'c' && text[1] == '_' &&
           strspn(text + 2, "0123456789abcdef") == 16;
}

static bool read_one(json_t *from, struct wanted_capture *capture)
{
    const char *id, *run, *job, *owner;
    json_int_t at_ns, steps, warmup, roundup;
    json_t *ranks;
    int automatic;
    size_t i;
    const json_t *rank;
    if (json_unpack(from, "{ss ss ss ss sI sI sI sI sb so}", "id", &id, "run", &run, "job", &job,
                    "owner", &owner, "at_ns", &at_ns, "steps", &steps, "warmup", &warmup, "roundup",
                    &roundup, "automatic", &automatic, "ranks", &ranks) != 0 ||
        at_ns < 0 || !is_id(id) || json_array_size(ranks) > AGENTS_MOST_RANKS)
        return false;
    *capture = (struct wanted_capture){.at_ns = at_ns,
                                       .steps = steps,
                                       .warmup = warmup,
                                       .roundup = roundup,
                                       .is_automatic = automatic};
    json_array_foreach(ranks, i, rank) capture->ranks[capture->rank_count++] =
        json_integer_value(rank);
    return COPY(capture->id, id) && COPY(capture->run, run) && COPY(capture->job, job) &&
           COPY(capture->owner, owner);
}

size_t capture_file_load(const char *path, struct wanted_capture captures[AGENTS_MOST_CAPTURES])
{
    struct stat info;
    bool is_small = stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= MOST_BYTES;
    json_t *list = is_small ? json_load_file(path, 0, NULL) : NULL, *one;
    size_t count = 0, i;
    json_array_foreach(list, i, one) if (count < AGENTS_MOST_CAPTURES &&
                                         read_one(one, &captures[count])) count++;
    json_decref(list);
    return count;
}
