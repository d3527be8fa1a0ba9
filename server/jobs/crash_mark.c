// SPDX-License-Identifier: Apache-2.0
// A file into which a signal handler writes one byte.
#include "server/jobs/crash_mark.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

// A handler gets no context.
static volatile sig_atomic_t mark_fd = -1; // lint-allow(mutable-globals): read in a signal handler

static void mark(int number)
{
    ssize_t ignored = write(mark_fd, "!", 1);
    (void)ignored;
    raise(number); // the default action is back: SA_RESETHAND
}

// If a sanitizer already handles the signal, it ends in SIGABRT, which is caught here.
static void watch(int number)
{
    struct sigaction old, ours = {.sa_handler = mark, .sa_flags = SA_RESETHAND | SA_NODEFER};
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(number, &ours, NULL);
}

bool crash_mark_open(const char *data_dir, bool *crashed, struct err *err)
{
    char path[4096];
    struct stat info;
    snprintf(path, sizeof path, "%s/crashed", data_dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_set_errno(err, "%s", path);
    if (fstat(fd, &info) != 0 || ftruncate(fd, 0) != 0) {
        err_set_errno(err, "%s", path);
        close(fd);
        return false;
    }
    mark_fd = fd; // until the process ends
    *crashed = info.st_size > 0;
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        watch(fatal[i]);
    return true;
}
