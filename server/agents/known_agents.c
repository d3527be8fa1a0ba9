// SPDX-License-Identifier: Apache-2.0
#include "server/agents/known_agents.h"

#include "ingest/base/clock.h"
#include "server/agents/capture_file.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#define SECOND_NS  1000000000LL
#define SILENT_NS  (60 * SECOND_NS)
#define OFFER_NS   (20 * SECOND_NS)  // so that ranks of all nodes start together
#define AGAIN_NS   (120 * SECOND_NS) // after a service that ended has started again
#define CAPTURE_NS (3600 * SECOND_NS)

struct known_agents {
    pthread_mutex_t lock;
    struct known_node *nodes[AGENTS_MOST_NODES];
    size_t node_count;
    struct wanted_capture captures[AGENTS_MOST_CAPTURES];
    size_t capture_count;
    char path[1024]; // "": they are not kept
};

// Keeps times out of the future after the clock was set back.
static int64_t no_later(int64_t at_ns, int64_t now_ns)
{
    return at_ns < now_ns ? at_ns : now_ns;
}

static void load(struct known_agents *agents)
{
    int64_t now_ns = clock_wall_ns();
    agents->capture_count = capture_file_load(agents->path, agents->captures);
    for (size_t i = 0; i < agents->capture_count; i++) {
        struct wanted_capture *capture = &agents->captures[i];
        capture->at_ns = no_later(capture->at_ns, now_ns);
        capture->offered_ns = now_ns - capture->at_ns <= AGAIN_NS ? now_ns : capture->at_ns;
    }
}

struct known_agents *known_agents_new(const char *path, struct err *err)
{
    struct known_agents *agents = calloc(1, sizeof *agents);
    if (!agents) {
        err_set(err, ERR_MEMORY, "out of memory for agents");
        return NULL;
    }
    pthread_mutex_init(&agents->lock, NULL);
    assert(!path || strlen(path) < sizeof agents->path);
    snprintf(agents->path, sizeof agents->path, "%s", path ? path : "");
    if (path)
        load(agents);
    return agents;
}

void known_agents_free(struct known_agents *agents)
{
    if (!agents)
        return;
    for (size_t i = 0; i < agents->node_count; i++)
        free(agents->nodes[i]);
    pthread_mutex_destroy(&agents->lock);
    free(agents);
}

// --- with the lock held -------------------------------------------------------------------------

static void drop(struct known_agents *agents, size_t at)
{
    free(agents->nodes[at]);
    agents->nodes[at] = agents->nodes[--agents->node_count];
}

static void age(struct known_agents *agents, int64_t now_ns)
{
    for (size_t i = 0; i < agents->node_count;)
        if (now_ns - agents->nodes[i]->seen_ns > SILENT_NS)
            drop(agents, i);
        else
            i++;
    size_t kept = 0;
    for (size_t i = 0; i < agents->capture_count; i++) {
        struct wanted_capture *capture = &agents->captures[i];
        capture->at_ns = no_later(capture->at_ns, now_ns);
        capture->offered_ns = no_later(capture->offered_ns, now_ns);
        if (now_ns - capture->at_ns <= CAPTURE_NS)
            agents->captures[kept++] = *capture;
    }
    agents->capture_count = kept;
}

// By owner; among one's nodes, first the one that is missed least.
static int compare_nodes(const void *left, const void *right)
{
    const struct known_node *a = *(struct known_node *const *)left;
    const struct known_node *b = *(struct known_node *const *)right;
    int order = strcmp(a->owner, b->owner);
    order = order ? order : (a->process_count > 0) - (b->process_count > 0);
    return order ? order : (a->seen_ns > b->seen_ns) - (a->seen_ns < b->seen_ns);
}

