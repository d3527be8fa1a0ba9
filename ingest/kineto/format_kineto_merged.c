// SPDX-License-Identifier: Apache-2.0
// Traces of several ranks that SGLang merged into one file (merged_ranks.h), each its own process
// of it. Its merger writes one trace after another, and the members beside the events once.
#include "ingest/kineto/merged_ranks.h"

#include "ingest/base/fuzzed.h"
#include "ingest/json/json_outline.h"
#include "ingest/kineto/format_kineto.h"
#include "ingest/source/source.h"

#include <stdlib.h>

enum { MOST_LABEL = 64, MOST_RANK = 1 << 20 };

#define BLOCK_BYTES FUZZED_SIZE((size_t)256 << 10, (size_t)256)
// From a key up to the end of a label, with room for blanks.
#define MOST_PID ((size_t)128)

struct merged_label {
    uint32_t hash;
    int64_t tensor_rank; // TP; -1 none
};

struct merged_labels {
    uint32_t count;
    struct merged_label at[FORMAT_MAX_PARTS];
};

// --- labels -------------------------------------------------------------------------------------

static size_t skip_blanks(struct str text, size_t at)
{
    while (at < text.len && memchr(" \t\r\n", text.at[at], 4))
        at++;
    return at;
}

// The next process with a label at or after *at, which moves past its key.
static bool next_label(struct str text, size_t *at, struct str *label)
{
    static const struct str key = {"\"pid\"", 5};
    for (size_t found;
         (found = str_find((struct str){text.at + *at, text.len - *at}, key)) != SIZE_MAX;) {
        *at += found + key.len;
        size_t value = skip_blanks(text, *at);
        value = value < text.len && text.at[value] == ':' ? skip_blanks(text, value + 1) : text.len;
        if (value == text.len || text.at[value] != '"')
            continue;
        size_t left = text.len - value - 1;
        struct str pid = {text.at + value + 1, left < MOST_LABEL ? left : MOST_LABEL};
        if (merged_rank_label(pid, label) && !memchr(label->at, '"', label->len))
            return true;
    }
    return false;
}

// 3 of "[TP03-DP01]"; -1 if it has none.
static int64_t tensor_rank_of(struct str label)
{
    int64_t rank = 0;
    size_t at = str_find(label, STR("TP")), digits = 0;
    for (at = at == SIZE_MAX ? label.len : at + 2; at < label.len; at++, digits++) {
        if (!str_is_digit(label.at[at]) || rank > MOST_RANK)
            break;
        rank = rank * 10 + (label.at[at] - '0');
    }
    return digits && rank <= MOST_RANK ? rank : -1;
}

static void note_label(struct merged_labels *labels, struct str label)
{
    uint32_t i = labels->count, hash = merged_rank_hash(label);
    while (i > 0 && labels->at[i - 1].hash != hash) // mostly the last
        i--;
    if (i == 0 && labels->count < FORMAT_MAX_PARTS)
        labels->at[labels->count++] = (struct merged_label){hash, tensor_rank_of(label)};
}

static bool find_labels(struct source *source, char *block, struct merged_labels *labels,
                        struct err *err)
{
    struct source_place place = {0, block, BLOCK_BYTES};
    for (size_t got;; place.offset += got - MOST_PID) {
        struct str label;
        if (!source_read_at(source, &place, &got, err))
            return false;
        for (size_t at = 0; next_label((struct str){block, got}, &at, &label);)
            note_label(labels, label);
        if (got < BLOCK_BYTES)
            return true;
    }
}

// --- ranks --------------------------------------------------------------------------------------

// Whether the ranks within tensor parallelism are those of the job: each is there once.
static bool tensor_ranks_differ(const struct merged_labels *labels)
{
    for (uint32_t i = 0; i < labels->count; i++) {
        bool differs = labels->at[i].tensor_rank >= 0;
        for (uint32_t j = 0; differs && j < i; j++)
            differs = labels->at[j].tensor_rank != labels->at[i].tensor_rank;
        if (!differs)
            return false;
    }
    return true;
}

// Else the merger's order counts: by DP, EP, PP and TP.
static void list_parts(const struct merged_labels *labels, struct format_parts *parts)
{
    bool tensor = tensor_ranks_differ(labels);
    parts->count = labels->count;
    for (uint32_t i = 0; i < labels->count; i++) {
        int64_t rank = tensor ? labels->at[i].tensor_rank : i;
        parts->at[i] = (rank + 1) << 32 | labels->at[i].hash;
    }
}

static bool merged_parts(struct source *source, struct format_parts *parts, struct err *err)
{
    struct merged_labels *labels = calloc(1, sizeof *labels);
    char *block = malloc(BLOCK_BYTES);
    bool ok = (labels && block) || err_set(err, ERR_MEMORY, "out of memory");
    ok = ok && find_labels(source, block, labels, err);
    if (ok)
        list_parts(labels, parts);
    free(block);
    free(labels);
    return ok;
}

// --- reading ------------------------------------------------------------------------------------

static bool merged_read(const struct format_input *input, struct err *err)
{
    struct format_input whole = *input;
    struct kineto_own own = {(uint32_t)(uint64_t)input->part, (input->part >> 32) - 1};
    whole.source = source_stream_open(input->source, err);
    if (!whole.source)
        return false;
    bool ok = input->part == FORMAT_WHOLE ? format_kineto.read(&whole, err)
                                          : kineto_read_own(own, &whole, err);
    source_close(whole.source);
    return ok;
}

static enum format_likeness merged_probe(const struct format_sample *sample)
{
    size_t at = 0;
    struct str label;
    bool is = sample->outline->root == '{' && json_outline_has(sample->outline, "traceEvents") &&
              next_label(sample->head, &at, &label);
    return is ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_kineto_merged = {
    .name = "kineto-merged",
    .what = "traces of several ranks that SGLang merged",
    .kind = FORMAT_TRACE,
    .access = FORMAT_SEEK,
    .probe = merged_probe,
    .read = merged_read,
    .parts = merged_parts,
};
