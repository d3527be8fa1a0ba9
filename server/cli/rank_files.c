// SPDX-License-Identifier: Apache-2.0
// Reads trace files and archives of them one by one, assigns each a rank and joins them.
#include "server/cli/rank_files.h"

#include "analysis/stats/groups.h"
#include "ingest/file_parts.h"
#include "ingest/file_sets.h"
#include "ingest/trace/trace_file.h"
#include "ingest/trace/trace_file_open.h"
#include "server/cli/folder_files.h"
#include "server/cli/rank_ahead.h"
#include "server/cli/set_beside.h"
#include "server/cli/shown.h"
#include "server/store/rank_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

enum { AHEAD = 64 }; // files of a run that are read at once, as far as there are cores

// State while files are read.
struct reading {
    struct rank_files *files;
    const struct rank_files_options *options;
    bool in_folder; // files were found in a folder: like members, they need not be traces
    size_t traces;  // of the folder
    // Its first file that was taken for something else than a trace, and why; NULL: none.
    const char *passed;
    struct err why_passed;
};

static void tell(const struct reading *reading, const char *path, const struct err *err)
{
    fprintf(stderr, "stepscope %s: ", reading->options->command);
    shown_put(stderr, str_of(path), SIZE_MAX);
    fprintf(stderr, ": %s", err->msg);
    if (err->pos != ERR_NO_POS)
        fprintf(stderr, " (byte %llu)", (unsigned long long)err->pos);
    fputc('\n', stderr);
}

// --- a trace ------------------------------------------------------------------------------------

// A walk over the traces of one file.
struct walk {
    struct reading *reading;
    const char *path;
    bool repeats; // a second time, for traces that were too large to read with helper threads
    bool can_repeat;
    struct buf again;         // for each part: 1 if it is one of those
    size_t part;              // the current one, counted from 1
    struct rank_ahead *ahead; // NULL: nobody tried
    size_t traces;
};

static void drop_kept(struct rank_file *file)
{
    if (file->kept >= 0)
        close(file->kept);
    file->kept = -1;
}

// The report that was made ahead, if the walk is over that file.
static bool take_ahead(const struct walk *walk, struct file_part *part, struct rank_ahead *made)
{
    struct rank_ahead *ahead = walk->ahead;
    if (!ahead || !ahead->done || part->name || part->processes > 1)
        return false;
    source_close(part->source);
    *made = *ahead;
    *ahead = (struct rank_ahead){.kept = -1};
    return true;
}

static bool analyze_part(struct walk *walk, struct file_part *part, struct rank_file *file,
                         struct budget *budget, struct err *err)
{
    struct rank_ahead made = {.kept = -1};
    bool ok =
        take_ahead(walk, part, &made) ||
        rank_ahead_analyze(part->source, &part->found, walk->reading->options, budget, &made, err);
    file->saved = made.saved;
    file->kept = made.kept;
    file->says = made.rank;
    if (!ok)
        drop_kept(file);
    return ok;
}

// Reports a trace that cannot be read, and skips it.
static void leave_out(struct walk *walk, const char *path, const struct err *err)
{
    struct rank_files *files = walk->reading->files;
    tell(walk->reading, path, err);
    if (files->unread.code == ERR_NONE)
        files->unread.code = err->code;
}

static void pass_over(struct reading *reading, const char *path, const struct err *why)
{
    if (reading->passed)
        return;
    reading->passed = path;
    reading->why_passed = *why;
}

static bool make_room(struct rank_files *files, struct err *err)
{
    struct rank_file *at =
        budget_room(NULL, files->at, &files->room, files->count + 1, sizeof *at, err);
    files->at = at ? at : files->at;
    return at;
}

// Whether reading may succeed without helper threads.
static bool wants_helpers_gone(const struct walk *walk, const struct budget *budget)
{
    const struct progress *progress = walk->reading->options->progress;
    return budget->refused && !walk->repeats && walk->can_repeat && progress && progress->cores;
}

static struct str name_of(const struct walk *walk, const struct file_part *part)
{
    return str_of(part->name ? part->name : walk->path);
}

