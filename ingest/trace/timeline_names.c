// SPDX-License-Identifier: Apache-2.0
// Reads single texts from a trace file: only the blocks that hold them are unpacked.
#include "ingest/trace/timeline_names.h"

#include <stdlib.h>

struct names {
    const struct trace_file *file;
    struct arena *arena;
    struct timeline *timeline;
    uint32_t *position;   // per text in the file, 0 if not needed yet
    str_id *ids;          // of the names, in order of position
    size_t cap;           // of ids
    uint64_t *spans;      // one block
    uint64_t spans_block; // its index
    char **text;          // blocks unpacked so far
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "out of memory for names");
}

// Gives a text its position.
static bool number(struct names *names, str_id *id, struct err *err)
{
    size_t *count = &names->timeline->name_count;
    if (*id == 0)
        return true;
    if (!names->position[*id]) {
        str_id *ids = budget_room(NULL, names->ids, &names->cap, *count + 1, sizeof *ids, err);
        if (!ids)
            return false;
        names->ids = ids;
        names->ids[*count] = *id;
        names->position[*id] = (uint32_t)(*count)++;
    }
    *id = names->position[*id];
    return true;
}

static bool number_all(struct names *names, struct err *err)
{
    struct timeline *timeline = names->timeline;
    names->ids[0] = 0;
    timeline->name_count = 1;
    for (size_t i = 0; i < timeline->slice_count; i++)
        if (!number(names, &timeline->slices[i].name, err))
            return false;
    for (size_t i = 0; i < timeline->lane_count; i++) {
        struct track *track = &timeline->lanes[i].track;
        if (!number(names, &track->name, err) || !number(names, &track->pid.text, err) ||
            !number(names, &track->tid.text, err))
            return false;
    }
    return true;
}

static const char *text_block(struct names *names, uint64_t block, struct err *err)
{
    if (!names->text[block]) {
        size_t size = trace_file_block_count(names->file, SECTION_TEXT, block);
        names->text[block] = arena_room(names->arena, size, 1, err);
        if (!names->text[block] ||
            !trace_file_block(names->file, SECTION_TEXT, block, names->text[block], err))
            return NULL;
    }
    return names->text[block];
}

// Assembles a text from the blocks it spans.
static bool copy_text(struct names *names, uint64_t offset, size_t len, struct str *text,
                      struct err *err)
{
    char *to = arena_room(names->arena, len + 1, 1, err);
    if (!to)
        return false;
    *text = (struct str){to, len};
    while (len) {
        const char *block = text_block(names, offset / TEXT_BLOCK, err);
        if (!block)
            return false;
        size_t at = offset % TEXT_BLOCK, part = TEXT_BLOCK - at < len ? TEXT_BLOCK - at : len;
        memcpy(to, block + at, part);
        to += part;
        offset += part;
        len -= part;
    }
    *to = '\0';
    return true;
}

static bool read_text(struct names *names, str_id id, struct str *text, struct err *err)
{
    uint64_t block = id / COLUMN_BLOCK, bytes = trace_file_count(names->file, SECTION_TEXT);
    if (block != names->spans_block) {
        if (!trace_file_block(names->file, SECTION_SPANS, block, names->spans, err))
            return false;
        names->spans_block = block;
    }
    uint64_t span = names->spans[id % COLUMN_BLOCK], offset = span >> STRTAB_LEN_BITS;
    size_t len = span & (((uint64_t)1 << STRTAB_LEN_BITS) - 1);
    if (offset > bytes || len > bytes - offset)
        return trace_file_damaged(names->file, "a text is out of bounds", err);
    return copy_text(names, offset, len, text, err);
}

// In file order, so that each block of spans is unpacked once.
static bool read_texts(struct names *names, struct err *err)
{
    struct timeline *timeline = names->timeline;
    uint64_t count = trace_file_count(names->file, SECTION_SPANS);
    timeline->names = arena_array(names->arena, timeline->name_count, sizeof(struct str), err);
    if (!timeline->names)
        return false;
    timeline->names[0] = STR("");
    for (uint64_t id = 1; id < count; id++)
        if (names->position[id] &&
            !read_text(names, (str_id)id, &timeline->names[names->position[id]], err))
            return false;
    return true;
}

bool timeline_names_read(const struct trace_file *file, struct arena *arena,
                         struct timeline *timeline, struct err *err)
{
    size_t blocks = (size_t)(trace_file_count(file, SECTION_TEXT) / TEXT_BLOCK + 1);
    size_t spans = (size_t)trace_file_count(file, SECTION_SPANS);
    struct names names = {.file = file,
                          .arena = arena,
                          .timeline = timeline,
                          .position = calloc(spans + 1, sizeof *names.position),
                          .ids = malloc(256 * sizeof *names.ids),
                          .cap = 256,
                          .spans = malloc(COLUMN_BLOCK * sizeof *names.spans),
                          .spans_block = UINT64_MAX,
                          .text = calloc(blocks, sizeof *names.text)};
    bool ok = (names.position && names.ids && names.spans && names.text) || no_memory(err);
    ok = ok && number_all(&names, err) && read_texts(&names, err);
    free(names.position);
    free(names.ids);
    free(names.spans);
    free(names.text);
    return ok;
}
