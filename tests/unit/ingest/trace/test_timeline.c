// SPDX-License-Identifier: Apache-2.0
// Windows of the timeline against all events of random traces.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "ingest/trace/timeline.h"
#include "ingest/base/search.h"
#include "ingest/trace/trace_builder.h"
#include "ingest/trace/trace_file.h"

#define EVENTS 60000u

struct place {
    char path[64];
    struct budget budget;
    struct trace *trace;
    uint8_t *rows; // per event
    struct trace_file *file;
    struct arena arena;
};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void add_event(struct trace_builder *builder, enum event_kind kind, int64_t begin_ns,
                      int64_t dur_ns, str_id name)
{
    struct err err;
    struct event_record event = {.kind = kind,
                                 .pid = {kind == EVENT_KERNEL ? 0 : 1, 0},
                                 .tid = {7, 0},
                                 .name = name,
                                 .begin_ns = begin_ns,
                                 .dur_ns = dur_ns};
    assert_true(trace_builder_add(builder, &event, &err));
}

// Operators within operators, in bursts, and kernels of all sizes that sometimes overlap.
static struct trace *make_trace(struct budget *budget)
{
    struct err err;
    uint64_t state = 7;
    int64_t at_ns = 1000;
    str_id names[16];
    struct trace_builder *builder = trace_builder_new(budget, &err);
    assert_non_null(builder);
    for (size_t i = 0; i < 16; i++) {
        char text[32];
        snprintf(text, sizeof text, "name%zu", i);
        assert_true(strtab_intern(trace_builder_strings(builder), (struct str){text, strlen(text)},
                                  &names[i], &err));
    }
    for (uint32_t i = 0; i < EVENTS; i++) {
        int64_t dur_ns = (int64_t)(next_random(&state) % (i % 97 ? 900 : 90000));
        str_id name = names[next_random(&state) % 16];
        add_event(builder, EVENT_CPU_OP, at_ns, dur_ns, name);
        add_event(builder, EVENT_CPU_OP, at_ns + dur_ns / 4, dur_ns / 2, name);
        add_event(builder, EVENT_KERNEL, at_ns + 50, i % 50 ? dur_ns : 2 * dur_ns + 500, name);
        at_ns += dur_ns + (int64_t)(next_random(&state) % (i % 1000 ? 300 : 3000000));
    }
    struct trace *trace = trace_builder_seal(builder, &err);
    assert_non_null(trace);
    return trace;
}

// Rows as the format defines them: below all that are running, on a stream in the first free one.
static uint8_t *find_rows(const struct trace *trace)
{
    uint8_t *rows = malloc(trace->event_count);
    for (const struct track *t = trace->tracks; t < trace->tracks + trace->track_count; t++) {
        int64_t busy_until_ns[TIMELINE_ROWS];
        for (uint32_t row = 0; row < TIMELINE_ROWS; row++)
            busy_until_ns[row] = INT64_MIN;
        for (uint32_t i = t->first; i < t->first + t->count; i++) {
            uint32_t free_row = 0, below_all = 0;
            while (busy_until_ns[free_row] > trace->begin_ns[i])
                free_row++;
            for (uint32_t row = 0; row < TIMELINE_ROWS; row++)
                below_all = busy_until_ns[row] > trace->begin_ns[i] ? row + 1 : below_all;
            rows[i] = (uint8_t)(t->family == TRACK_DEVICE ? free_row : below_all);
            busy_until_ns[rows[i]] = trace->begin_ns[i] + trace->dur_ns[i];
        }
    }
    return rows;
}

static int open_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    struct err err = {0};
    snprintf(place->path, sizeof place->path, "/tmp/stepscope-timeline-XXXXXX");
    int fd = mkstemp(place->path);
    assert_true(fd >= 0);
    close(fd);
    unlink(place->path);
    place->trace = make_trace(&place->budget);
    place->rows = find_rows(place->trace);
    if (!trace_file_save(place->trace, place->path, &err))
        fail_msg("%s", err.msg);
    place->file = trace_file_open(place->path, &err);
    assert_non_null(place->file);
    *state = place;
    return 0;
}

