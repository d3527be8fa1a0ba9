// SPDX-License-Identifier: Apache-2.0
// A file that a signal handler writes one byte to.
#include "server/crash_mark.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

// A handler gets no context, so the file sits at a number that is agreed on.
enum { MARK_FD = 200 };

static void mark(int number)
{
    ssize_t ignored = write(MARK_FD, "!", 1);
    (void)ignored;
    raise(number); // the default action is back: SA_RESETHAND
}

// Where a sanitizer watches already it ends in SIGABRT, which comes here.
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
    bool ok = fstat(fd, &info) == 0 && ftruncate(fd, 0) == 0 && dup3(fd, MARK_FD, O_CLOEXEC) >= 0;
    if (!ok)
        err_set_errno(err, "%s", path);
    close(fd);
    *crashed = ok && info.st_size > 0;
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    for (size_t i = 0; ok && i < sizeof fatal / sizeof *fatal; i++)
        watch(fatal[i]);
    return ok;
}
