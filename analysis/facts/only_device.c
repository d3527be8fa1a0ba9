// SPDX-License-Identifier: Apache-2.0
#include "analysis/facts/only_device.h"

static bool has_work(const struct trace *trace, const struct track *track)
{
    for (uint32_t e = track->first; e < track->first + track->count; e++)
        if (!event_is_copy((enum event_kind)trace->kind[e], trace_text(trace, trace->name[e])))
            return true;
    return false;
}

static bool is_same(struct label a, struct label b)
{
    return a.number == b.number && a.text == b.text;
}

const struct track *only_device(const struct trace *trace)
{
    const struct track *only = NULL;
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        bool known = only && is_same(only->pid, track->pid);
        if (track->family != TRACK_DEVICE || known || !has_work(trace, track))
            continue;
        if (only)
            return NULL;
        only = track;
    }
    return only;
}