static int close_place(void **state)
{
    struct place *place = *state;
    trace_file_close(place->file);
    trace_free(place->trace);
    unlink(place->path);
    free(place->rows);
    free(place);
    return 0;
}

// --- properties of every window -----------------------------------------------------------------

// Events of a lane that overlap the window.
struct sums {
    uint64_t count;
    int64_t busy_ns;
};

static struct sums touching(const struct trace *trace, const struct track *track, int64_t from_ns,
                            int64_t to_ns)
{
    struct sums sums = {0};
    for (uint32_t i = track->first; i < track->first + track->count; i++) {
        int64_t begin_ns = trace->begin_ns[i], end_ns = begin_ns + trace->dur_ns[i];
        if (begin_ns >= to_ns || (end_ns <= from_ns && begin_ns < from_ns))
            continue;
        sums.count++;
        sums.busy_ns += trace->dur_ns[i];
    }
    return sums;
}

// Whether the trace has exactly that event on the track.
static bool has_event(const struct trace *trace, const struct track *track,
                      const struct slice *slice, struct str name)
{
    const int64_t *begin_ns = trace->begin_ns + track->first;
    uint32_t low =
        track->first + count_below_i64(begin_ns, track->count, sizeof *begin_ns, slice->begin_ns);
    for (; low < track->first + track->count && trace->begin_ns[low] == slice->begin_ns; low++)
        if (trace->dur_ns[low] == slice->end_ns - slice->begin_ns &&
            trace->kind[low] == slice->kind && str_equal(trace_text(trace, trace->name[low]), name))
            return true;
    return false;
}

// Rows have at most px slices, in order and disjoint, and any two neighbors are visible.
static void check_rows(const struct timeline *t, const struct timeline_lane *lane, uint32_t px)
{
    uint32_t in_row = 0;
    for (size_t i = lane->first; i < lane->first + lane->count; i++) {
        const struct slice *slice = &t->slices[i], *previous = slice - 1;
        bool goes_on = i > lane->first && previous->row == slice->row;
        in_row = goes_on ? in_row + 1 : 1;
        assert_true(in_row <= px);
        assert_true(slice->count == 1 || slice->end_ns - slice->begin_ns <= t->resolution_ns);
        if (i > lane->first)
            assert_true(previous->row <= slice->row);
        if (goes_on) {
            assert_true(previous->end_ns <= slice->begin_ns);
            assert_true(slice->end_ns - previous->begin_ns > t->resolution_ns);
        }
    }
}

// The next event of a row from a place on; the end of the track if there is none.
static uint32_t next_on(const struct place *place, const struct track *track, uint32_t row,
                        uint32_t event)
{
    while (event < track->first + track->count && place->rows[event] != row)
        event++;
    return event;
}

// Whether a slice represents the events of its row from a place on, to the nanosecond; *event then
// moves past them.
static bool stands_for(const struct place *place, const struct timeline_lane *lane,
                       const struct slice *slice, struct str name, uint32_t *event)
{
    const struct trace *trace = place->trace;
    struct slice sum = {.longest_ns = -1};
    uint32_t at = *event, end = lane->track.first + lane->track.count;
    for (; at < end && sum.count < slice->count; sum.count++) {
        int64_t begin_ns = trace->begin_ns[at], dur_ns = trace->dur_ns[at];
        sum.begin_ns = sum.count ? sum.begin_ns : begin_ns;
        sum.end_ns = begin_ns + dur_ns;
        sum.busy_ns += dur_ns;
        if (dur_ns > sum.longest_ns) {
            sum.longest_ns = dur_ns;
            sum.name = trace->name[at];
        }
        at = next_on(place, &lane->track, slice->row, at + 1);
    }
    *event = at;
    return sum.count == slice->count && sum.begin_ns == slice->begin_ns &&
           sum.end_ns == slice->end_ns && sum.busy_ns == slice->busy_ns &&
           sum.longest_ns == slice->longest_ns && str_equal(trace_text(trace, sum.name), name);
}

