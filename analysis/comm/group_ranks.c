// SPDX-License-Identifier: Apache-2.0
// Lists of ranks come whole, truncated ("[0, 1, ..., 255]") along with start and stride, or only in
// the description of the job.
#include "analysis/comm/group_ranks.h"

#include "ingest/base/buf.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const within = "intra-node";
static const char *const between = "inter-node";

struct group_about group_about_none(void)
{
    return (struct group_about){
        .size = VALUE_ABSENT, .rank_start = VALUE_ABSENT, .rank_stride = VALUE_ABSENT};
}

// "[]" says nothing, and a list without its bracket was too long to keep.
static bool is_whole(struct str list)
{
    return list.len > 2 && list.at[list.len - 1] == ']' && str_find(list, STR("...")) == SIZE_MAX;
}

static void keep_first(int64_t *kept, int64_t found)
{
    if (*kept == VALUE_ABSENT)
        *kept = found;
}

void group_about_add(struct group_about *about, const struct trace *trace,
                     const struct collective *collective)
{
    if (!about->description)
        about->description = collective->group_description;
    if (!about->whole && collective->group_ranks) {
        about->whole = is_whole(trace_text(trace, collective->group_ranks));
        if (about->whole || !about->ranks)
            about->ranks = collective->group_ranks;
    }
    keep_first(&about->size, collective->group_size);
    keep_first(&about->rank_start, collective->rank_start);
    keep_first(&about->rank_stride, collective->rank_stride);
}

// --- spans --------------------------------------------------------------------------------------

// Fewer than two GPUs listed: each process saw only its own, which says nothing about the node.
static bool can_tell(int64_t gpus)
{
    return gpus >= 2;
}

bool group_ranks_next(struct str *at, int64_t *rank)
{
    while (at->len && memchr("[, ]", at->at[0], 4))
        *at = (struct str){at->at + 1, at->len - 1};
    return str_take_i64(at, rank);
}

const char *group_span_of_list(struct str list, int64_t gpus)
{
    int64_t rank, node = -1;
    bool spread = false;
    if (!can_tell(gpus))
        return NULL;
    while (group_ranks_next(&list, &rank)) {
        spread |= node >= 0 && rank / gpus != node;
        node = rank / gpus;
    }
    return list.len || node < 0 ? NULL : spread ? between : within;
}

// The last of `size` ranks, or -1 if that is impossible.
static int64_t last_rank(int64_t start, int64_t stride, int64_t size)
{
    int64_t last;
    bool known = start >= 0 && stride > 0 && size > 0 &&
                 !__builtin_mul_overflow(stride, size - 1, &last) &&
                 !__builtin_add_overflow(last, start, &last);
    return known ? last : -1;
}

const char *group_span_of_stride(int64_t start, int64_t stride, int64_t size, int64_t gpus)
{
    int64_t last = last_rank(start, stride, size);
    if (!can_tell(gpus) || last < 0)
        return NULL;
    return start / gpus == last / gpus ? within : between;
}

// --- the recording's description of the job ------------------------------------------------------

// PyTorch writes "undefined" for groups without a description.
static struct str described(struct str text)
{
    return str_equal(text, STR("undefined")) ? STR("") : text;
}

// Fills in what the calls did not give.
static void look_up(const struct trace *trace, str_id name, struct group_place *place)
{
    const struct trace_group *group = trace_group_find(trace, name);
    if (!group)
        return;
    if (!place->description.len)
        place->description = described(trace_text(trace, group->description));
    if (place->size <= 0 && group->size != VALUE_ABSENT)
        place->size = group->size;
    struct str listed = trace_text(trace, group->ranks);
    if (!is_whole(place->ranks) && is_whole(listed))
        place->ranks = listed;
}

// A truncated list is replaced by first:last:stride, if these are known.
static bool name_ranks(const struct group_about *about, struct arena *arena,
                       struct group_place *place, struct err *err)
{
    int64_t last = last_rank(about->rank_start, about->rank_stride, place->size);
    if (is_whole(place->ranks) || last < 0)
        return true;
    char *text = arena_printf(arena, err, "%" PRId64 ":%" PRId64 ":%" PRId64, about->rank_start,
                              last, about->rank_stride);
    place->ranks = str_of(text);
    return text != NULL;
}

bool group_place_find(const struct trace *trace, str_id name, const struct group_about *about,
                      struct arena *arena, struct group_place *place, struct err *err)
{
    *place = (struct group_place){
        .size = about->size == VALUE_ABSENT ? 0 : about->size,
        .description = described(trace_text(trace, about->description)),
        .ranks = trace_text(trace, about->ranks),
    };
    look_up(trace, name, place);
    place->span = is_whole(place->ranks)
                      ? group_span_of_list(place->ranks, trace->device_count)
                      : group_span_of_stride(about->rank_start, about->rank_stride, place->size,
                                             trace->device_count);
    return name_ranks(about, arena, place, err);
}

// The three numbers of first:last:stride.
static bool read_stride(struct str text, int64_t numbers[3])
{
    for (int i = 0; i < 3; i++) {
        size_t end = i < 2 ? str_find(text, STR(":")) : text.len;
        if (end == SIZE_MAX || !str_to_i64((struct str){text.at, end}, &numbers[i]))
            return false;
        size_t used = end + (i < 2);
        text = (struct str){text.at + used, text.len - used};
    }
    int64_t first = numbers[0], last = numbers[1], stride = numbers[2];
    return first >= 0 && last >= first && last <= INT32_MAX && stride > 0 && stride <= INT32_MAX &&
           (last - first) / stride < GROUP_RANKS_MAX;
}

struct str group_ranks_list(struct str ranks, struct arena *arena, struct err *err)
{
    int64_t numbers[3];
    if (is_whole(ranks))
        return ranks;
    if (!read_stride(ranks, numbers))
        return STR("");
    struct buf text = {0};
    for (int64_t rank = numbers[0]; rank <= numbers[1]; rank += numbers[2])
        buf_printf(&text, "%s%" PRId64, text.len ? ", " : "[", rank);
    buf_puts(&text, "]");
    struct str list = {NULL, text.len};
    if (buf_ok(&text, err))
        list.at = arena_strdup(arena, (struct str){text.at, text.len}, err);
    buf_free(&text);
    return list.at ? list : (struct str){NULL, 0};
}
