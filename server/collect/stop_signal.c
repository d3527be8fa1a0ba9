// SPDX-License-Identifier: Apache-2.0
#include "server/collect/stop_signal.h"

#include "ingest/base/clock.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

bool stop_signal_open(struct stop_signal *stop, struct err *err)
{
    sigset_t set;
    stop->fd = -1;
    stop->seen = false;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGIO, SIG_IGN); // of a lease that someone breaks
    if (sigprocmask(SIG_BLOCK, &set, NULL) == 0)
        stop->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return stop->fd >= 0 || err_set_errno(err, "cannot wait for signals");
}

void stop_signal_close(struct stop_signal *stop)
{
    if (stop->fd >= 0)
        close(stop->fd);
    stop->fd = -1;
}

// A second signal means: stop at once.
static void look(struct stop_signal *stop)
{
    struct signalfd_siginfo info;
    while (read(stop->fd, &info, sizeof info) == (ssize_t)sizeof info) {
        stop->deadline_ns =
            stop->seen || !stop->deadline_ns ? 0 : clock_mono_ns() + stop->deadline_ns;
        stop->seen = true;
    }
}

bool stop_signal_seen(struct stop_signal *stop)
{
    look(stop);
    return stop->seen;
}

bool stop_signal_now(void *context)
{
    struct stop_signal *stop = context;
    return stop_signal_seen(stop) && clock_mono_ns() >= stop->deadline_ns;
}

bool stop_signal_wait(struct stop_signal *stop, int fd, int64_t wait_ns)
{
    int64_t wait_ms = wait_ns < 0 ? 0 : wait_ns / 1000000 + 1;
    struct pollfd fds[] = {{.fd = stop->fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    int ready = poll(fds, 2, wait_ms > INT32_MAX ? INT32_MAX : (int)wait_ms);
    return ready > 0 && (fds[1].revents & POLLIN);
}