// Whoever has most nodes loses one to an owner who has at least two fewer, so that no token takes
// all places, and two with the same number do not take one from each other in turn.
static bool give_way(struct known_agents *agents, const char *owner)
{
    size_t first = 0, own = 0, most = 0, most_at = 0;
    qsort(agents->nodes, agents->node_count, sizeof *agents->nodes, compare_nodes);
    for (size_t i = 0; i < agents->node_count; i++) {
        if (strcmp(agents->nodes[i]->owner, agents->nodes[first]->owner) != 0)
            first = i;
        own += strcmp(agents->nodes[i]->owner, owner) == 0;
        if (i - first >= most) {
            most = i - first + 1;
            most_at = first;
        }
    }
    if (most < own + 2)
        return false;
    drop(agents, most_at);
    return true;
}

// A node is the same only for the same token.
static struct known_node *see(struct known_agents *agents, const struct known_node *now)
{
    for (size_t i = 0; i < agents->node_count; i++)
        if (strcmp(agents->nodes[i]->name, now->name) == 0 &&
            strcmp(agents->nodes[i]->owner, now->owner) == 0)
            return agents->nodes[i];
    if (agents->node_count == AGENTS_MOST_NODES && !give_way(agents, now->owner))
        return NULL;
    struct known_node *node = calloc(1, sizeof *node);
    if (node)
        agents->nodes[agents->node_count++] = node;
    return node;
}

static bool is_of(const struct wanted_capture *capture, const struct known_process *process)
{
    char job[32];
    bool found = capture->rank_count == 0;
    for (size_t i = 0; i < capture->rank_count; i++)
        found = found || capture->ranks[i] == process->rank;
    snprintf(job, sizeof job, "%lld", (long long)process->job);
    return found && (!capture->job[0] || strcmp(capture->job, job) == 0);
}

static bool is_for(const struct wanted_capture *capture, const struct known_node *node)
{
    if (capture->owner[0] && strcmp(capture->owner, node->owner) != 0)
        return false;
    for (size_t i = 0; i < node->process_count; i++)
        if (is_of(capture, &node->processes[i]))
            return true;
    return false;
}

static void put_capture(const struct wanted_capture *capture, struct buf *out)
{
    buf_printf(out, "{\"id\":\"%s\",\"run\":", capture->id);
    buf_json(out, str_of(capture->run));
    buf_puts(out, ",\"job\":");
    buf_json(out, str_of(capture->job));
    buf_printf(out, ",\"steps\":%lld,\"warmup\":%lld,\"roundup\":%lld,\"nodes\":%lld,\"ranks\":[",
               (long long)capture->steps, (long long)capture->warmup, (long long)capture->roundup,
               (long long)capture->handed);
    for (size_t i = 0; i < capture->rank_count; i++) {
        buf_puts(out, i ? "," : "");
        buf_i64(out, capture->ranks[i]);
    }
    buf_puts(out, "]}");
}

static void put_node(const struct known_node *node, struct buf *out)
{
    char at[CLOCK_RFC3339_SIZE];
    clock_rfc3339(node->seen_ns, at);
    buf_puts(out, "{\"node\":");
    buf_json(out, str_of(node->name));
    buf_printf(out, ",\"seen\":\"%s\",\"processes\":[", at);
    for (size_t i = 0; i < node->process_count; i++) {
        const struct known_process *process = &node->processes[i];
        buf_printf(out, "%s{\"pid\":%lld,\"job\":\"%lld\",\"rank\":", i ? "," : "",
                   (long long)process->pid, (long long)process->job);
        if (process->rank < 0)
            buf_puts(out, "null");
        else
            buf_i64(out, process->rank);
        buf_printf(out, ",\"busy\":%s}", process->is_busy ? "true" : "false");
    }
    buf_puts(out, "]}");
}

// --- from outside -------------------------------------------------------------------------------

