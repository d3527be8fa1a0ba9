// SPDX-License-Identifier: Apache-2.0
// Reads /proc/self.
#include "server/base/process_state.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES 4096

static bool read_file(const char *path, char text[FILE_BYTES])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, FILE_BYTES - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

static uint64_t count_fds(void)
{
    uint64_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count ? count - 1 : 0; // the folder itself
}

static double boot_time_s(void)
{
    struct timespec wall, up;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_BOOTTIME, &up);
    return (double)(wall.tv_sec - up.tv_sec) + (double)(wall.tv_nsec - up.tv_nsec) / 1e9;
}

// Fields 14, 15, 20, 22 and 24 of proc(5)'s stat; the name before them may contain anything.
static void read_stat(struct process_state *state)
{
    char text[FILE_BYTES];
    unsigned long long user = 0, system = 0, threads = 0, start = 0, pages = 0;
    const double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    const char *rest = read_file("/proc/self/stat", text) ? strrchr(text, ')') : NULL;
    if (!rest || sscanf(rest,
                        ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d "
                        "%llu %*d %llu %*u %llu",
                        &user, &system, &threads, &start, &pages) != 5)
        return;
    state->cpu_s = (double)(user + system) * tick_s;
    state->threads = threads;
    state->start_s = boot_time_s() + (double)start * tick_s;
    state->resident_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void process_state_read(struct process_state *state)
{
    struct rlimit limit;
    *state = (struct process_state){0};
    read_stat(state);
    state->open_fds = count_fds();
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        state->max_fds = limit.rlim_cur;
}
