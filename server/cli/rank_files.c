// SPDX-License-Identifier: Apache-2.0
// Reads trace files one after the other, gives each its rank and joins them.
#include "server/cli/rank_files.h"

#include "analysis/stats/groups.h"
#include "server/store/rank_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

// What is needed while files are read.
struct reading {
    struct rank_files *files;
    const struct rank_files_options *options;
    struct groups taken; // ranks
    int64_t free_rank;   // those below are taken
};

// False in *taken when the rank was free; it is taken now.
static bool take_rank(struct reading *reading, int64_t rank, bool *taken, struct err *err)
{
    uint32_t before = reading->taken.count, index;
    if (!groups_index(&reading->taken, (uint64_t)rank, 0, &index, err))
        return false;
    *taken = index < before;
    return true;
}

// What the file says, its name, or the first rank that is free.
static bool choose_rank(struct reading *reading, const char *path, int64_t metadata_rank,
                        int64_t *rank, struct err *err)
{
    const int64_t wishes[] = {metadata_rank, rank_of_filename(str_of(path))};
    bool taken = true;
    for (size_t i = 0; i < 2 && taken; i++) {
        *rank = wishes[i];
        if (*rank >= 0 && !take_rank(reading, *rank, &taken, err))
            return false;
    }
    while (taken) {
        *rank = reading->free_rank++;
        if (!take_rank(reading, *rank, &taken, err))
            return false;
    }
    return true;
}

static void tell(const struct reading *reading, const char *path, const struct err *err)
{
    fprintf(stderr, "stepscope %s: %s: %s", reading->options->command, path, err->msg);
    if (err->pos != ERR_NO_POS)
        fprintf(stderr, " (byte %llu)", (unsigned long long)err->pos);
    fputc('\n', stderr);
}

static bool identify(struct reading *reading, struct rank_file *file, int64_t says, struct err *err)
{
    if (!choose_rank(reading, file->path, says, &file->rank, err))
        return false;
    if (says >= 0 && file->rank != says)
        fprintf(stderr,
                "stepscope %s: %s: says it is rank %lld, as another file does; counts as rank "
                "%lld\n",
                reading->options->command, file->path, (long long)says, (long long)file->rank);
    return true;
}

static bool analyse_file(struct reading *reading, struct rank_file *file, struct err *err)
{
    const struct rank_files_options *options = reading->options;
    struct pipeline_job job = {.options = options->analysis, .progress = options->progress};
    struct pipeline_result result;
    struct budget budget = {.limit = options->job_memory_bytes};
    struct arena arena;
    arena_init(&arena, &budget);
    struct report report = {.arena = &arena};
    bool ok = pipeline_file(file->path, &job, &report, &result, err) &&
              report_save(&report, &file->saved, err) &&
              identify(reading, file, result.identity.rank, err);
    arena_free(&arena);
    return ok;
}

// Reads one file; one that cannot be read is told of and left out.
static void read_file(struct reading *reading, const char *path)
{
    struct rank_files *files = reading->files;
    struct rank_file *file = &files->at[files->count];
    struct err err = {.pos = ERR_NO_POS};
    *file = (struct rank_file){.path = path};
    if (analyse_file(reading, file, &err)) {
        files->count++;
        return;
    }
    buf_free(&file->saved);
    tell(reading, path, &err);
    if (files->unread.code == ERR_NONE)
        files->unread.code = err.code;
}

static int by_rank(const void *left, const void *right)
{
    const struct rank_file *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

bool rank_files_load(const struct rank_files *files, size_t index,
                     const struct table_desc *const *known, struct report *report, struct err *err)
{
    const struct buf *saved = &files->at[index].saved;
    return report_load(report, (struct str){saved->at, saved->len}, known, err);
}

static bool load_rank(void *context, size_t index, const struct table_desc *const *known,
                      struct report *report, struct err *err)
{
    return rank_files_load(context, index, known, report, err);
}

static bool join(struct rank_files *files, struct cores *cores, struct err *err)
{
    int64_t *ranks = arena_array(&files->arena, files->count + 1, sizeof *ranks, err);
    if (!ranks)
        return false;
    qsort(files->at, files->count, sizeof *files->at, by_rank);
    for (size_t i = 0; i < files->count; i++)
        ranks[i] = files->at[i].rank;
    files->report.arena = &files->arena;
    struct rank_source source = {
        .ranks = ranks, .count = files->count, .context = files, .load = load_rank, .cores = cores};
    return pipeline_run(&source, &files->report, err);
}

bool rank_files_read(struct rank_files *files, const char *const *paths, size_t count,
                     const struct rank_files_options *options, struct err *err)
{
    struct budget uncounted = {0};
    struct reading reading = {.files = files, .options = options};
    *files = (struct rank_files){.unread = {.pos = ERR_NO_POS}};
    arena_init(&files->arena, NULL);
    files->at = arena_array(&files->arena, count + 1, sizeof *files->at, err);
    if (!files->at)
        return false;
    groups_init(&reading.taken, &uncounted);
    for (size_t i = 0; i < count; i++)
        read_file(&reading, paths[i]);
    groups_free(&reading.taken);
    return join(files, options->analysis.cores, err);
}

void rank_files_keep_only(struct rank_files *files, size_t index)
{
    for (size_t i = 0; i < files->count; i++)
        if (i != index)
            buf_free(&files->at[i].saved);
}

void rank_files_free(struct rank_files *files)
{
    rank_files_keep_only(files, SIZE_MAX);
    arena_free(&files->arena);
    *files = (struct rank_files){0};
}

void rank_files_share_cores(struct cores *cores, int64_t threads)
{
    enum { MAX_THREADS = 1024 };
    int64_t count = threads ? threads : uv_available_parallelism();
    cores_init(cores, (unsigned)(count < MAX_THREADS ? count : MAX_THREADS));
    cores_hold(cores); // for this thread
}
