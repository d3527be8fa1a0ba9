// SPDX-License-Identifier: Apache-2.0
// Helper threads for one phase of a job.
#include "ingest/base/crew.h"

#include <pthread.h>
#include <stdlib.h>

#define MAX_HELPERS 63

struct crew {
    struct cores *cores;
    struct crew_task *tasks;
    size_t count;
    atomic_size_t next; // next task to start; count or more: none
};

// Those that ended count as well.
struct helpers {
    pthread_t threads[MAX_HELPERS];
    unsigned count;
};

// False if no task is left to start.
static bool run_next(struct crew *crew)
{
    size_t i = atomic_fetch_add_explicit(&crew->next, 1, memory_order_relaxed);
    if (i >= crew->count)
        return false;
    struct crew_task *task = &crew->tasks[i];
    task->err = (struct err){.pos = ERR_NO_POS};
    task->failed = !task->run(task->context, &task->err);
    if (task->failed)
        atomic_store_explicit(&crew->next, crew->count, memory_order_relaxed);
    return !task->failed;
}

static void *help(void *context)
{
    struct crew *crew = context;
    while (run_next(crew) && !cores_short(crew->cores))
        continue;
    cores_give(crew->cores, 1); // now, not when the slowest task is done
    return NULL;
}

// Takes the cores that are free now for the tasks that the caller will not take next.
static void add_helpers(struct crew *crew, struct helpers *helpers)
{
    size_t next = atomic_load_explicit(&crew->next, memory_order_relaxed);
    size_t room = MAX_HELPERS - helpers->count, left = next < crew->count ? crew->count - next : 0;
    if (left < 2 || cores_free(crew->cores) == 0)
        return;
    size_t useful = left - 1 < room ? left - 1 : room;
    unsigned got = cores_take(crew->cores, (unsigned)useful), started = 0;
    while (started < got &&
           pthread_create(&helpers->threads[helpers->count + started], NULL, help, crew) == 0)
        started++;
    helpers->count += started;
    cores_give(crew->cores, got - started); // without threads it only takes longer
}

static bool first_failure(const struct crew *crew, struct err *err)
{
    for (size_t i = 0; i < crew->count; i++) {
        if (!crew->tasks[i].failed)
            continue;
        if (err)
            *err = crew->tasks[i].err;
        return false;
    }
    return true;
}

bool crew_run(struct cores *cores, struct crew_task *tasks, size_t count, struct err *err)
{
    struct crew crew = {.cores = cores, .tasks = tasks, .count = count};
    struct helpers helpers = {.count = 0};
    for (size_t i = 0; i < count; i++)
        tasks[i].failed = false;
    do
        add_helpers(&crew, &helpers);
    while (run_next(&crew));
    cores_release(cores); // while waiting
    for (unsigned i = 0; i < helpers.count; i++)
        pthread_join(helpers.threads[i], NULL);
    cores_hold(cores);
    return first_failure(&crew, err);
}

// --- ranges --------------------------------------------------------------------------------------

// Several for each thread, as some take longer than others.
enum { RANGES_EACH = 4, MAX_RANGES = RANGES_EACH * (MAX_HELPERS + 1) };

struct range {
    crew_range *run;
    void *context;
    size_t from, to;
};

static bool run_range(void *context, struct err *err)
{
    const struct range *range = context;
    return range->run(range->context, range->from, range->to, err);
}

bool crew_each(struct cores *cores, size_t count, size_t least, crew_range *run, void *context,
               struct err *err)
{
    size_t parts = RANGES_EACH * ((size_t)cores_free(cores) + 1);
    parts = parts < MAX_RANGES ? parts : MAX_RANGES;
    parts = parts < count / least ? parts : count / least;
    // Not on the stack: threads that answer requests have small ones.
    struct crew_task *tasks = cores_free(cores) == 0 || parts < 2
                                  ? NULL
                                  : malloc(parts * (sizeof *tasks + sizeof(struct range)));
    if (!tasks)
        return run(context, 0, count, err);
    struct range *ranges = (struct range *)(tasks + parts);
    for (size_t i = 0; i < parts; i++) {
        ranges[i] = (struct range){run, context, count * i / parts, count * (i + 1) / parts};
        tasks[i] = (struct crew_task){.run = run_range, .context = &ranges[i]};
    }
    bool ok = crew_run(cores, tasks, parts, err);
    free(tasks);
    return ok;
}
