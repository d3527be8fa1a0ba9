// SPDX-License-Identifier: Apache-2.0
#include "ingest/trace/trace_tracks.h"

void *trace_tracks_section(const struct trace_file *file, enum section_id id, struct arena *arena,
                           struct err *err)
{
    void *to = arena_room(arena, (size_t)trace_file_count(file, id) + 1, section_element(id), err);
    return to && trace_file_section(file, id, to, err) ? to : NULL;
}

static bool unpack_track(const struct trace_file *file, const int64_t *f, struct track *track)
{
    int64_t texts = (int64_t)trace_file_count(file, SECTION_SPANS);
    int64_t events = (int64_t)trace_file_count(file, SECTION_BEGIN);
    if (f[0] < 0 || f[0] > TRACK_OTHER || f[2] < 0 || f[2] >= texts || f[4] < 0 || f[4] >= texts ||
        f[5] < 0 || f[5] >= texts || f[6] < 0 || f[6] > events || f[7] < 1 || f[7] > events - f[6])
        return false;
    *track = (struct track){.family = (enum track_family)f[0],
                            .pid = {f[1], (str_id)f[2]},
                            .tid = {f[3], (str_id)f[4]},
                            .name = (str_id)f[5],
                            .first = (uint32_t)f[6],
                            .count = (uint32_t)f[7]};
    return true;
}

bool trace_tracks_read(const struct trace_file *file, struct arena *arena, struct track **tracks,
                       size_t *count, struct err *err)
{
    *count = (size_t)trace_file_count(file, SECTION_TRACKS);
    const int64_t *fields = trace_tracks_section(file, SECTION_TRACKS, arena, err);
    *tracks = arena_array(arena, *count + 1, sizeof **tracks, err);
    if (!fields || !*tracks)
        return false;
    for (size_t i = 0; i < *count; i++)
        if (!unpack_track(file, fields + i * TRACK_FIELDS, &(*tracks)[i]))
            return trace_file_damaged(file, "a track is out of bounds", err);
    return true;
}