// Fails only if no other file could be read either.
static bool read_part(struct walk *walk, struct file_part *part, const char *path, struct err *err)
{
    struct rank_files *files = walk->reading->files;
    struct budget budget = {.limit = walk->reading->options->job_memory_bytes};
    struct err why = {.pos = ERR_NO_POS};
    // Other JSON in an archive, such as settings, is not a missing trace.
    bool alone = !part->name && !walk->reading->in_folder;
    bool sure = alone || format_like(part->found.format, part->found.head, name_of(walk, part)) ==
                             FORMAT_SURE;
    if (!make_room(files, err)) {
        source_close(part->source);
        return false;
    }
    if (alone && part->found.format && format_is_kept(part->found.format)) {
        source_close(part->source);
        walk->traces++;
        err_set(&why, ERR_FORMAT,
                "found %s, expected a trace: stepscope inspect says what is in it",
                part->found.format->what);
        leave_out(walk, path, &why);
        return true;
    }
    struct rank_file *file = &files->at[files->count];
    *file = (struct rank_file){.path = path, .kept = -1, .is_process = part->processes > 1};
    if (analyze_part(walk, part, file, &budget, &why)) {
        files->count++;
        walk->traces++;
        return true;
    }
    buf_free(&file->saved);
    bool again = wants_helpers_gone(walk, &budget);
    walk->traces += sure || again;
    if (again)
        walk->again.at[walk->part - 1] = 1;
    else if (sure || why.code != ERR_FORMAT)
        leave_out(walk, path, &why);
    else
        pass_over(walk->reading, path, &why);
    return true;
}

// --- a file -------------------------------------------------------------------------------------

static bool is_taken(const struct walk *walk)
{
    return !walk->repeats || (walk->part <= walk->again.len && walk->again.at[walk->part - 1]);
}

// By its name, or because it is an archive.
static bool may_be_trace(const struct walk *walk, const struct file_part *part)
{
    const struct format *format = part->found.format;
    return format_has_ending(1u << FORMAT_TRACE, name_of(walk, part)) ||
           (format && format->kind == FORMAT_ARCHIVE);
}

// Reports a member that is not read if it may be a missing rank.
static bool leave_member(struct walk *walk, const struct file_part *part, const char *path)
{
    struct err why = part->problem;
    if (why.code == ERR_NONE && !part->found.format)
        (void)format_refuse_what(
            part->found.head.len ? "content that is not JSON" : "an empty file", &why);
    bool broken = why.code != ERR_NONE;
    if (!broken)
        err_set(&why, ERR_FORMAT, "found %s, expected a trace", part->found.format->what);
    source_close(part->source);
    if (part->is_copy)
        tell(walk->reading, path, &why);
    else if (broken && may_be_trace(walk, part))
        leave_out(walk, path, &why);
    else
        pass_over(walk->reading, path, &why);
    return true;
}

static bool take_part_of(void *context, struct file_part *part, struct err *err)
{
    struct walk *walk = context;
    walk->part++;
    if (!walk->repeats)
        buf_putc(&walk->again, '\0');
    const char *path = walk->path;
    if (part->name)
        path = arena_printf(&walk->reading->files->arena, err, "%s/%s", path, part->name);
    if (!path || !buf_ok(&walk->again, err) || !is_taken(walk)) {
        source_close(part->source);
        return path && !walk->again.failed;
    }
    bool is_trace = part->source && part->found.format && part->found.format->read;
    if ((part->name || walk->reading->in_folder) && !is_trace)
        return leave_member(walk, part, path);
    return read_part(walk, part, path, err);
}

// Takes over the source, also on failure; NULL fails.
static bool go_through(struct walk *walk, struct source *source, struct err *err)
{
    struct file_parts parts = {.source = source,
                               .hint = {str_of(walk->path), scratch_open()},
                               .limits = &unpack_limits,
                               .joins = true};
    walk->part = 0;
    bool ok = parts.source && file_parts_each(&parts, take_part_of, walk, err);
    scratch_close(parts.hint.scratch);
    if (!ok)
        return false;
    walk->reading->traces += walk->traces;
    return walk->traces || walk->reading->in_folder ||
           err_set(err, ERR_FORMAT, "found %s without a trace in it", parts.found.format->what);
}

