// SPDX-License-Identifier: Apache-2.0
#include "server/exports/event_size.h"

#include "server/exports/event_walk.h"

#define SAMPLE_EVENTS ((uint64_t)8000)
#define MOST_EVENTS   (4 * SAMPLE_EVENTS)
enum { TRIES = 12, WIDER = 8 };

// --- which part ---------------------------------------------------------------------------------

struct span {
    int64_t from_ns, to_ns; // on the common clock
};

static struct span window_of(const struct event_source *source, const struct event_rank *rank)
{
    const struct event_rank *base = &source->ranks[source->base];
    struct span span = {rank->begin_ns, rank->end_ns};
    int64_t from_ns = base->begin_ns + source->from_ns;
    if (source->from_ns > 0 && from_ns > span.from_ns)
        span.from_ns = from_ns;
    if (source->to_ns >= 0 && base->begin_ns + source->to_ns < span.to_ns)
        span.to_ns = base->begin_ns + source->to_ns;
    return span;
}

// An estimate, as if events were spread evenly.
static uint64_t events_within(const struct event_rank *rank, struct span span)
{
    double whole_ns = (double)(rank->end_ns - rank->begin_ns);
    double part_ns = (double)(span.to_ns - span.from_ns);
    if (part_ns <= 0)
        return 0;
    return part_ns < whole_ns ? (uint64_t)((double)rank->events * (part_ns / whole_ns))
                              : rank->events;
}

static struct trace_file *open_sampled(void *context, size_t index, struct err *err)
{
    const struct event_sample *sample = context;
    (void)index; // it is the only one
    return sample->of->open(sample->of->context, sample->index, err);
}

static void count_slice(struct event_walk *walk, const struct walk_slice *slice, struct buf *out)
{
    uint64_t *events = walk->context;
    (void)slice;
    (void)out;
    ++*events;
}

// Counts all lanes, as a source does; stops once there are too many.
static bool count_events(struct event_sample *sample, struct err *err)
{
    static const struct walk_writer writer = {.slice = count_slice};
    struct event_source source = sample->source;
    struct event_walk walk;
    struct buf out = {0};
    bool more = true, ok = true;
    source.device_only = false;
    sample->events = 0;
    event_walk_open(&walk, &source, &writer, &sample->events);
    while (ok && more && sample->events <= MOST_EVENTS)
        ok = event_walk_next(&walk, &out, &more, err);
    event_walk_close(&walk);
    buf_free(&out);
    return ok;
}

// A window of that length in the middle of the rank's part, or all of the part.
static void place_window(struct event_sample *sample, struct span span, int64_t length_ns)
{
    int64_t most_ns = span.to_ns - span.from_ns;
    int64_t ns = length_ns < most_ns ? length_ns : most_ns;
    int64_t from_ns = span.from_ns + (most_ns - ns) / 2 - sample->rank.begin_ns;
    sample->source.from_ns = from_ns > 0 ? from_ns : 0;
    sample->source.to_ns = sample->source.from_ns + (ns > 0 ? ns : 1);
}

// Events come in bursts: wider where there are none, narrower where there are too many.
static bool search_window(struct event_sample *sample, struct span span, double length_ns,
                          struct err *err)
{
    double none_ns = 0, many_ns = 0; // 0: no such length is known
    for (int i = 0; i < TRIES; i++) {
        place_window(sample, span, (int64_t)length_ns);
        if (!count_events(sample, err))
            return false;
        if (sample->events > MOST_EVENTS)
            many_ns = length_ns;
        else if (sample->events == 0)
            none_ns = length_ns;
        else
            break;
        if (none_ns > 0 && many_ns > 0)
            length_ns = (none_ns + many_ns) / 2;
        else
            length_ns = many_ns > 0 ? many_ns / WIDER : none_ns * WIDER;
    }
    return true;
}

bool event_sample_choose(struct event_sample *sample, const struct event_source *source,
                         struct err *err)
{
    uint64_t most = 0;
    *sample = (struct event_sample){.of = source, .source = *source, .index = source->base};
    for (size_t i = 0; i < source->count; i++) {
        const struct event_rank *rank = &source->ranks[i];
        uint64_t events = events_within(rank, window_of(source, rank));
        sample->expected += events;
        if (events > most) {
            most = events;
            sample->index = i;
        }
    }
    if (sample->expected <= SAMPLE_EVENTS) {
        if (!count_events(sample, err))
            return false;
        sample->is_all = sample->events <= MOST_EVENTS;
        if (sample->is_all)
            return true;
        sample->expected = sample->events;
    }
    sample->rank = source->ranks[sample->index];
    sample->source.ranks = &sample->rank;
    sample->source.count = 1;
    sample->source.base = 0;
    sample->source.open = open_sampled;
    sample->source.context = sample;
    struct span span = window_of(source, &sample->rank);
    double share = (double)SAMPLE_EVENTS / (double)most;
    return search_window(sample, span,
                         (double)(span.to_ns - span.from_ns) * (share < 1 ? share : 1), err);
}

// --- its size -----------------------------------------------------------------------------------

bool event_sample_size(const struct event_sample *sample, const struct event_export *format,
                       struct event_size *size, struct err *err)
{
    struct buf out = {0};
    void *state = NULL;
    double bytes = 0;
    bool more = true, ok = format->open(&sample->source, &state, err);
    while (ok && more) {
        ok = format->next(state, &out, &more, err) && buf_ok(&out, err);
        bytes += (double)out.len;
        buf_clear(&out);
    }
    if (state)
        format->close(state);
    buf_free(&out);
    double scale =
        sample->is_all || !sample->events ? 1 : (double)sample->expected / (double)sample->events;
    *size = (struct event_size){(uint64_t)(bytes * (scale > 1 ? scale : 1)), sample->is_all};
    return ok;
}
