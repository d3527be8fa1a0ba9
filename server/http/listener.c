// SPDX-License-Identifier: Apache-2.0
// Ends a listening socket without cutting off anybody. The kernel completes connections by itself,
// and one that is shut resets those that were not accepted.
#include "server/http/listener.h"

#include "ingest/base/clock.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { EARLY_DESCRIPTORS = 256 };

static bool listens_on(int fd, unsigned port)
{
    int listens = 0;
    struct sockaddr_storage address;
    char service[NI_MAXSERV];
    socklen_t size = sizeof listens, address_size = sizeof address;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens &&
           getsockname(fd, (struct sockaddr *)&address, &address_size) == 0 &&
           getnameinfo((struct sockaddr *)&address, address_size, NULL, 0, service, sizeof service,
                       NI_NUMERICSERV) == 0 &&
           strtoul(service, NULL, 10) == port;
}

// Drops what asks for a connection, as if it was lost on the way: who sent it asks again after a
// second, and then learns that nobody listens. Without the filter some might still be cut off.
static void refuse_new(int fd)
{
    enum { FLAGS = 13, SYN = 2 }; // of a TCP header
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, FLAGS),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, SYN, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
    };
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    (void)setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

// Of a listening socket, the kernel counts there how many wait to be accepted.
static bool is_empty(int fd)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || info.tcpi_unacked == 0;
}

// Empty for a while: who was about to connect still does, after a round trip.
static void wait_empty(int fd)
{
    enum { LOOK_NS = 1000000, ROUND_TRIP_NS = 5000000 };
    const int64_t most_ns = 5 * INT64_C(1000000000);
    int64_t now_ns = clock_mono_ns(), end_ns = now_ns + most_ns, since_ns = 0;
    for (; now_ns < end_ns; now_ns = clock_mono_ns()) {
        if (!is_empty(fd))
            since_ns = 0;
        else if (!since_ns)
            since_ns = now_ns;
        else if (now_ns - since_ns >= ROUND_TRIP_NS)
            return;
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
}

void listener_empty(unsigned port)
{
    for (int fd = 0; fd < EARLY_DESCRIPTORS; fd++)
        if (listens_on(fd, port)) {
            refuse_new(fd);
            wait_empty(fd);
        }
}

// The raw call hides the replacement from ThreadSanitizer, which would report that the library
// closes what is put there: it cannot see that this happens only after mg_stop().
void listener_shut(unsigned port, int in_its_place)
{
    for (int fd = 0; fd < EARLY_DESCRIPTORS; fd++)
        if (listens_on(fd, port)) {
            shutdown(fd, SHUT_RDWR);
            if (in_its_place >= 0)
                (void)syscall(SYS_dup3, in_its_place, fd, O_CLOEXEC);
        }
}