// Helper threads need memory for pieces and tables: the number of free cores must not decide
// whether a file can be read.
static bool repeat(struct walk *walk, int fd, struct err *err)
{
    struct progress *progress = walk->reading->options->progress;
    if (!walk->again.len || !memchr(walk->again.at, 1, walk->again.len))
        return true;
    if (lseek(fd, 0, SEEK_SET) != 0)
        return err_set_errno(err, "reading it again");
    struct cores *cores = progress->cores;
    walk->repeats = true;
    progress->cores = NULL;
    bool ok = go_through(walk, source_fd_open(fd, err), err);
    progress->cores = cores;
    return ok;
}

// ahead: what was made of it before, may be NULL.
static void read_file(struct reading *reading, const char *path, struct rank_ahead *ahead)
{
    int fd;
    struct err err = {.pos = ERR_NO_POS};
    struct walk walk = {.reading = reading, .path = path, .ahead = ahead};
    bool ok = source_open_path(path, &fd, &err);
    if (ok) {
        walk.can_repeat = lseek(fd, 0, SEEK_CUR) == 0;
        ok = go_through(&walk, source_fd_open(fd, &err), &err);
        struct err again = {.pos = ERR_NO_POS};
        if (!repeat(&walk, fd, &again) && ok) {
            ok = false;
            err = again;
        }
        close(fd);
    }
    if (!ok)
        leave_out(&walk, path, &err);
    buf_free(&walk.again);
}

// --- files that are read as one -----------------------------------------------------------------

static void read_set(struct reading *reading, const char *const *paths, const size_t *in_set,
                     size_t count)
{
    struct err err = {.pos = ERR_NO_POS};
    struct file_set_key key;
    struct walk walk = {.reading = reading, .path = paths[in_set[0]]};
    struct source *source = set_beside_open(paths, in_set, count, &err);
    (void)file_set_key(str_of(walk.path), &key);
    const char *path = arena_printf(&reading->files->arena, &err, "%.*s%s", (int)key.stem.len,
                                    key.stem.at, key.ending);
    walk.path = path ? path : walk.path;
    if (!source || !go_through(&walk, source, &err))
        leave_out(&walk, walk.path, &err);
    buf_free(&walk.again);
}

// Whether a file is one that is read already, compressed; says so.
static bool is_copy(struct reading *reading, const struct str *names, size_t count, size_t index)
{
    struct err why = {.pos = ERR_NO_POS};
    size_t original = file_set_original(names, count, index);
    if (original == SIZE_MAX)
        return false;
    file_set_tell_copy(names[original], &why);
    tell(reading, names[index].at, &why);
    return true;
}

// A list of files while it is read, the next of them ahead.
struct file_list {
    const char *const *paths;
    const struct str *names;
    size_t count, from, until; // ahead are from .. until - 1
    size_t *in_set;            // room
    bool *taken;
    struct rank_ahead ahead[AHEAD];
};

static void read_ahead(const struct reading *reading, struct file_list *list, size_t from)
{
    const char *paths[AHEAD];
    rank_ahead_free(list->ahead, list->until - list->from);
    list->from = from;
    list->until = list->count - from < AHEAD ? list->count : from + AHEAD;
    for (size_t i = from; i < list->until; i++) {
        bool alone = format_has_ending(1u << FORMAT_TRACE, list->names[i]) &&
                     file_set_find(list->names, list->count, i, list->in_set) == 0 &&
                     file_set_original(list->names, list->count, i) == SIZE_MAX;
        paths[i - from] = alone && !list->taken[i] ? list->paths[i] : NULL;
    }
    rank_ahead_read(list->ahead, paths, list->until - from, reading->options);
}

// Files of a set are read with the first of them.
static void read_listed(struct reading *reading, struct file_list *list, size_t i)
{
    size_t found = list->taken[i] ? 0 : file_set_find(list->names, list->count, i, list->in_set);
    for (size_t k = 0; k < found; k++)
        list->taken[list->in_set[k]] = true;
    if (found)
        read_set(reading, list->paths, list->in_set, found);
    else if (!list->taken[i] && !is_copy(reading, list->names, list->count, i))
        read_file(reading, list->paths[i], i < list->until ? &list->ahead[i - list->from] : NULL);
}

