// SPDX-License-Identifier: Apache-2.0
#include "ingest/xplane/plane_names.h"

#include "ingest/base/buf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ENTRY_KEY = 1, ENTRY_VALUE };
enum { META_NAME = 2, META_STATS = 5 };
enum { VALUE_ID = 1, VALUE_UNSIGNED = 3, VALUE_SIGNED, VALUE_TEXT, VALUE_NAME = 7 };
enum { CATEGORY_BYTES = 64 };

struct plane_meta {
    uint64_t id;
    struct proto name, message;
    str_id interned;      // of an event, when it is first used
    enum plane_stat stat; // of a statistic
    struct plane_op op;   // of an event, or of the category that a statistic is named as
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

// Whether a category, a name or an operation is `start`, with what may follow: ".3", " fusion",
// "-start", "-done".
static bool is_named(struct str text, struct str start)
{
    if (!str_starts_with(text, start))
        return false;
    struct str rest = {text.at + start.len, text.len - start.len};
    return rest.len == 0 || rest.at[0] == ' ' || rest.at[0] == '.' ||
           str_starts_with(rest, STR("-start")) || str_starts_with(rest, STR("-done"));
}

static bool is_start(struct str text, struct str start)
{
    return str_starts_with((struct str){text.at + start.len, text.len - start.len}, STR("-start"));
}

// By the category, the name or the operation of an HLO instruction: "all-reduce-scatter fusion",
// "%all-gather-start.3", "while".
static struct plane_op op_named(struct str text)
{
    static const struct {
        const char *start;
        struct plane_op op;
    } known[] = {
        {"all-reduce-scatter", {.collective = "reduce_scatter"}},
        {"reduce-scatter", {.collective = "reduce_scatter"}},
        {"all-reduce", {.collective = "allreduce"}},
        {"all-gather", {.collective = "allgather"}},
        {"all-to-all", {.collective = "alltoall"}},
        {"ragged-all-to-all", {.collective = "alltoall"}},
        {"collective-permute", {.collective = "collective_permute"}},
        {"collective-broadcast", {.collective = "broadcast"}},
        {"async-collective", {.collective = "async_collective"}}, // fused with compute
        {"send-done", {.collective = "send"}},
        {"recv-done", {.collective = "recv"}},
        {"send", {.collective = TRACE_ASYNC_START}},
        {"recv", {.collective = TRACE_ASYNC_START}},
        {"while", {.holds = true}},
        {"conditional", {.holds = true}},
        {"call", {.holds = true}},
        {"megacore fusion", {.holds = true}},
        {"infeed", {.awaits_host = true}},
        {"outfeed", {.awaits_host = true}},
        {"host send", {.awaits_host = true}},
        {"host recv", {.awaits_host = true}},
    };
    if (text.len && text.at[0] == '%')
        text = (struct str){text.at + 1, text.len - 1};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct str start = str_of(known[i].start);
        if (!is_named(text, start))
            continue;
        return known[i].op.collective && is_start(text, start)
                   ? (struct plane_op){.collective = TRACE_ASYNC_START}
                   : known[i].op;
    }
    return (struct plane_op){0};
}

bool plane_op_is_plain(struct plane_op op)
{
    return !op.collective && !op.holds && !op.awaits_host;
}

// The operands of "%fusion.2 = bf16[8]{0:T(8)} fusion(f32[8] %all-gather.3), kind=kLoop" are other
// work: where they begin, or the length of what is no instruction.
static size_t operands_of(struct str text)
{
    size_t at = str_find(text, STR(" = "));
    bool type = true;
    int depth = 0; // of brackets in the type
    for (at = at == SIZE_MAX ? text.len : at + 3; at < text.len; at++) {
        char c = text.at[at];
        if (!type && c == '(')
            return at;
        depth += (c == '(') + (c == '[') + (c == '{') - (c == ')') - (c == ']') - (c == '}');
        type &= c != ' ' || depth != 0;
    }
    return text.len;
}

// By an instruction without its operands, the last word of which is the operation.
static struct plane_op op_of(struct str instruction)
{
    size_t at = instruction.len;
    struct plane_op op = op_named(instruction);
    while (at > 0 && instruction.at[at - 1] != ' ')
        at--;
    return plane_op_is_plain(op) ? op_named((struct str){instruction.at + at, instruction.len - at})
                                 : op;
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
        stat->op = op_named(name);
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
    value->text = named && bytes.end == bytes.at ? named->name : bytes;
    value->op = named ? named->op : (struct plane_op){0};
    if (value->stat == STAT_CATEGORY && bytes.end > bytes.at) {
        if (!text_of(names, &bytes, &text, err))
            return false;
        value->op = op_named(text);
    }
    return err->code == ERR_NONE;
}

// --- events -------------------------------------------------------------------------------------

static bool read_category(struct plane_names *names, struct plane_meta *meta,
                          char category[CATEGORY_BYTES], struct err *err)
{
    struct proto_field field;
    struct plane_value value;
    struct str text;
    struct proto message = meta->message;
    while (proto_next(&message, &field, err)) {
        if (field.number != META_STATS || !field.is_bytes)
            continue;
        if (!plane_names_value(names, field.bytes, &value, err))
            return false;
        if (value.stat != STAT_CATEGORY)
            continue;
        if (!text_of(names, &value.text, &text, err))
            return false;
        snprintf(category, CATEGORY_BYTES, "%.*s", (int)text.len, text.at);
        meta->op = value.op;
    }
    return err->code == ERR_NONE;
}

// "loop fusion: %fusion.2 = bf16[8]{0} fusion". What a collective is, its name says.
static bool intern_operation(struct plane_names *names, struct plane_meta *meta, struct err *err)
{
    char category[CATEGORY_BYTES] = "";
    struct str text;
    struct buf name = {0};
    if (!read_category(names, meta, category, err) || !text_of(names, &meta->name, &text, err))
        return false;
    text.len = operands_of(text);
    meta->op = plane_op_is_plain(meta->op) ? op_of(text) : meta->op;
    if (*category && !meta->op.collective) {
        buf_printf(&name, "%s: ", category);
        buf_add_str(&name, text);
        text = (struct str){name.at, name.len};
    }
    bool ok = buf_ok(&name, err) &&
              trace_builder_text(names->builder, text, meta->name.at, &meta->interned, err);
    buf_free(&name);
    return ok;
}

static bool intern(struct plane_names *names, struct plane_meta *meta, struct err *err)
{
    struct str text;
    if (names->operations)
        return intern_operation(names, meta, err);
    return text_of(names, &meta->name, &text, err) &&
           trace_builder_text(names->builder, text, meta->name.at, &meta->interned, err);
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
    *event = (struct plane_event){meta->interned, meta->op};
    return true;
}
