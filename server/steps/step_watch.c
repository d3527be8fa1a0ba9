// SPDX-License-Identifier: Apache-2.0
// A file beside the steps has the last capture, "STEP RUN"; its time is when the run was last
// looked at, and its lock keeps other threads from looking at the same moment.
#include "server/steps/step_watch.h"

#include "server/store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WATCHED_STEPS = 2048, PAUSE_SECONDS = 20, SAME_STEPS = 24, RECORDED_STEPS = 4 };

static int open_watched(const char *folder, int flags)
{
    char path[640];
    snprintf(path, sizeof path, "%s/watched", folder);
    return open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static bool read_last(int fd, uint64_t *step, char run[256])
{
    char text[300], *end;
    ssize_t len = pread(fd, text, sizeof text - 1, 0);
    if (len <= 0)
        return false;
    text[len] = '\0';
    *step = strtoull(text, &end, 10);
    snprintf(run, 256, "%s", *end == ' ' ? end + 1 : "");
    return *run != '\0';
}

static bool write_last(int fd, uint64_t step, const char *run)
{
    char text[300];
    int len = snprintf(text, sizeof text, "%llu %s", (unsigned long long)step, run);
    return ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)len, 0) == len;
}

static bool was_long_ago(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && llabs((long long)(time(NULL) - info.st_mtime)) >= PAUSE_SECONDS;
}

static bool judge(const char *folder, struct arena *arena, struct step_window *window,
                  struct step_judgement *judgement)
{
    struct step_stages stages;
    struct err ignored = {.pos = ERR_NO_POS};
    return step_log_read_stages(folder, &stages, &ignored) &&
           step_log_read(folder, stages.count, WATCHED_STEPS, arena, window, &ignored) &&
           step_judge(&window->matrix, arena, judgement, &ignored);
}

static bool has_rank(const struct wanted_capture *capture, int64_t rank)
{
    for (size_t i = 0; i < capture->rank_count; i++)
        if (capture->ranks[i] == rank)
            return true;
    return false;
}

static void add_rank(struct wanted_capture *capture, int64_t rank)
{
    if (!has_rank(capture, rank))
        capture->ranks[capture->rank_count++] = rank;
}

// The suspects, and the first rank that is none.
static void choose_ranks(const struct step_window *window, const struct step_change *change,
                         struct wanted_capture *capture)
{
    for (size_t i = 0; i < STEP_SUSPECTS; i++) {
        const struct step_suspect *suspect = &change->suspects[i];
        if (suspect->rank != STEP_ALL_RANKS && suspect->gain_us > 0)
            add_rank(capture, window->ranks[suspect->rank]);
    }
    for (size_t i = 0, others = 0; i < window->matrix.ranks && others == 0; i++)
        if (!has_rank(capture, window->ranks[i])) {
            add_rank(capture, window->ranks[i]);
            others++;
        }
}

bool step_watch_is_same(uint64_t a, uint64_t b)
{
    return a <= b + SAME_STEPS && b <= a + SAME_STEPS;
}

static void watch_with(const struct step_watch *watch, int fd, struct arena *arena)
{
    struct step_window window;
    struct step_judgement judgement;
    uint64_t last = 0;
    char run[256];
    size_t nodes;
    struct err ignored = {.pos = ERR_NO_POS};
    if (!judge(watch->folder, arena, &window, &judgement) || judgement.change_count == 0)
        return;
    const struct step_change *change = &judgement.changes[judgement.change_count - 1];
    uint64_t step = window.first_step + change->at;
    if (change->after_us <= change->before_us ||
        (read_last(fd, &last, run) && step_watch_is_same(step, last)))
        return;
    // Processes receive it within 5 seconds, so they mostly start at the same multiple of roundup,
    // about 10 seconds of steps.
    struct wanted_capture capture = {
        .steps = RECORDED_STEPS,
        .warmup = 1,
        .roundup = change->after_us <= 10 ? 1000000 : 1 + (int64_t)(1e7 / change->after_us),
        .is_automatic = true};
    int len = snprintf(capture.run, sizeof capture.run, "%.*s@%llu", (int)watch->run.len,
                       watch->run.at, (unsigned long long)step);
    snprintf(capture.job, sizeof capture.job, "%lld", (long long)watch->job);
    snprintf(capture.owner, sizeof capture.owner, "%s", watch->owner);
    choose_ranks(&window, change, &capture);
    if (len <= (int)STORE_NAME_MAX_BYTES && write_last(fd, step, capture.run) &&
        !known_agents_want(watch->agents, &capture, &nodes, &ignored))
        (void)!ftruncate(fd, 0); // too many captures are wanted now: again later
}

void step_watch(const struct step_watch *watch, struct arena *arena)
{
    if (!watch->agents || !known_agents_have(watch->agents, watch->job, watch->owner))
        return;
    int fd = open_watched(watch->folder, O_RDWR | O_CREAT | O_EXCL);
    bool is_due = fd >= 0;
    fd = is_due ? fd : open_watched(watch->folder, O_RDWR);
    is_due = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && (is_due || was_long_ago(fd));
    if (is_due && futimens(fd, NULL) == 0)
        watch_with(watch, fd, arena);
    if (fd >= 0)
        close(fd);
}

bool step_watch_last(const char *folder, uint64_t *step, char run[256])
{
    int fd = open_watched(folder, O_RDONLY);
    bool found = fd >= 0 && read_last(fd, step, run);
    if (fd >= 0)
        close(fd);
    return found;
}
