// SPDX-License-Identifier: Apache-2.0
// Which machine and device each rank ran on: as given in the trace, else inferred from the device
// numbers, which restart on each machine.
#include "analysis/run/run.h"
#include "analysis/report/tables.h"
#include "analysis/ranks/run_comm.h"

bool run_place_is_host(struct str key)
{
    static const char *const keys[] = {"hostname", "host_name", "host", "node",
                                       "distributed.hostname"};
    return str_is_one_of(key, keys, sizeof keys / sizeof *keys);
}

struct str run_place_host(const struct run *run, size_t rank)
{
    const struct table *environment = run_head(run, rank, "environment");
    for (size_t i = 0; environment && i < environment->row_count; i++)
        if (run_place_is_host(table_cell(environment, i, ENVIRONMENT_KEY)->s))
            return table_cell(environment, i, ENVIRONMENT_VALUE)->s;
    return STR("");
}

// The number in a device's name, "cuda:3" or "GPU 3" or "3"; -1 without one.
static int64_t number_of(struct str device)
{
    int64_t number;
    size_t from = str_digits_start(device, device.len);
    return str_to_i64((struct str){device.at + from, device.len - from}, &number) ? number : -1;
}

// The device of a rank that has only one; -1 otherwise.
static int64_t device_of(const struct run *run, size_t rank)
{
    const struct table *breakdown = run_head(run, rank, "breakdown");
    int64_t device = -1;
    for (size_t i = 0; breakdown && i < breakdown->row_count; i++) {
        const struct cell *name = table_cell(breakdown, i, BREAKDOWN_DEVICE);
        if (!table_is(breakdown, i, BREAKDOWN_SCOPE, STR("device")) || name->null)
            continue;
        if (device >= 0)
            return -1;
        device = number_of(name->s);
        if (device < 0)
            return -1;
    }
    return device;
}

// Devices per machine, from the numbers that occur, if the ranks are laid out machine by machine; 0
// if they are not, or no number is known.
static int64_t devices_per_node(const struct run *run)
{
    int64_t most = -1;
    for (size_t i = 0; i < run->count; i++)
        most = run->places[i].local_rank > most ? run->places[i].local_rank : most;
    for (size_t i = 0; most >= 0 && i < run->count; i++) {
        int64_t local = run->places[i].local_rank;
        if (local >= 0 && local != run->ranks[i] % (most + 1))
            return 0;
    }
    return most + 1;
}

static bool name_nodes(struct run *run, int64_t per_node, struct err *err)
{
    for (size_t i = 0; i < run->count; i++) {
        const char *name =
            arena_printf(run->scratch, err, "%lld", (long long)(run->ranks[i] / per_node));
        if (!name)
            return false;
        run->places[i].node = str_of(name);
    }
    return true;
}

bool run_place(struct run *run, struct err *err)
{
    bool named = false;
    run->places = arena_array(run->scratch, run->count, sizeof *run->places, err);
    if (!run->places)
        return false;
    for (size_t i = 0; i < run->count; i++) {
        run->places[i] = (struct run_place){run_place_host(run, i), device_of(run, i)};
        named = named || run->places[i].node.len;
    }
    int64_t per_node = devices_per_node(run);
    // If each rank sees only one device, all have the same number, which means nothing; nor does it
    // for a single rank.
    if (per_node <= 1 || run->count == 1)
        for (size_t i = 0; i < run->count; i++)
            run->places[i].local_rank = -1;
    else if (!named)
        return name_nodes(run, per_node, err);
    return true;
}

// Whether the present ranks of a group are on one machine; NULL if unknown.
static const char *span_of(const struct run *run, const struct comm_group *group)
{
    bool one = true;
    for (uint32_t i = 0; i < group->rank_count; i++) {
        struct str node = run->places[group->ranks[i]].node;
        if (node.len == 0)
            return NULL;
        one = one && str_equal(node, run->places[group->ranks[0]].node);
    }
    bool whole = group->rank_count > 1 && group->rank_count == group->size;
    return !one ? "inter-node" : whole ? "intra-node" : NULL;
}

void run_place_groups(const struct run *run, struct run_comm *comm)
{
    for (uint32_t g = 0; g < comm->group_count; g++)
        if (!comm->groups[g].span)
            comm->groups[g].span = span_of(run, &comm->groups[g]);
}
