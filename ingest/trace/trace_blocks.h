// SPDX-License-Identifier: Apache-2.0
// A section of an open trace file, read anywhere in bounded memory: the blocks used last are kept.
#ifndef INGEST_TRACE_TRACE_BLOCKS_H
#define INGEST_TRACE_TRACE_BLOCKS_H

#include "ingest/base/buf.h"
#include "ingest/trace/trace_file_open.h"

#define TRACE_BLOCKS_KEPT 8u

struct trace_blocks {
    const struct trace_file *file;
    enum section_id id;
    uint64_t uses;
    struct {
        uint64_t number, used; // used: 0 for none
        void *at;
    } kept[TRACE_BLOCKS_KEPT];
};

// The blocks of a section. Pair with trace_blocks_close.
struct trace_blocks trace_blocks_of(const struct trace_file *file, enum section_id id);
void trace_blocks_close(struct trace_blocks *blocks);

// An element, valid until TRACE_BLOCKS_KEPT other blocks were read. NULL with ERR_FORMAT if there
// is none.
MUST_CHECK const void *trace_blocks_element(struct trace_blocks *blocks, uint64_t index,
                                            struct err *err);

// Texts by their id.
struct trace_texts {
    struct trace_blocks spans, bytes;
    struct buf text;
};

struct trace_texts trace_texts_of(const struct trace_file *file);
void trace_texts_close(struct trace_texts *texts);

// A text, valid until the next call. ERR_FORMAT if there is none.
MUST_CHECK bool trace_texts_get(struct trace_texts *texts, str_id id, struct str *text,
                                struct err *err);

#endif
