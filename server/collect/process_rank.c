// SPDX-License-Identifier: Apache-2.0
#include "server/collect/process_rank.h"

#include "ingest/base/fd_io.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { OF_TORCH, OF_MPI, OF_PMI, OF_SLURM, KINDS };
enum { MOST_ENVIRONMENT_BYTES = 1 << 20 };

static struct str after(struct str text, struct str start)
{
    return (struct str){text.at + start.len, text.len - start.len};
}

// Anyone can set variables, and the service takes no other values.
static int64_t number_of(struct str text)
{
    int64_t number = -1;
    return str_to_i64(text, &number) && number >= 0 && number <= INT32_MAX ? number : -1;
}

// Such as 8(x2),4: the tasks of each node.
static bool has_several(struct str tasks)
{
    size_t digits = str_digits_end(tasks, 0);
    return number_of((struct str){tasks.at, digits}) > 1;
}

int64_t process_rank_in(struct str environment)
{
    const struct str names[KINDS] = {STR("RANK="), STR("OMPI_COMM_WORLD_RANK="), STR("PMI_RANK="),
                                     STR("SLURM_PROCID=")};
    const struct str tasks = STR("SLURM_STEP_TASKS_PER_NODE=");
    int64_t ranks[KINDS] = {-1, -1, -1, -1};
    bool are_tasks_ranks = false;
    for (size_t at = 0, len; at < environment.len; at += len + 1) {
        len = strnlen(environment.at + at, environment.len - at);
        struct str variable = {environment.at + at, len};
        for (int kind = 0; kind < KINDS; kind++)
            if (str_starts_with(variable, names[kind]))
                ranks[kind] = number_of(after(variable, names[kind]));
        if (str_starts_with(variable, tasks))
            are_tasks_ranks = has_several(after(variable, tasks));
    }
    if (!are_tasks_ranks)
        ranks[OF_SLURM] = -1;
    for (int kind = 0; kind < KINDS; kind++)
        if (ranks[kind] >= 0)
            return ranks[kind];
    return -1;
}

// Launchers append to an environment that may be long.
int64_t process_rank_of(pid_t pid)
{
    char path[64];
    char *text = malloc(MOST_ENVIRONMENT_BYTES);
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    int fd = text ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t len = fd >= 0 ? fd_read_at(fd, text, MOST_ENVIRONMENT_BYTES, 0) : 0;
    int64_t rank = len > 0 ? process_rank_in((struct str){text, (size_t)len}) : -1;
    if (fd >= 0)
        close(fd);
    free(text);
    return rank;
}
