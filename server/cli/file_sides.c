// SPDX-License-Identifier: Apache-2.0
// Reads the files of each run of a side, one run after another.
#include "server/cli/file_sides.h"

#include "analysis/compare/compare_read.h"
#include "analysis/report/tables.h"
#include "server/compare/contributors.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static size_t index_of_rank(const struct rank_files *files, int64_t rank)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->at[i].rank == rank)
            return i;
    return 0;
}

static bool read_run(struct file_run *run, const struct file_side_options *options,
                     int64_t base_rank, struct err *err)
{
    if (!rank_files_read(&run->files, &run->name, 1, &options->reading, err))
        return false;
    if (run->files.unread.code != ERR_NONE) {
        *err = run->files.unread; // already reported: the message is empty
        return false;
    }
    run->which = compare_rank_of(&run->files.report, options->slowest, base_rank);
    size_t index = index_of_rank(&run->files, run->which.number);
    rank_files_keep_only(&run->files, index);
    run->rank.arena = &run->arena;
    return rank_files_load(&run->files, index, compare_rank_tables, &run->rank, err);
}

static void free_run(struct file_run *run)
{
    rank_files_free(&run->files);
    arena_free(&run->arena);
    *run = (struct file_run){0};
}

static bool is_same_file(const char *one, const char *other)
{
    struct stat first, second;
    return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

// The same run twice would count one measurement as two.
static bool check_new(const struct file_side *side, const char *operand, struct err *err)
{
    if (!*operand)
        return err_set(err, ERR_USAGE, "found an empty name, expected a trace file or a folder");
    for (size_t i = 0; i < side->count; i++)
        if (is_same_file(side->runs[i].name, operand))
            return err_set(err, ERR_USAGE, "%s: found twice on one side, expected different files",
                           operand);
    return true;
}

// Under another name: the recording of its rank is the same to the byte.
static bool is_copy(const struct file_run *run, const struct file_run *other)
{
    const struct rank_files *files = &run->files, *others = &other->files;
    bool same = files->count == others->count;
    for (size_t i = 0; same && i < files->count; i++) {
        const struct buf *one = &files->at[i].saved, *two = &others->at[i].saved;
        same = one->len == two->len && (!one->len || memcmp(one->at, two->at, one->len) == 0);
    }
    return same;
}

static void leave_copy_out(struct file_side *side)
{
    struct file_run *last = &side->runs[side->count - 1];
    for (const struct file_run *run = side->runs; run < last; run++)
        if (is_copy(last, run)) {
            free_run(last);
            side->count--;
            side->copies++;
            return;
        }
}

static bool add_run(struct file_side *side, const char *operand,
                    const struct file_side_options *options, struct err *err)
{
    if (side->count == COMPARE_MAX_RUNS)
        return err_set(err, ERR_USAGE, "found more than %d runs of a side", COMPARE_MAX_RUNS);
    if (!check_new(side, operand, err))
        return false;
    struct file_run *run = &side->runs[side->count++];
    run->name = operand;
    arena_init(&run->arena, NULL);
    int64_t base_rank = options->base_rank;
    if (base_rank < 0 && side->count > 1)
        base_rank = side->runs[0].which.number;
    if (!read_run(run, options, base_rank, err))
        return false;
    leave_copy_out(side);
    return true;
}

static bool exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static bool add_operand(struct file_side *side, const char *operand,
                        const struct file_side_options *options, struct arena *arena,
                        struct err *err)
{
    if (exists(operand))
        return add_run(side, operand, options, err);
    for (const char *rest = operand; rest;) {
        const char *comma = strchr(rest, ',');
        struct str piece = {rest, comma ? (size_t)(comma - rest) : strlen(rest)};
        const char *name = arena_strdup(arena, piece, err);
        if (!name || !add_run(side, name, options, err))
            return false;
        rest = comma ? comma + 1 : NULL;
    }
    return true;
}

// Metadata of the runs: their tokens per step.
static bool make_meta(int64_t tokens, struct arena *arena, struct compare_setting **meta,
                      struct err *err)
{
    *meta = arena_array(arena, 1, sizeof **meta, err);
    const char *value = *meta ? arena_printf(arena, err, "%lld", (long long)tokens) : NULL;
    if (!value)
        return false;
    **meta = (struct compare_setting){STR("tokens_per_step"), str_of(value)};
    return true;
}

static bool make_side(struct file_side *side, const struct file_side_options *options,
                      struct arena *arena, struct err *err)
{
    struct compare_setting *meta;
    struct compare_run *runs = arena_array(arena, side->count, sizeof *runs, err);
    side->named = runs;
    if (!runs || !make_meta(options->tokens_per_step, arena, &meta, err))
        return false;
    for (size_t i = 0; i < side->count; i++) {
        const struct file_run *run = &side->runs[i];
        runs[i] = (struct compare_run){.id = str_of(run->name),
                                       .name = str_of(run->name),
                                       .run = &run->files.report,
                                       .rank = &run->rank,
                                       .which = run->which,
                                       .meta = meta,
                                       .meta_count = options->tokens_per_step > 0};
    }
    side->side =
        (struct compare_side){.runs = runs, .run_count = side->count, .copies = side->copies};
    return true;
}

bool file_side_read(struct file_side *side, const char *operand,
                    const struct file_side_options *options, struct arena *arena, struct err *err)
{
    *side = (struct file_side){0};
    side->runs = arena_array(arena, COMPARE_MAX_RUNS, sizeof *side->runs, err);
    return side->runs && add_operand(side, operand, options, arena, err) &&
           make_side(side, options, arena, err);
}

void file_side_free(struct file_side *side)
{
    for (size_t i = 0; i < side->count; i++)
        free_run(&side->runs[i]);
}

// How many bytes of leading folders two paths have in common.
static size_t shared_folders(const char *one, const char *other, size_t most)
{
    size_t shared = 0;
    for (size_t i = 0; i < most && one[i] && one[i] == other[i]; i++)
        if (one[i] == '/' && one[i + 1])
            shared = i + 1;
    return shared;
}

void file_sides_shorten(struct file_side *sides, size_t count)
{
    const char *first = sides[0].runs[0].name;
    size_t shared = strlen(first);
    for (size_t side = 0; side < count; side++)
        for (size_t i = 0; i < sides[side].count; i++)
            shared = shared_folders(first, sides[side].runs[i].name, shared);
    for (size_t side = 0; side < count; side++)
        for (size_t i = 0; i < sides[side].count; i++)
            sides[side].named[i].name = str_of(sides[side].runs[i].name + shared);
}
