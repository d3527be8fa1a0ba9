// SPDX-License-Identifier: Apache-2.0
// Memory snapshots as pages (python -m torch.cuda._memory_viz trace_plot snapshot.pickle): the
// pickle is in the page as base64, in a list of local files.
#include "ingest/source/source.h"
#include "ingest/torch/snapshot_calls.h"
#include "ingest/torch/snapshot_pickle.h"

#include <stdlib.h>

#define MARK "\"base64\": \""

enum { BLOCK = 65536 };

// The bytes that the text between two quotes stands for.
struct embedded {
    struct source source;
    struct source *page;
    size_t at, end;
    uint32_t bits; // of what was read
    unsigned bit_count;
    bool ended;
    char block[BLOCK];
};

// The next byte of the page; -1 at its end.
static bool next_char(struct embedded *embedded, int *c, struct err *err)
{
    if (embedded->at == embedded->end) {
        embedded->at = 0;
        if (!source_read(embedded->page, embedded->block, BLOCK, &embedded->end, err))
            return false;
    }
    *c = embedded->at < embedded->end ? (unsigned char)embedded->block[embedded->at++] : -1;
    return true;
}

static int value_of(int c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c > 0 ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static bool embedded_read(struct source *source, void *bytes, size_t cap, size_t *got,
                          struct err *err)
{
    struct embedded *embedded = (struct embedded *)source;
    unsigned char *out = bytes;
    int c;
    *got = 0;
    while (*got < cap && !embedded->ended) {
        if (!next_char(embedded, &c, err))
            return false;
        int value = value_of(c);
        embedded->ended = value < 0;
        if (embedded->ended)
            break;
        embedded->bits = embedded->bits << 6 | (uint32_t)value;
        embedded->bit_count += 6;
        if (embedded->bit_count < 8)
            continue;
        embedded->bit_count -= 8;
        out[(*got)++] = (unsigned char)(embedded->bits >> embedded->bit_count);
    }
    return true;
}

static void embedded_close(struct source *source)
{
    free(source);
}

static uint64_t embedded_consumed(const struct source *source)
{
    return source_consumed(((const struct embedded *)source)->page);
}

static const struct source_ops embedded_ops = {
    .read = embedded_read, .close = embedded_close, .consumed = embedded_consumed};

// Reads up to the first byte after the mark. Only the mark's first byte is a quote.
static bool find_mark(struct embedded *embedded, struct err *err)
{
    size_t matched = 0;
    int c;
    while (matched < strlen(MARK)) {
        if (!next_char(embedded, &c, err))
            return false;
        if (c < 0)
            return err_set(err, ERR_FORMAT,
                           "found a page of memory_viz without a snapshot in it; upload the "
                           ".pickle that it was made of");
        matched = c == MARK[matched] ? matched + 1 : c == MARK[0];
    }
    return true;
}

static bool gather_snapshot(const struct format_input *input, struct err *err)
{
    struct format_input pickled = *input;
    struct embedded *embedded = calloc(1, sizeof *embedded);
    if (!embedded)
        return err_set(err, ERR_MEMORY, "out of memory");
    embedded->source.ops = &embedded_ops;
    embedded->page = input->source;
    pickled.source = &embedded->source;
    bool ok = find_mark(embedded, err) && snapshot_pickle_gather(&pickled, err);
    source_close(&embedded->source);
    return ok;
}

static bool count_snapshot(const struct format_input *input, struct err *err)
{
    return snapshot_count(input, gather_snapshot, err);
}

static enum format_likeness probe_snapshot(const struct format_sample *sample)
{
    size_t blank = 0; // memory_viz starts with an empty line
    while (blank < sample->head.len && memchr(" \t\r\n", sample->head.at[blank], 4))
        blank++;
    bool page = blank < sample->head.len && sample->head.at[blank] == '<';
    return page && str_find(sample->head, STR("local_files")) != SIZE_MAX &&
                   str_find(sample->head, STR("\"base64\"")) != SIZE_MAX
               ? FORMAT_SURE
               : FORMAT_UNLIKE;
}

const struct format format_memory_snapshot_html = {
    .name = "memory-snapshot",
    .what = "a memory snapshot as a page of memory_viz",
    .kind = FORMAT_RECORDS,
    .ending = ".html",
    .probe = probe_snapshot,
    .count = count_snapshot,
    .gather = gather_snapshot,
};
