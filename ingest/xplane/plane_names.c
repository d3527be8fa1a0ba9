// SPDX-License-Identifier: Apache-2.0
#include "ingest/xplane/plane_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ENTRY_KEY = 1, ENTRY_VALUE };
enum { META_NAME = 2, META_STATS = 5 };
enum { VALUE_ID = 1, VALUE_UNSIGNED = 3, VALUE_SIGNED, VALUE_TEXT, VALUE_NAME = 7 };

struct plane_meta {
    uint64_t id;
    struct proto name, message;
    str_id interned;        // of an event, when it is first used
    enum plane_stat stat;   // of a statistic
    const char *collective; // of an event, or that a statistic is named as a category
};

void plane_names_clear(struct plane_names *names)
{
    struct budget *budget = trace_builder_budget(names->builder);
    budget_free(budget, names->events.at, names->events.cap * sizeof *names->events.at);
    budget_free(budget, names->stats.at, names->stats.cap * sizeof *names->stats.at);
    names->events = names->stats = (struct plane_metas){0};
}

static bool text_of(struct plane_names *names, const struct proto *bytes, struct str *text,
                    struct err *err)
{
    size_t len;
    if (!proto_text(bytes, names->text, names->text_cap, &len, err))
        return false;
    *text = (struct str){names->text, len};
    return true;
}

// --- what names say -----------------------------------------------------------------------------

static enum plane_stat stat_named(struct str name)
{
    static const struct {
        const char *name;
        enum plane_stat stat;
    } known[] = {
        {"correlation_id", STAT_CORRELATION}, {"step_num", STAT_STEP},
        {"memcpy_details", STAT_COPY},        {"Memset_details", STAT_SET},
        {"memset_details", STAT_SET},         {"kernel_details", STAT_KERNEL},
        {"cuda_graph_exec_id", STAT_GRAPH},   {"memalloc_details", STAT_NO_WORK},
        {"MemFree_details", STAT_NO_WORK},    {"MemoryResidency_details", STAT_NO_WORK},
        {"hlo_category", STAT_CATEGORY},      {"profile_start_time", STAT_START_TIME},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_equal(name, str_of(known[i].name)))
            return known[i].stat;
    return STAT_OTHER;
}

// By the category or the name of an HLO instruction: "all-reduce", "%all-gather-start.3 = ...",
// "all-reduce-scatter fusion".
static const char *collective_named(struct str text)
{
    static const struct {
        const char *start, *collective;
    } known[] = {
        {"all-reduce-scatter", "reduce_scatter"},
        {"reduce-scatter", "reduce_scatter"},
        {"all-reduce", "allreduce"},
        {"all-gather", "allgather"},
        {"all-to-all", "alltoall"},
        {"ragged-all-to-all", "alltoall"},
        {"collective-permute", "collective_permute"},
        {"collective-broadcast", "broadcast"},
        {"send", "send"},
        {"recv", "recv"},
    };
    if (text.len && text.at[0] == '%')
        text = (struct str){text.at + 1, text.len - 1};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct str start = str_of(known[i].start);
        if (str_starts_with(text, start) &&
            (text.len == start.len || memchr(" .-", text.at[start.len], 3)))
            return known[i].collective;
    }
    return NULL;
}

// --- entries ------------------------------------------------------------------------------------

static bool read_entry(struct proto entry, struct plane_meta *meta, struct err *err)
{
    struct proto_field field;
    *meta = (struct plane_meta){.name = {entry.file, 0, 0}, .message = {entry.file, 0, 0}};
    while (proto_next(&entry, &field, err)) {
        if (field.number == ENTRY_KEY && !field.is_bytes)
            meta->id = field.value;
        if (field.number != ENTRY_VALUE || !field.is_bytes)
            continue;
        struct proto value = meta->message = field.bytes;
        while (proto_next(&value, &field, err))
            if (field.number == META_NAME && field.is_bytes)
                meta->name = field.bytes;
    }
    return err->code == ERR_NONE;
}

