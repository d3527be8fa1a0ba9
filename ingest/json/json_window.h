// SPDX-License-Identifier: Apache-2.0
// The part of a JSON stream that is in memory: text and the offsets of its quotes and brackets.
// Text that was read leaves at the front; blocks from the source are added at the end.
#ifndef INGEST_JSON_WINDOW_H
#define INGEST_JSON_WINDOW_H

#include "ingest/base/budget.h"
#include "ingest/json/json_index.h"
#include "ingest/source/source.h"

// Each item of the stream (an event, a value) must fit; larger ones are skipped.
#define JSON_WINDOW_MAX_ITEM ((size_t)16 << 20)

struct json_window {
    struct source *source;
    struct budget *budget;
    json_index_fn *index;
    char *text; // followed by a NUL, at which scans stop by themselves, and SIMD_SLACK readable
                // bytes
    size_t len, cap;
    uint64_t base;  // offset of text[0] in the stream
    size_t indexed; // bytes of text whose tokens are known
    size_t step;    // how many to index next
    uint32_t *tokens;
    size_t token_count, token_cap;
    struct json_index_state state;
    size_t pos, token; // start of what the reader has not consumed yet
    bool ended;        // the source has no more
    struct err cut;    // why it ended early: the compressed stream is cut or damaged
};

MUST_CHECK bool json_window_open(struct json_window *window, struct source *source,
                                 struct budget *budget, struct err *err);
void json_window_close(struct json_window *window); // the source stays open

// Turns the window into a view of text in memory that is followed by a NUL and the readable bytes
// and remains the caller's; offset is its position in the stream. Of the old window, only the
// budget and the room for tokens are kept.
void json_window_view(struct json_window *window, struct str text, uint64_t offset);

// Continues with an empty window at the source's position, at a stream offset between items.
void json_window_seek(struct json_window *window, uint64_t offset);

// Brings in more tokens, or more text once everything is indexed; what is before pos and token may
// be dropped, and both are adjusted. *more is false at the end of the stream. A damaged compressed
// stream ends there (see cut); other failures are failures.
MUST_CHECK bool json_window_more(struct json_window *window, bool *more, struct err *err);

// Brings in more text without indexing it.
MUST_CHECK bool json_window_read(struct json_window *window, bool *more, struct err *err);

// Consumes up to text offset pos, which is outside any string, whether indexed or not.
void json_window_advance(struct json_window *window, size_t pos);

// Continues at text offset pos, reindexing as if outside any string.
void json_window_restart(struct json_window *window, size_t pos);

#endif
