// SPDX-License-Identifier: Apache-2.0
#include "ingest/trace/trace_blocks.h"

#include <stdlib.h>

struct trace_blocks trace_blocks_of(const struct trace_file *file, enum section_id id)
{
    return (struct trace_blocks){.file = file, .id = id};
}

void trace_blocks_close(struct trace_blocks *blocks)
{
    for (unsigned i = 0; i < TRACE_BLOCKS_KEPT; i++)
        free(blocks->kept[i].at);
    *blocks = (struct trace_blocks){0};
}

// The block itself if it is kept, else the place of the one that was used longest ago.
static unsigned place_of(const struct trace_blocks *blocks, uint64_t number)
{
    unsigned oldest = 0;
    for (unsigned i = 0; i < TRACE_BLOCKS_KEPT; i++) {
        if (blocks->kept[i].used && blocks->kept[i].number == number)
            return i;
        if (blocks->kept[i].used < blocks->kept[oldest].used)
            oldest = i;
    }
    return oldest;
}

// An unpacked block, valid until TRACE_BLOCKS_KEPT others were read. NULL with ERR_FORMAT, ERR_IO.
static const void *get_block(struct trace_blocks *blocks, uint64_t number, struct err *err)
{
    unsigned i = place_of(blocks, number);
    if (blocks->kept[i].used && blocks->kept[i].number == number) {
        blocks->kept[i].used = ++blocks->uses;
        return blocks->kept[i].at;
    }
    size_t size = section_block(blocks->id) * section_element(blocks->id);
    blocks->kept[i].used = 0;
    if (!blocks->kept[i].at && !(blocks->kept[i].at = malloc(size))) {
        err_set(err, ERR_MEMORY, "out of memory for a block of a trace");
        return NULL;
    }
    if (!trace_file_block(blocks->file, blocks->id, number, blocks->kept[i].at, err))
        return NULL;
    blocks->kept[i].number = number;
    blocks->kept[i].used = ++blocks->uses;
    return blocks->kept[i].at;
}

const void *trace_blocks_element(struct trace_blocks *blocks, uint64_t index, struct err *err)
{
    if (index >= trace_file_count(blocks->file, blocks->id)) {
        trace_file_damaged(blocks->file, "an index is out of bounds", err);
        return NULL;
    }
    const char *block = get_block(blocks, index / section_block(blocks->id), err);
    return block ? block + index % section_block(blocks->id) * section_element(blocks->id) : NULL;
}

// --- texts --------------------------------------------------------------------------------------

struct trace_texts trace_texts_of(const struct trace_file *file)
{
    return (struct trace_texts){.spans = trace_blocks_of(file, SECTION_SPANS),
                                .bytes = trace_blocks_of(file, SECTION_TEXT)};
}

void trace_texts_close(struct trace_texts *texts)
{
    trace_blocks_close(&texts->spans);
    trace_blocks_close(&texts->bytes);
    buf_free(&texts->text);
}

// Assembles a text from the blocks it spans.
static bool copy_text(struct trace_texts *texts, uint64_t offset, size_t len, struct err *err)
{
    buf_clear(&texts->text);
    while (len) {
        const char *block = get_block(&texts->bytes, offset / TEXT_BLOCK, err);
        if (!block)
            return false;
        size_t at = offset % TEXT_BLOCK, part = TEXT_BLOCK - at < len ? TEXT_BLOCK - at : len;
        buf_add(&texts->text, block + at, part);
        offset += part;
        len -= part;
    }
    return buf_ok(&texts->text, err);
}

bool trace_texts_get(struct trace_texts *texts, str_id id, struct str *text, struct err *err)
{
    const uint64_t *span = trace_blocks_element(&texts->spans, id, err);
    if (!span)
        return false;
    uint64_t offset = *span >> STRTAB_LEN_BITS;
    size_t len = *span & (((uint64_t)1 << STRTAB_LEN_BITS) - 1);
    uint64_t bytes = trace_file_count(texts->bytes.file, SECTION_TEXT);
    if (offset > bytes || len > bytes - offset)
        return trace_file_damaged(texts->bytes.file, "a text is out of bounds", err);
    if (!copy_text(texts, offset, len, err))
        return false;
    *text = len ? (struct str){texts->text.at, len} : STR("");
    return true;
}
