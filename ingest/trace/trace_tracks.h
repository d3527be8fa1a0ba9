// SPDX-License-Identifier: Apache-2.0
// The tracks of an open trace file.
#ifndef INGEST_TRACE_TRACE_TRACKS_H
#define INGEST_TRACE_TRACE_TRACKS_H

#include "ingest/base/arena.h"
#include "ingest/trace/trace_file_open.h"

// Reads all tracks into the arena; each lies within the file's events and has at least one.
// ERR_FORMAT if one does not.
MUST_CHECK bool trace_tracks_read(const struct trace_file *file, struct arena *arena,
                                  struct track **tracks, size_t *count, struct err *err);

// A whole section in the arena; never NULL on success, even if it is empty.
MUST_CHECK void *trace_tracks_section(const struct trace_file *file, enum section_id id,
                                      struct arena *arena, struct err *err);

static inline bool track_is_device(const struct track *track)
{
    return track->family == TRACK_DEVICE || track->family == TRACK_DEVICE_NOTE;
}

#endif