bool known_agents_poll(struct known_agents *agents, const struct known_node *now, struct buf *out,
                       struct err *err)
{
    bool first = true;
    int64_t now_ns = clock_wall_ns();
    pthread_mutex_lock(&agents->lock);
    age(agents, now_ns);
    struct known_node *node = see(agents, now);
    buf_putc(out, '[');
    for (size_t i = 0; node && i < agents->capture_count; i++) {
        struct wanted_capture *capture = &agents->captures[i];
        if (now_ns - capture->offered_ns > OFFER_NS || !is_for(capture, now))
            continue;
        buf_puts(out, first ? "" : ",");
        // Counts each node once: one that asked since the offer began, with processes for it, has
        // it.
        capture->handed += capture->offered_ns > node->seen_ns || !is_for(capture, node);
        put_capture(capture, out);
        first = false;
    }
    if (node)
        *node = *now;
    buf_putc(out, ']');
    pthread_mutex_unlock(&agents->lock);
    return node ||
           err_set(err, ERR_LIMIT, "found more than %d nodes with agents", AGENTS_MOST_NODES);
}

static bool new_id(char *id, size_t size, struct err *err)
{
    unsigned char random[8];
    char hex[17];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return err_set_errno(err, "cannot make an id");
    str_hex(hex, random, sizeof random);
    snprintf(id, size, "c_%s", hex);
    return true;
}

// With the lock held. A capture that cannot be saved is refused.
static bool add(struct known_agents *agents, const struct wanted_capture *capture, struct err *err)
{
    agents->captures[agents->capture_count++] = *capture;
    if (!agents->path[0] ||
        capture_file_save(agents->path, agents->captures, agents->capture_count, err))
        return true;
    agents->capture_count--;
    return false;
}

bool known_agents_want(struct known_agents *agents, struct wanted_capture *capture, size_t *nodes,
                       struct err *err)
{
    size_t most = capture->is_automatic ? AGENTS_MOST_CAPTURES / 2 : AGENTS_MOST_CAPTURES;
    *nodes = 0;
    capture->at_ns = capture->offered_ns = clock_wall_ns();
    if (!new_id(capture->id, sizeof capture->id, err))
        return false;
    pthread_mutex_lock(&agents->lock);
    age(agents, clock_wall_ns());
    bool ok = agents->capture_count < most ||
              err_set(err, ERR_LIMIT, "found %zu captures within an hour, no more are taken", most);
    ok = ok && add(agents, capture, err);
    for (size_t i = 0; i < agents->node_count; i++)
        *nodes += is_for(capture, agents->nodes[i]);
    pthread_mutex_unlock(&agents->lock);
    return ok;
}

static bool has_job(const struct known_node *node, int64_t job)
{
    for (size_t i = 0; i < node->process_count; i++)
        if (node->processes[i].job == job)
            return true;
    return false;
}

bool known_agents_have(struct known_agents *agents, int64_t job, const char *owner)
{
    bool found = false;
    pthread_mutex_lock(&agents->lock);
    age(agents, clock_wall_ns());
    for (size_t i = 0; i < agents->node_count && !found; i++)
        found = (!owner[0] || strcmp(owner, agents->nodes[i]->owner) == 0) &&
                has_job(agents->nodes[i], job);
    pthread_mutex_unlock(&agents->lock);
    return found;
}

void known_agents_nodes(struct known_agents *agents, struct buf *out)
{
    pthread_mutex_lock(&agents->lock);
    age(agents, clock_wall_ns());
    buf_putc(out, '[');
    for (size_t i = 0; i < agents->node_count; i++) {
        buf_puts(out, i ? "," : "");
        put_node(agents->nodes[i], out);
    }
    buf_putc(out, ']');
    pthread_mutex_unlock(&agents->lock);
}

void known_agents_captures(struct known_agents *agents, struct buf *out)
{
    pthread_mutex_lock(&agents->lock);
    age(agents, clock_wall_ns());
    buf_putc(out, '[');
    for (size_t i = 0; i < agents->capture_count; i++) {
        buf_puts(out, i ? "," : "");
        put_capture(&agents->captures[i], out);
    }
    buf_putc(out, ']');
    pthread_mutex_unlock(&agents->lock);
}