bool plane_names_add(struct plane_names *names, struct plane_metas *metas, struct proto entry,
                     struct err *err)
{
    struct plane_meta meta;
    if (!read_entry(entry, &meta, err))
        return false;
    struct plane_meta *at = budget_room(trace_builder_budget(names->builder), metas->at,
                                        &metas->cap, metas->count + 1, sizeof *at, err);
    if (!at)
        return false;
    metas->at = at;
    at[metas->count++] = meta;
    return true;
}

static int by_id(const void *left, const void *right)
{
    const struct plane_meta *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static void sort(struct plane_metas *metas)
{
    if (metas->count)
        qsort(metas->at, metas->count, sizeof *metas->at, by_id);
}

// Numbers mostly count from 1.
static struct plane_meta *find(const struct plane_metas *metas, uint64_t id)
{
    struct plane_meta key = {.id = id};
    if (id - 1 < metas->count && metas->at[id - 1].id == id)
        return &metas->at[id - 1];
    return metas->count ? bsearch(&key, metas->at, metas->count, sizeof key, by_id) : NULL;
}

bool plane_names_done(struct plane_names *names, struct err *err)
{
    struct str name;
    sort(&names->events);
    sort(&names->stats);
    for (size_t i = 0; i < names->stats.count; i++) {
        struct plane_meta *stat = &names->stats.at[i];
        if (!text_of(names, &stat->name, &name, err))
            return false;
        stat->stat = stat_named(name);
        stat->collective = collective_named(name);
    }
    return true;
}

// --- values -------------------------------------------------------------------------------------

// Texts that occur often are kept as names of statistics.
bool plane_names_value(struct plane_names *names, struct proto stat, struct plane_value *value,
                       struct err *err)
{
    struct proto_field field;
    struct str text;
    uint64_t id = 0, name = 0;
    struct proto bytes = {stat.file, 0, 0};
    *value = (struct plane_value){0};
    while (proto_next(&stat, &field, err)) {
        if (field.number == VALUE_ID)
            id = field.value;
        else if (field.number == VALUE_UNSIGNED || field.number == VALUE_SIGNED)
            value->number = field.value;
        else if (field.number == VALUE_NAME)
            name = field.value;
        else if (field.number == VALUE_TEXT && field.is_bytes)
            bytes = field.bytes;
    }
    const struct plane_meta *meta = find(&names->stats, id), *named = find(&names->stats, name);
    value->stat = meta ? meta->stat : STAT_OTHER;
    value->collective = named ? named->collective : NULL;
    if (value->stat == STAT_CATEGORY && bytes.end > bytes.at) {
        if (!text_of(names, &bytes, &text, err))
            return false;
        value->collective = collective_named(text);
    }
    return err->code == ERR_NONE;
}

// --- events -------------------------------------------------------------------------------------

static bool read_category(struct plane_names *names, struct plane_meta *meta, struct err *err)
{
    struct proto_field field;
    struct plane_value value;
    struct proto message = meta->message;
    while (proto_next(&message, &field, err)) {
        if (field.number != META_STATS || !field.is_bytes)
            continue;
        if (!plane_names_value(names, field.bytes, &value, err))
            return false;
        if (value.stat == STAT_CATEGORY && value.collective)
            meta->collective = value.collective;
    }
    return err->code == ERR_NONE;
}

static bool intern(struct plane_names *names, struct plane_meta *meta, struct err *err)
{
    struct str text;
    if (!text_of(names, &meta->name, &text, err))
        return false;
    meta->collective = collective_named(text);
    return trace_builder_text(names->builder, text, meta->name.at, &meta->interned, err) &&
           read_category(names, meta, err);
}

// A file may lack what a number means.
static bool name_unknown(struct plane_names *names, uint64_t id, str_id *name, struct err *err)
{
    char text[32];
    snprintf(text, sizeof text, "event %" PRIu64, id);
    return trace_builder_text(names->builder, str_of(text), ERR_NO_POS, name, err);
}

bool plane_names_event(struct plane_names *names, uint64_t id, struct plane_event *event,
                       struct err *err)
{
    struct plane_meta *meta = find(&names->events, id);
    *event = (struct plane_event){0};
    if (!meta)
        return name_unknown(names, id, &event->name, err);
    if (!meta->interned && !intern(names, meta, err))
        return false;
    *event = (struct plane_event){meta->interned, meta->collective};
    return true;
}