static bool read_list(struct reading *reading, const char *const *paths, size_t count,
                      struct err *err)
{
    struct arena *arena = &reading->files->arena;
    struct str *names = arena_array(arena, count + 1, sizeof *names, err);
    struct file_list *list = arena_array(arena, 1, sizeof *list, err);
    if (!names || !list)
        return false;
    *list = (struct file_list){.paths = paths, .names = names, .count = count};
    list->in_set = arena_array(arena, count + 1, sizeof *list->in_set, err);
    list->taken = arena_array(arena, count + 1, sizeof *list->taken, err);
    if (!list->in_set || !list->taken)
        return false;
    for (size_t i = 0; i < count; i++)
        names[i] = str_of(paths[i]);
    for (size_t i = 0; i < count; i++) {
        if (i == list->until && cores_free(reading->options->analysis.cores) > 0)
            read_ahead(reading, list, i);
        read_listed(reading, list, i);
    }
    rank_ahead_free(list->ahead, list->until - list->from);
    return true;
}

// --- folders ------------------------------------------------------------------------------------

static void tell_of_windows(const struct reading *reading, const char *folder,
                            const struct folder_files *files)
{
    fprintf(stderr, "stepscope %s: ", reading->options->command);
    shown_put(stderr, str_of(folder), SIZE_MAX);
    fprintf(stderr, ": found %zu recordings of the job; read the last, %s\n", files->windows,
            files->window);
}

static bool read_folder(struct reading *reading, const char *folder, struct err *err)
{
    struct folder_files files;
    struct walk walk = {.reading = reading, .path = folder};
    struct err why = {.pos = ERR_NO_POS};
    reading->traces = 0;
    reading->passed = NULL;
    if (!folder_files_list(folder, &reading->files->arena, &files, &why)) {
        leave_out(&walk, folder, &why);
        return true;
    }
    if (files.windows > 1)
        tell_of_windows(reading, folder, &files);
    reading->in_folder = true;
    bool ok = read_list(reading, files.at, files.count, err);
    reading->in_folder = false;
    if (ok && !reading->traces && reading->files->unread.code == ERR_NONE) {
        err_set(&why, ERR_FORMAT, "found no trace in the folder");
        leave_out(&walk, reading->passed ? reading->passed : folder,
                  reading->passed ? &reading->why_passed : &why);
    }
    return ok;
}

// Files that only name what is in them need not be given.
static bool read_given(struct reading *reading, const char *const *paths, size_t count,
                       struct err *err)
{
    struct path_list all;
    return set_beside_add(&reading->files->arena, paths, count, &all, err) &&
           read_list(reading, all.at, all.count, err);
}

static bool read_files(struct reading *reading, const char *const *paths, size_t count,
                       struct err *err)
{
    bool ok = true;
    for (size_t i = 0, files; ok && i < count; i += files ? files : 1) {
        files = 0; // in a row
        while (i + files < count && !folder_files_is_folder(paths[i + files]))
            files++;
        ok = files ? read_given(reading, paths + i, files, err)
                   : read_folder(reading, paths[i], err);
    }
    return ok;
}

// --- ranks --------------------------------------------------------------------------------------

// State while ranks are given to the files that were read, in that order.
struct numbering {
    const struct reading *reading;
    struct groups taken;
    int64_t free_rank; // those below are taken
};

// Takes a rank; *taken is false if it was free.
static bool take_rank(struct numbering *numbering, int64_t rank, bool *taken, struct err *err)
{
    uint32_t before = numbering->taken.count, index;
    if (!groups_index(&numbering->taken, (uint64_t)rank, 0, &index, err))
        return false;
    *taken = index < before;
    return true;
}

// A folder that holds all of several traces is not the folder of one rank.
static bool holds_all(const struct rank_files *files, struct str folder)
{
    size_t inside = 0;
    while (inside < files->count && str_starts_with(str_of(files->at[inside].path), folder))
        inside++;
    return inside > 1 && inside == files->count;
}