// Where the events of a lane's first slice start.
static uint32_t first_event(const struct place *place, const struct timeline *t,
                            const struct timeline_lane *lane, const struct slice *slice)
{
    uint32_t end = lane->track.first + lane->track.count;
    uint32_t event = next_on(place, &lane->track, slice->row, lane->track.first);
    for (; event < end; event = next_on(place, &lane->track, slice->row, event + 1)) {
        uint32_t behind = event;
        if (place->trace->begin_ns[event] == slice->begin_ns &&
            stands_for(place, lane, slice, t->names[slice->name], &behind))
            return event;
    }
    fail_msg("no events are those of the slice at %lld", (long long)slice->begin_ns);
    return end;
}

static bool touches(const struct trace *trace, uint32_t event, const struct timeline_query *query)
{
    int64_t begin_ns = trace->begin_ns[event], end_ns = begin_ns + trace->dur_ns[event];
    return begin_ns < query->to_ns && (end_ns > query->from_ns || begin_ns >= query->from_ns);
}

// Slices partition the events of each row that overlap the window, without a gap.
static void check_events(const struct place *place, const struct timeline *t,
                         const struct timeline_lane *lane, const struct timeline_query *query)
{
    const struct track *track = &lane->track;
    uint32_t event = 0, end = track->first + track->count;
    for (size_t i = lane->first; i < lane->first + lane->count; i++) {
        const struct slice *slice = &t->slices[i];
        bool begins_row = i == lane->first || slice[-1].row != slice->row;
        if (begins_row) {
            event = first_event(place, t, lane, slice);
            for (uint32_t k = track->first; k < event; k++)
                assert_false(place->rows[k] == slice->row && touches(place->trace, k, query));
        }
        assert_true(stands_for(place, lane, slice, t->names[slice->name], &event));
        bool ends_row = i + 1 == lane->first + lane->count || slice[1].row != slice->row;
        for (; ends_row && event < end; event = next_on(place, track, slice->row, event + 1))
            assert_false(touches(place->trace, event, query));
    }
}

static void check_lane(const struct place *place, const struct timeline *t,
                       const struct timeline_lane *lane, const struct timeline_query *query)
{
    struct sums sums = {0};
    for (size_t i = lane->first; i < lane->first + lane->count; i++) {
        const struct slice *slice = &t->slices[i];
        sums.count += slice->count;
        sums.busy_ns += slice->busy_ns;
        if (slice->count == 1)
            assert_true(has_event(place->trace, &lane->track, slice, t->names[slice->name]));
    }
    check_rows(t, lane, query->px);
    check_events(place, t, lane, query);
    // A merged slice at an end of the window may include neighbors outside it.
    struct sums least = touching(place->trace, &lane->track, query->from_ns, query->to_ns);
    struct sums most = touching(place->trace, &lane->track, query->from_ns - t->resolution_ns,
                                query->to_ns + t->resolution_ns);
    assert_in_range(sums.count, least.count, most.count);
    assert_true(sums.busy_ns >= least.busy_ns && sums.busy_ns <= most.busy_ns);
}

