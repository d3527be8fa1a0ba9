// SPDX-License-Identifier: Apache-2.0
// One thread checks all watched sockets a few times per window.
#include "server/http/pace.h"

#include "ingest/base/clock.h"
#include "server/base/cond.h"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define LOOKS_PER_WINDOW 20

struct watched {
    int fd; // -1: the slot is free
    enum pace_way way;
    bool cut;
    int64_t since_ns;     // start of the window
    uint64_t since_bytes; // transferred until then
};

struct pace {
    struct pace_config config;
    pthread_t thread;
    pthread_mutex_t lock; // guards all below
    pthread_cond_t stopping;
    bool stop;
    struct watched slots[];
};

static uint64_t moved_bytes(int fd, enum pace_way way)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof(info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size))
        return 0;
    return way == PACE_BODY ? info.tcpi_bytes_received : info.tcpi_bytes_acked;
}

// If bytes of a body wait unread, or the client has taken all of an answer, we are the slow side.
static bool waits_for_us(int fd, enum pace_way way)
{
    int waiting = 0;
    if (way == PACE_BODY)
        return ioctl(fd, FIONREAD, &waiting) == 0 && waiting > 0;
    return ioctl(fd, SIOCOUTQ, &waiting) == 0 && waiting == 0;
}

// After a body an answer can still be sent. For an answer, what the kernel still holds is dropped.
static void cut(struct watched *watched)
{
    static const struct linger at_once = {.l_onoff = 1};
    watched->cut = true;
    if (watched->way == PACE_ANSWER)
        setsockopt(watched->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    shutdown(watched->fd, watched->way == PACE_BODY ? SHUT_RD : SHUT_RDWR);
}

static void look(const struct pace_config *config, struct watched *watched, int64_t now_ns)
{
    if (watched->fd < 0 || watched->cut ||
        now_ns - watched->since_ns < (int64_t)config->window_ms * 1000000)
        return;
    uint64_t bytes = moved_bytes(watched->fd, watched->way);
    bool slow = bytes - watched->since_bytes < config->window_bytes &&
                !waits_for_us(watched->fd, watched->way);
    watched->since_ns = now_ns;
    watched->since_bytes = bytes;
    if (slow)
        cut(watched);
}

static void *watch(void *arg)
{
    struct pace *pace = arg;
    pthread_mutex_lock(&pace->lock);
    while (!pace->stop) {
        int64_t until =
            clock_mono_ns() + (int64_t)pace->config.window_ms * 1000000 / LOOKS_PER_WINDOW;
        cond_wait_until(&pace->stopping, &pace->lock, until);
        int64_t now_ns = clock_mono_ns();
        for (unsigned i = 0; i < pace->config.slots && !pace->stop; i++)
            look(&pace->config, &pace->slots[i], now_ns);
    }
    pthread_mutex_unlock(&pace->lock);
    return NULL;
}

struct pace *pace_start(const struct pace_config *config, struct err *err)
{
    struct pace *pace = calloc(1, sizeof(*pace) + config->slots * sizeof(*pace->slots));
    if (!pace) {
        err_set(err, ERR_MEMORY, "out of memory to watch connections");
        return NULL;
    }
    pace->config = *config;
    for (unsigned i = 0; i < config->slots; i++)
        pace->slots[i].fd = -1;
    pthread_mutex_init(&pace->lock, NULL);
    cond_init(&pace->stopping);
    if (pthread_create(&pace->thread, NULL, watch, pace) == 0)
        return pace;
    err_set(err, ERR_INTERNAL, "cannot start the thread that watches connections");
    free(pace);
    return NULL;
}

void pace_stop(struct pace *pace)
{
    if (!pace)
        return;
    pthread_mutex_lock(&pace->lock);
    pace->stop = true;
    pthread_cond_signal(&pace->stopping);
    pthread_mutex_unlock(&pace->lock);
    pthread_join(pace->thread, NULL);
    pthread_cond_destroy(&pace->stopping);
    pthread_mutex_destroy(&pace->lock);
    free(pace);
}

int pace_enter(struct pace *pace, int fd, enum pace_way way)
{
    if (fd < 0)
        return -1;
    pthread_mutex_lock(&pace->lock);
    int slot = 0;
    while (slot < (int)pace->config.slots && pace->slots[slot].fd >= 0)
        slot++;
    if (slot == (int)pace->config.slots)
        slot = -1;
    else
        pace->slots[slot] = (struct watched){
            .fd = fd, .way = way, .since_ns = clock_mono_ns(), .since_bytes = moved_bytes(fd, way)};
    pthread_mutex_unlock(&pace->lock);
    return slot;
}

bool pace_was_cut(struct pace *pace, int slot)
{
    if (slot < 0)
        return false;
    pthread_mutex_lock(&pace->lock);
    bool cut = pace->slots[slot].cut;
    pthread_mutex_unlock(&pace->lock);
    return cut;
}

void pace_leave(struct pace *pace, int slot)
{
    if (slot < 0)
        return;
    pthread_mutex_lock(&pace->lock);
    pace->slots[slot].fd = -1;
    pthread_mutex_unlock(&pace->lock);
}

// -1 if it is not an internet address. The port is in the same place in both families.
static int port_of(const struct sockaddr_storage *end)
{
    struct sockaddr_in6 address;
    memcpy(&address, end, sizeof(address));
    bool is_internet = end->ss_family == AF_INET || end->ss_family == AF_INET6;
    return is_internet ? ntohs(address.sin6_port) : -1;
}

bool pace_peer(int fd, unsigned own_port, char address[NI_MAXHOST], int *port)
{
    struct sockaddr_storage peer = {0}, own = {0};
    socklen_t peer_size = sizeof(peer), own_size = sizeof(own);
    if (getpeername(fd, (struct sockaddr *)&peer, &peer_size) != 0 ||
        getsockname(fd, (struct sockaddr *)&own, &own_size) != 0 || port_of(&own) != (int)own_port)
        return false;
    *port = port_of(&peer);
    return getnameinfo((struct sockaddr *)&peer, peer_size, address, NI_MAXHOST, NULL, 0,
                       NI_NUMERICHOST) == 0;
}
