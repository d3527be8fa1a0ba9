// SPDX-License-Identifier: Apache-2.0
#include "analysis/hangs/hang_words.h"

#include "analysis/stats/rank_list.h"

enum { MOST_LISTED = 64 };

void hang_add_ranks(struct buf *out, const int64_t *ranks, size_t count)
{
    // A range is short however many are in it.
    bool whole = count <= MOST_LISTED || ranks[count - 1] - ranks[0] == (int64_t)count - 1;
    rank_list_add(out, ranks, whole ? count : MOST_LISTED);
    if (!whole)
        buf_printf(out, ",... (%zu in all)", count);
}

void hang_add_named_ranks(struct buf *out, const int64_t *ranks, size_t count)
{
    buf_puts(out, count == 1 ? "rank " : "ranks ");
    hang_add_ranks(out, ranks, count);
}

const int64_t *hang_members(const struct hang_case *one, unsigned roles, struct arena *arena,
                            size_t *count, struct err *err)
{
    const struct hang_group *group = one->group;
    int64_t *ranks = arena_room(arena, group->member_count + 1, sizeof *ranks, err);
    *count = 0;
    for (size_t i = 0; ranks && i < group->member_count; i++)
        if (roles & 1u << one->roles[i])
            ranks[(*count)++] = group->members[i];
    return ranks;
}

// Without the backend: "all_reduce" of "nccl:all_reduce", "gloo:all_reduce".
static void add_op(struct buf *out, struct str op)
{
    const char *colon = op.len ? memchr(op.at, ':', op.len) : NULL;
    if (colon)
        op = (struct str){colon + 1, (size_t)(op.at + op.len - colon) - 1};
    buf_add_str(out, op.len ? op : STR("an unnamed operation"));
}

void hang_add_call(struct buf *out, const struct flight *flight, const struct flight_entry *entry)
{
    add_op(out, hang_text(flight, entry->op));
    if (entry->input.sizes)
        buf_printf(out, " of %s", hang_text(flight, entry->input.sizes).at);
    if (entry->input.dtypes)
        buf_printf(out, " %s", hang_text(flight, entry->input.dtypes).at);
}

void hang_add_place(struct buf *out, const struct flight *flight, const struct flight_entry *entry)
{
    const struct flight_group *group = &flight->groups[entry->group];
    struct str desc = hang_text(flight, group->desc), name = hang_text(flight, group->name);
    add_op(out, hang_text(flight, entry->op));
    if (!entry->is_p2p)
        buf_printf(out, " number %lld", (long long)entry->collective_seq);
    buf_puts(out, " of ");
    if (desc.len && !str_equal(desc, STR("undefined")))
        buf_add_str(out, desc);
    else if (name.len)
        buf_printf(out, "process group %s", name.at);
    else if (group->ranks)
        buf_printf(out, "the process group of ranks %s", hang_text(flight, group->ranks).at);
    else
        buf_puts(out, "an unnamed process group");
}
