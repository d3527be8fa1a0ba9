// SPDX-License-Identifier: Apache-2.0
// Joins rows by their labels.
#include "analysis/facts/track_pairs.h"

#include "analysis/facts/facts.h"
#include "analysis/stats/groups.h"
#include "ingest/base/search.h"

#include <assert.h>

// One number per pair of labels, the same for rows of all families.
static bool number_rows(const struct trace *trace, struct groups *groups, uint32_t *number_of,
                        struct err *err)
{
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        uint32_t pid, tid;
        if (!groups_index(groups, (uint64_t)track->pid.number, (uint64_t)track->pid.text << 2, &pid,
                          err) ||
            !groups_index(groups, (uint64_t)track->tid.number, (uint64_t)track->tid.text << 2 | 1,
                          &tid, err) ||
            !groups_index(groups, pid, (uint64_t)tid << 2 | 2, &number_of[t], err))
            return false;
    }
    return true;
}

bool track_pairs_make(const struct trace *trace, enum track_family family, struct arena *arena,
                      uint32_t **pairs, struct err *err)
{
    uint32_t *number_of = arena_array(arena, trace->track_count, sizeof(uint32_t), err);
    *pairs = arena_array(arena, trace->track_count, sizeof(uint32_t), err);
    if (!number_of || !*pairs)
        return false;
    struct groups groups;
    groups_init(&groups, trace->budget);
    bool ok = number_rows(trace, &groups, number_of, err);
    uint32_t *row = ok ? arena_array(arena, groups.count, sizeof(uint32_t), err) : NULL;
    groups_free(&groups);
    if (!row)
        return false;
    for (uint32_t t = 0; t < trace->track_count; t++)
        if (trace->tracks[t].family == family)
            row[number_of[t]] = t + 1;
    for (uint32_t t = 0; t < trace->track_count; t++)
        (*pairs)[t] = row[number_of[t]] ? row[number_of[t]] - 1 : FACTS_NONE;
    return true;
}

uint32_t track_of_event(const struct trace *trace, uint32_t event)
{
    assert(event < trace->event_count);
    return count_upto_u32(FIRST_OF(trace->tracks, first), trace->track_count, sizeof *trace->tracks,
                          event) -
           1;
}
