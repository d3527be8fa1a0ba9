// SPDX-License-Identifier: Apache-2.0
// Files whose reports are there before it is their turn.
#include "server/cli/rank_ahead.h"

#include "ingest/base/crew.h"

#include <unistd.h>

enum { MOST = 256 }; // files of one crew

static void drop_kept(struct rank_ahead *made)
{
    if (made->kept >= 0)
        close(made->kept);
    made->kept = -1;
}

bool rank_ahead_analyze(struct source *source, const struct format_found *found,
                        const struct rank_files_options *options, struct budget *budget,
                        struct rank_ahead *made, struct err *err)
{
    struct pipeline_job job = {.options = options->analysis, .progress = options->progress};
    struct pipeline_result result = {0};
    made->kept = options->keeps ? scratch_open().fd : -1;
    int keep = made->kept >= 0 ? dup(made->kept) : -1;
    if (keep >= 0)
        job.keep = &keep;
    struct arena arena;
    arena_init(&arena, budget);
    struct report report = {.arena = &arena};
    bool ok = pipeline_opened(source, found, &job, &report, &result, err) &&
              report_save(&report, &made->saved, err);
    made->rank = result.identity.rank;
    arena_free(&arena);
    if (!ok || !result.kept)
        drop_kept(made);
    return ok;
}

// --- several at once -----------------------------------------------------------------------------

struct one {
    const char *path;
    const struct rank_files_options *options;
    struct budget *budget; // of all
    struct rank_ahead *made;
};

static bool is_plain(const struct format_found *found)
{
    const struct format *format = found->format;
    return format && format->kind == FORMAT_TRACE && format->read && !format->parts &&
           format->access == FORMAT_STREAM;
}

// True even if it fails: then the file is read again, alone, and says why.
static bool read_one(void *context, struct err *err)
{
    const struct one *one = context;
    struct format_found found = {0};
    struct format_hint hint = {.filename = str_of(one->path), .scratch = SCRATCH_NONE};
    struct source *source = source_file_open(one->path, err);
    source = source ? format_open(source, &hint, &found, err) : NULL;
    if (source && !is_plain(&found)) {
        source_close(source);
        source = NULL;
    }
    one->made->done =
        source && rank_ahead_analyze(source, &found, one->options, one->budget, one->made, err);
    if (!one->made->done)
        buf_free(&one->made->saved);
    return true;
}

void rank_ahead_read(struct rank_ahead *ahead, const char *const *paths, size_t count,
                     const struct rank_files_options *options)
{
    struct one ones[MOST];
    struct crew_task tasks[MOST];
    struct budget budget = {.limit = options->job_memory_bytes};
    struct err ignored;
    size_t tried = 0;
    for (size_t i = 0; i < count; i++) {
        ahead[i] = (struct rank_ahead){.kept = -1};
        if (!paths[i] || tried == MOST)
            continue;
        ones[tried] = (struct one){paths[i], options, &budget, &ahead[i]};
        tasks[tried] = (struct crew_task){.run = read_one, .context = &ones[tried]};
        tried++;
    }
    if (tried > 1 && !crew_run(options->analysis.cores, tasks, tried, &ignored))
        return;
}

void rank_ahead_free(struct rank_ahead *ahead, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_free(&ahead[i].saved);
        drop_kept(&ahead[i]);
    }
}
