// SPDX-License-Identifier: Apache-2.0
#include "analysis/hangs/hang_pairs.h"

// The peer of "nccl:recv 0<-3", a place in the group.
static bool peer_of(struct str op, int64_t *peer)
{
    size_t from = str_digits_start(op, op.len);
    return from && str_to_i64((struct str){op.at + from, op.len - from}, peer);
}

struct hang_dump *hang_peer(const struct hang_job *job, const struct hang_dump *dump)
{
    int64_t peer, rank = -1;
    const struct flight_entry *entry = dump->oldest_p2p;
    if (!entry || !peer_of(hang_text(dump->flight, entry->op), &peer))
        return NULL;
    struct str list = hang_text(dump->flight, dump->flight->groups[entry->group].ranks);
    while (peer >= 0 && flight_next_rank(&list, &rank))
        peer--;
    return peer < 0 ? hang_find_dump(job, rank) : NULL;
}

static bool says(const struct flight *flight, const struct flight_entry *entry, struct str word)
{
    return str_find(hang_text(flight, entry->op), word) != SIZE_MAX;
}

static bool sends(const struct hang_dump *dump)
{
    return says(dump->flight, dump->oldest_p2p, STR("send"));
}

static bool receives(const struct hang_dump *dump)
{
    return says(dump->flight, dump->oldest_p2p, STR("recv"));
}

// The elements that pass, FLIGHT_UNKNOWN if the dump does not say.
static int64_t elements_of(const struct hang_dump *dump)
{
    const struct flight_entry *entry = dump->oldest_p2p;
    bool out = receives(dump) && entry->output.elements != FLIGHT_UNKNOWN;
    return out ? entry->output.elements : entry->input.elements;
}

static bool sizes_differ(const struct hang_dump *a, const struct hang_dump *b)
{
    int64_t x = elements_of(a), y = elements_of(b);
    bool meet = (sends(a) && receives(b)) || (receives(a) && sends(b));
    return meet && x != FLIGHT_UNKNOWN && y != FLIGHT_UNKNOWN && x != y;
}

// Operations of one batch share a sequence number.
static bool is_queued_behind(const struct flight_entry *oldest, const struct flight_entry *entry)
{
    return entry->group == oldest->group && entry->p2p_seq > oldest->p2p_seq;
}

const struct flight_entry *hang_counterpart(const struct hang_dump *dump)
{
    const struct flight_entry *oldest = dump->oldest_p2p, *behind = NULL;
    int64_t peer, other;
    if (!oldest || !peer_of(hang_text(dump->flight, oldest->op), &peer))
        return NULL;
    struct str other_way = sends(dump) ? STR("recv") : STR("send");
    for (size_t i = 0; i < dump->flight->entry_count; i++) {
        const struct flight_entry *entry = &dump->flight->entries[i];
        if (!entry->is_p2p || !hang_is_unfinished(entry) || !says(dump->flight, entry, other_way))
            continue;
        // Another group may number its members otherwise: any peer will do.
        if (entry->group == oldest->group &&
            !(peer_of(hang_text(dump->flight, entry->op), &other) && other == peer))
            continue;
        if (!is_queued_behind(oldest, entry))
            return entry;
        behind = behind ? behind : entry;
    }
    return behind;
}

// A send that is not met holds its rank; what a receive waits for may have been sent before the
// dumps begin.
static bool is_held(const struct hang_dump *dump)
{
    const struct flight_entry *counterpart = hang_counterpart(dump);
    return counterpart ? is_queued_behind(dump->oldest_p2p, counterpart) : sends(dump);
}

static bool cross(const struct hang_dump *a, const struct hang_dump *b)
{
    bool same_way = (sends(a) && sends(b)) || (receives(a) && receives(b));
    return same_way && is_held(a) && is_held(b);
}

struct hang_pair hang_pair_find(const struct hang_job *job)
{
    struct hang_pair found = {{NULL, NULL}, true};
    for (size_t i = 0; i < job->dump_count; i++) {
        const struct hang_dump *one = &job->dumps[i], *other = hang_peer(job, one);
        if (!other || other <= one || hang_peer(job, other) != one)
            continue;
        if (sizes_differ(one, other))
            return (struct hang_pair){{one, other}, false};
        if (!found.ends[0] && cross(one, other))
            found = (struct hang_pair){{one, other}, true};
    }
    return found;
}