static void check_window(struct place *place, const struct timeline_query *query)
{
    struct err err = {0};
    struct timeline t;
    arena_init(&place->arena, NULL);
    if (!timeline_read(place->file, query, &place->arena, &t, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(t.lane_count, query->device_only ? 1 : 2);
    for (size_t i = 0; i < t.lane_count; i++)
        check_lane(place, &t, &t.lanes[i], query);
    arena_free(&place->arena);
}

static void any_window_shows_all_events_that_touch_it(void **state)
{
    struct place *place = *state;
    const struct trace_file_header *header = trace_file_header(place->file);
    uint64_t seed = 3, whole_ns = (uint64_t)(header->end_ns - header->begin_ns);
    for (uint32_t i = 0; i < 200; i++) {
        uint64_t width_ns = (whole_ns >> (i % 24)) + 1;
        uint64_t at_ns = (next_random(&seed) << 31 | next_random(&seed)) % whole_ns;
        struct timeline_query query = {
            .from_ns = header->begin_ns + (int64_t)at_ns - (int64_t)(width_ns / 2),
            .px = TIMELINE_MIN_PX + (uint32_t)(next_random(&seed) % 2000),
            .rows = TIMELINE_ROWS,
            .device_only = i % 5 == 0};
        query.to_ns = query.from_ns + (int64_t)width_ns;
        check_window(place, &query);
    }
}

static void the_whole_trace_is_summed_exactly(void **state)
{
    struct place *place = *state;
    const struct trace_file_header *header = trace_file_header(place->file);
    struct timeline_query query = {header->begin_ns, header->end_ns + 1, 800, TIMELINE_ROWS, false};
    struct err err = {0};
    struct timeline t;
    uint64_t count = 0;
    arena_init(&place->arena, NULL);
    assert_true(timeline_read(place->file, &query, &place->arena, &t, &err));
    for (size_t i = 0; i < t.slice_count; i++)
        count += t.slices[i].count;
    assert_int_equal(count, 3 * EVENTS);
    assert_true(trace_file_count(place->file, SECTION_LEVELS) > 3); // they were used
    arena_free(&place->arena);
}

static void a_narrow_window_shows_single_events_on_their_rows(void **state)
{
    struct place *place = *state;
    const struct track *track = &place->trace->tracks[0];
    int64_t begin_ns = place->trace->begin_ns[track->first + track->count / 2];
    struct timeline_query query = {begin_ns, begin_ns + 1000, 4000, TIMELINE_ROWS, false};
    struct err err = {0};
    struct timeline t;
    arena_init(&place->arena, NULL);
    assert_true(timeline_read(place->file, &query, &place->arena, &t, &err));
    assert_int_equal(t.resolution_ns, 1);
    assert_true(t.slice_count > 1);
    for (size_t i = 0; i < t.slice_count; i++)
        assert_int_equal(t.slices[i].busy_ns, t.slices[i].end_ns - t.slices[i].begin_ns);
    query.rows = 1;
    assert_true(timeline_read(place->file, &query, &place->arena, &t, &err));
    for (size_t i = 0; i < t.slice_count; i++)
        assert_int_equal(t.slices[i].row, 0);
    arena_free(&place->arena);
}

// A row of 10,000 operators of 100 ns, and one that a wrong clock moved by years.
static struct trace *make_far_trace(struct budget *budget)
{
    struct err err;
    struct trace_builder *builder = trace_builder_new(budget, &err);
    assert_non_null(builder);
    for (int64_t i = 0; i < 10000; i++)
        add_event(builder, EVENT_CPU_OP, i * 100, 100, 0);
    add_event(builder, EVENT_CPU_OP, TRACE_MAX_NS / 2, 5, 0);
    struct trace *trace = trace_builder_seal(builder, &err);
    assert_non_null(trace);
    return trace;
}

static void an_event_far_away_leaves_levels_for_all_others(void **state)
{
    struct place *place = *state;
    struct level_entry levels[TIMELINE_ROWS];
    struct budget budget = {0};
    struct err err = {0};
    struct trace *trace = make_far_trace(&budget);
    char path[80];
    snprintf(path, sizeof path, "%s-far", place->path);
    assert_true(trace_file_save(trace, path, &err));
    struct trace_file *file = trace_file_open(path, &err);
    assert_non_null(file);
    assert_in_range(trace_file_count(file, SECTION_LEVELS), 4, TIMELINE_ROWS);
    assert_true(trace_file_section(file, SECTION_LEVELS, levels, &err));
    assert_in_range(levels[0].width_ns, 1000, 4000); // of 16 events, as a power of two
    trace_file_close(file);
    trace_free(trace);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_window_shows_all_events_that_touch_it),
        cmocka_unit_test(the_whole_trace_is_summed_exactly),
        cmocka_unit_test(a_narrow_window_shows_single_events_on_their_rows),
        cmocka_unit_test(an_event_far_away_leaves_levels_for_all_others),
    };
    return cmocka_run_group_tests(tests, open_place, close_place);
}
