// SPDX-License-Identifier: Apache-2.0
// The times of the ranks that are exported.
#include "server/exports/event_source.h"

#include "ingest/trace/trace_events.h"

#define LEAST_WINDOW_SLACK_NS ((int64_t)1) // events without length at the very last instant

int64_t event_source_base(const struct trace_file *file)
{
    int64_t base_ns = trace_file_header(file)->job.base_ns;
    return base_ns >= -TRACE_MAX_NS && base_ns <= TRACE_MAX_NS ? base_ns : 0;
}

int64_t event_source_align(const struct comm_rank *comm, int64_t own_ns)
{
    return comm ? own_ns + run_comm_offset(comm, own_ns) : own_ns;
}

const struct comm_rank *event_source_comm(const struct event_source *source, size_t index)
{
    for (uint32_t i = 0; source->comm && i < source->comm->rank_count; i++)
        if (source->comm->ranks[i].rank == source->ranks[index].rank)
            return &source->comm->ranks[i];
    return NULL;
}

bool event_source_measure(struct event_source *source, struct err *err)
{
    for (size_t i = 0; i < source->count; i++) {
        struct trace_file *file = source->open(source->context, i, err);
        if (!file)
            return false;
        const struct trace_file_header *header = trace_file_header(file);
        const struct comm_rank *comm = event_source_comm(source, i);
        int64_t base_ns = event_source_base(file);
        source->ranks[i].begin_ns = event_source_align(comm, base_ns + header->begin_ns);
        source->ranks[i].end_ns = event_source_align(comm, base_ns + header->end_ns);
        source->ranks[i].events = trace_file_count(file, SECTION_BEGIN);
        trace_file_close(file);
    }
    return true;
}

int64_t event_source_origin(const struct event_source *source)
{
    int64_t origin_ns = source->ranks[0].begin_ns;
    for (size_t i = 1; i < source->count; i++)
        origin_ns = source->ranks[i].begin_ns < origin_ns ? source->ranks[i].begin_ns : origin_ns;
    return origin_ns;
}

int64_t event_source_end(const struct event_source *source)
{
    int64_t end_ns = source->ranks[0].end_ns;
    for (size_t i = 1; i < source->count; i++)
        end_ns = source->ranks[i].end_ns > end_ns ? source->ranks[i].end_ns : end_ns;
    return end_ns;
}

struct trace_window event_source_window(const struct event_source *source,
                                        const struct comm_rank *comm, int64_t base_ns)
{
    if (source->from_ns <= 0 && source->to_ns < 0)
        return (struct trace_window){INT64_MIN, INT64_MAX};
    // The offset hardly differs within a window, so that of its start is exact enough.
    const struct event_rank *base = &source->ranks[source->base];
    int64_t first_ns = base->begin_ns;
    int64_t shift_ns = event_source_align(comm, first_ns) - first_ns + base_ns;
    int64_t from_ns = first_ns + source->from_ns - shift_ns;
    int64_t to_ns = source->to_ns < 0 ? INT64_MAX : first_ns + source->to_ns - shift_ns;
    bool to_end = source->to_ns >= 0 && first_ns + source->to_ns >= base->end_ns;
    return (struct trace_window){from_ns, to_end ? to_ns + LEAST_WINDOW_SLACK_NS : to_ns};
}