static int64_t rank_by_name(const struct rank_files *files, const char *path)
{
    struct rank_name name = rank_name_of(str_of(path));
    return name.folder.len && holds_all(files, name.folder) ? -1 : name.rank;
}

// From the file's metadata, else its name, else the first free rank.
static bool choose_rank(struct numbering *numbering, struct rank_file *file, struct err *err)
{
    const int64_t wishes[] = {file->says, rank_by_name(numbering->reading->files, file->path)};
    bool taken = true;
    for (size_t i = 0; i < 2 && taken; i++) {
        file->rank = wishes[i];
        if (file->rank >= 0 && !take_rank(numbering, file->rank, &taken, err))
            return false;
    }
    file->by_order = taken && !file->is_process;
    while (taken) {
        file->rank = numbering->free_rank++;
        if (!take_rank(numbering, file->rank, &taken, err))
            return false;
    }
    return true;
}

static void tell_rank(const struct reading *reading, const struct rank_file *file)
{
    fprintf(stderr, "stepscope %s: ", reading->options->command);
    shown_put(stderr, str_of(file->path), SIZE_MAX);
    fprintf(stderr, ": has rank %lld, as another file does; counted as rank %lld\n",
            (long long)file->says, (long long)file->rank);
}

static bool number_files(const struct reading *reading, struct err *err)
{
    struct budget uncounted = {0};
    struct numbering numbering = {.reading = reading};
    struct rank_files *files = reading->files;
    bool ok = true;
    groups_init(&numbering.taken, &uncounted);
    for (size_t i = 0; ok && i < files->count; i++) {
        struct rank_file *file = &files->at[i];
        ok = choose_rank(&numbering, file, err);
        if (ok && file->says >= 0 && file->rank != file->says)
            tell_rank(reading, file);
    }
    groups_free(&numbering.taken);
    return ok;
}

// --- all files ----------------------------------------------------------------------------------

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
    bool *by_order = arena_array(&files->arena, files->count + 1, sizeof *by_order, err);
    if (!ranks || !by_order)
        return false;
    if (files->count)
        qsort(files->at, files->count, sizeof *files->at, by_rank);
    for (size_t i = 0; i < files->count; i++) {
        ranks[i] = files->at[i].rank;
        by_order[i] = files->at[i].by_order;
    }
    files->report.arena = &files->arena;
    struct rank_source source = {.ranks = ranks,
                                 .by_order = by_order,
                                 .count = files->count,
                                 .context = files,
                                 .load = load_rank,
                                 .cores = cores};
    return pipeline_run(&source, &files->report, err);
}

bool rank_files_read(struct rank_files *files, const char *const *paths, size_t count,
                     const struct rank_files_options *options, struct err *err)
{
    struct reading reading = {.files = files, .options = options};
    *files = (struct rank_files){.unread = {.pos = ERR_NO_POS}};
    arena_init(&files->arena, NULL);
    return read_files(&reading, paths, count, err) && number_files(&reading, err) &&
           join(files, options->analysis.cores, err);
}

// -1 if there is none.
static int kept_fd(const struct rank_file *file, struct err *err)
{
    int fd = file->kept >= 0 ? dup(file->kept) : -1;
    if (fd < 0)
        err_set(err, ERR_NOT_FOUND, "found no room for the trace of %s in the temporary folder",
                file->path);
    return fd;
}

struct trace_file *rank_files_open(const struct rank_files *files, size_t index, struct err *err)
{
    int fd = kept_fd(&files->at[index], err);
    return fd >= 0 ? trace_file_open_fd(fd, files->at[index].path, err) : NULL;
}

struct trace *rank_files_trace(const struct rank_files *files, size_t index, struct budget *budget,
                               struct err *err)
{
    int fd = kept_fd(&files->at[index], err);
    return fd >= 0 ? trace_file_load_fd(fd, files->at[index].path, budget, err) : NULL;
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
    for (size_t i = 0; i < files->count; i++)
        drop_kept(&files->at[i]);
    free(files->at);
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
