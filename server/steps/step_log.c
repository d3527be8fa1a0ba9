// SPDX-License-Identifier: Apache-2.0
#include "server/steps/step_log.h"

#include "ingest/base/buf.h"
#include "ingest/base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC      0x50455453u // "STEP"
#define MOST_CELLS ((size_t)4 << 20)
enum { PATH_SIZE = 600, FILES = 2 };

static const char *const files[FILES] = {"steps.old", "steps"}; // the older one first

// A block: this header, then rows of a u32 per stage.
struct block {
    uint32_t magic, check; // of all that follows
    uint64_t first_step;
    uint32_t rank, rows, stages, zero;
};

// --- stages -------------------------------------------------------------------------------------

static void stages_path(const char *folder, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/stages", folder);
}

bool step_log_read_stages(const char *folder, struct step_stages *stages, struct err *err)
{
    char path[PATH_SIZE], line[STEP_MOST_NAME + 2];
    *stages = (struct step_stages){0};
    stages_path(folder, path);
    FILE *in = fopen(path, "r");
    if (!in)
        return errno == ENOENT || errno == ENOTDIR || err_set_errno(err, "cannot read the stages");
    while (stages->count < STEP_MOST_STAGES && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(stages->names[stages->count++], sizeof stages->names[0], "%.*s", STEP_MOST_NAME,
                 line);
    }
    fclose(in);
    return true;
}

static bool write_stages(const char *folder, const struct step_stages *stages, struct err *err)
{
    char path[PATH_SIZE], part[PATH_SIZE + 8];
    stages_path(folder, path);
    snprintf(part, sizeof part, "%s.part", path);
    FILE *out = fopen(part, "w");
    if (!out)
        return err_set_errno(err, "cannot write the stages");
    for (size_t i = 0; i < stages->count; i++)
        fprintf(out, "%s\n", stages->names[i]);
    bool ok = fflush(out) == 0 && fdatasync(fileno(out)) == 0;
    ok = fclose(out) == 0 && ok && rename(part, path) == 0;
    return ok || err_set_errno(err, "cannot write the stages");
}

static size_t place_of(const struct step_stages *all, const char *name)
{
    size_t at = 0;
    while (at < all->count && strcmp(all->names[at], name) != 0)
        at++;
    return at;
}

static bool merge(const struct step_stages *given, struct step_stages *all,
                  size_t places[STEP_MOST_STAGES], bool *grew, struct err *err)
{
    *grew = false;
    for (size_t i = 0; i < given->count; i++) {
        places[i] = place_of(all, given->names[i]);
        if (places[i] < all->count)
            continue;
        if (all->count == STEP_MOST_STAGES)
            return err_set(err, ERR_USAGE, "found more than %d stages of a run", STEP_MOST_STAGES);
        memcpy(all->names[all->count++], given->names[i], sizeof given->names[i]);
        *grew = true;
    }
    return true;
}

// Only one rank at a time may add a stage. The lock is of the folder.
static bool lock_folder(const char *folder, int *fd, struct err *err)
{
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return err_set_errno(err, "cannot make the folder of steps");
    *fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd >= 0 && flock(*fd, LOCK_EX) == 0)
        return true;
    err_set_errno(err, "cannot lock the folder of steps");
    if (*fd >= 0)
        close(*fd);
    return false;
}

bool step_log_stages(const char *folder, const struct step_stages *given, struct step_stages *all,
                     size_t places[STEP_MOST_STAGES], struct err *err)
{
    int lock;
    bool grew = false;
    if (!lock_folder(folder, &lock, err))
        return false;
    bool ok = step_log_read_stages(folder, all, err) && merge(given, all, places, &grew, err) &&
              (!grew || write_stages(folder, all, err));
    close(lock);
    return ok;
}

// --- appending ----------------------------------------------------------------------------------

// Blocks stay aligned.
static size_t block_bytes(size_t cells)
{
    return sizeof(struct block) + 8 * ((cells + 1) / 2);
}

uint64_t step_log_bytes(const struct step_rows *rows)
{
    return block_bytes(rows->count * rows->stages);
}

static uint32_t check_of(const struct block *block, size_t bytes)
{
    size_t from = offsetof(struct block, first_step);
    return (uint32_t)hash_bytes((const char *)block + from, bytes - from);
}

// The newest file becomes the older one.
static bool turn_over(const char *folder, int fd, struct err *err)
{
    char old[PATH_SIZE], new[PATH_SIZE];
    struct stat info;
    if (fstat(fd, &info) != 0 || (uint64_t)info.st_size < STEP_LOG_MOST_BYTES)
        return true;
    snprintf(old, sizeof old, "%s/%s", folder, files[0]);
    snprintf(new, sizeof new, "%s/%s", folder, files[1]);
    return rename(new, old) == 0 || err_set_errno(err, "cannot rotate the log of steps");
}

// A block that does not fit on the disk is taken back.
static bool append(const char *folder, const struct block *block, size_t bytes, struct err *err)
{
    char path[PATH_SIZE];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, files[1]);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && fstat(fd, &info) == 0;
    if (ok && write(fd, block, bytes) != (ssize_t)bytes) {
        ok = false;
        errno = errno ? errno : ENOSPC;
        err_set_errno(err, "cannot write steps");
        (void)!ftruncate(fd, info.st_size);
    } else if (!ok) {
        err_set_errno(err, "cannot write steps");
    }
    ok = ok && turn_over(folder, fd, err);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool step_log_append(const char *folder, const struct step_rows *rows, struct err *err)
{
    int lock;
    size_t cells = rows->count * rows->stages, bytes = block_bytes(cells);
    struct block *block = calloc(1, bytes);
    if (!block)
        return err_set(err, ERR_MEMORY, "out of memory for steps");
    *block = (struct block){.magic = MAGIC,
                            .first_step = rows->first_step,
                            .rank = rows->rank,
                            .rows = (uint32_t)rows->count,
                            .stages = (uint32_t)rows->stages};
    memcpy(block + 1, rows->us, 4 * cells);
    block->check = check_of(block, bytes);
    bool ok = lock_folder(folder, &lock, err);
    if (ok) {
        errno = 0;
        ok = append(folder, block, bytes, err);
        close(lock);
    }
    free(block);
    return ok;
}

// --- reading ------------------------------------------------------------------------------------

// A file in memory as it is now; its blocks are never changed.
struct view {
    const char *at;
    size_t bytes;
    uint64_t *starts; // a bit for each 8 bytes: whether a whole block starts there
};

static struct view view_file(const char *folder, const char *name)
{
    char path[PATH_SIZE];
    struct stat info;
    struct view view = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0) {
        void *at = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at != MAP_FAILED)
            view = (struct view){.at = at, .bytes = (size_t)info.st_size};
    }
    if (fd >= 0)
        close(fd);
    return view;
}

// The bytes of the whole block that starts at a place; 0: none does.
static size_t whole_bytes(struct view view, size_t at)
{
    const struct block *block = (const void *)(view.at + at);
    if (block->magic != MAGIC || !block->rows || block->rows > STEP_MOST_ROWS || !block->stages ||
        block->stages > STEP_MOST_STAGES || block->rank >= STEP_MOST_RANKS)
        return 0;
    size_t bytes = block_bytes((size_t)block->rows * block->stages);
    return bytes <= view.bytes - at && check_of(block, bytes) == block->check ? bytes : 0;
}

// Checking takes most of the time, so it is done once.
static bool find_blocks(struct view *view, struct arena *arena, struct err *err)
{
    view->starts = arena_array(arena, view->bytes / 512 + 1, sizeof *view->starts, err);
    if (!view->starts)
        return false;
    for (size_t at = 0, bytes; at + sizeof(struct block) <= view->bytes; at += bytes ? bytes : 8) {
        bytes = whole_bytes(*view, at);
        if (bytes)
            view->starts[at / 512] |= (uint64_t)1 << at / 8 % 64;
    }
    return true;
}

// Which steps and ranks are in the window.
struct plan {
    uint64_t least, first, end; // steps: the first of any block, and the window's; end: one after
    size_t start;               // the block with which the job started last
    uint32_t starts;
    uint64_t *last;       // by number of the rank: the first step of its last block
    uint32_t *last_start; // and the start that it belongs to
    bool *has;
    uint32_t *place;
    size_t ranks;
};

// Blocks in the order in which they came, with their number.
static void each_block(const struct view views[FILES], void *context,
                       void (*take)(void *context, const struct block *block, size_t number))
{
    size_t number = 0;
    for (size_t i = 0; i < FILES; i++)
        for (size_t word = 0; word <= views[i].bytes / 512; word++)
            for (uint64_t bits = views[i].starts[word]; bits; bits &= bits - 1) {
                size_t at = 512 * word + 8 * (size_t)__builtin_ctzll(bits);
                take(context, (const void *)(views[i].at + at), number++);
            }
}

// A rank that goes back to lower steps was started again, as the others are then: what came before
// is of an earlier job under that name. The same block may be sent twice.
static void take_end(void *context, const struct block *block, size_t number)
{
    struct plan *plan = context;
    uint64_t end = block->first_step + block->rows;
    if (plan->last_start[block->rank] == plan->starts &&
        block->first_step < plan->last[block->rank]) {
        plan->starts++;
        plan->start = number;
        plan->end = 0;
        plan->least = UINT64_MAX;
    }
    plan->last_start[block->rank] = plan->starts;
    plan->last[block->rank] = block->first_step;
    plan->end = end > plan->end ? end : plan->end;
    plan->least = block->first_step < plan->least ? block->first_step : plan->least;
}

static void take_rank(void *context, const struct block *block, size_t number)
{
    struct plan *plan = context;
    plan->has[block->rank] |=
        number >= plan->start && block->first_step + block->rows > plan->first;
}

struct filling {
    const struct plan *plan;
    uint32_t *us;
    size_t stages;
};

static void fill(void *context, const struct block *block, size_t number)
{
    const struct filling *filling = context;
    const struct plan *plan = filling->plan;
    const uint32_t *row = (const void *)(block + 1);
    for (uint64_t i = 0; i < block->rows; i++, row += block->stages) {
        uint64_t step = block->first_step + i;
        if (number < plan->start || step < plan->first || step >= plan->end)
            continue;
        size_t at = ((size_t)(step - plan->first) * plan->ranks + plan->place[block->rank]) *
                    filling->stages;
        for (size_t stage = 0; stage < filling->stages; stage++)
            filling->us[at + stage] = stage < block->stages ? row[stage] : 0;
    }
}

static bool choose_ranks(struct plan *plan, struct arena *arena, struct step_window *window,
                         struct err *err)
{
    uint32_t *numbers = arena_array(arena, STEP_MOST_RANKS, sizeof *numbers, err);
    plan->place = arena_array(arena, STEP_MOST_RANKS, sizeof *plan->place, err);
    if (!numbers || !plan->place)
        return false;
    for (uint32_t rank = 0; rank < STEP_MOST_RANKS; rank++)
        if (plan->has[rank]) {
            plan->place[rank] = (uint32_t)plan->ranks;
            numbers[plan->ranks++] = rank;
        }
    window->ranks = numbers;
    return true;
}

static bool read_views(const struct view views[FILES], size_t most_steps, struct arena *arena,
                       struct step_window *window, struct err *err)
{
    size_t stages = window->matrix.stages;
    struct plan plan = {.least = UINT64_MAX,
                        .last = arena_array(arena, STEP_MOST_RANKS, sizeof(uint64_t), err),
                        .last_start = arena_array(arena, STEP_MOST_RANKS, sizeof(uint32_t), err),
                        .has = arena_array(arena, STEP_MOST_RANKS, sizeof(bool), err)};
    if (!plan.last || !plan.last_start || !plan.has)
        return false;
    each_block(views, &plan, take_end);
    plan.first = plan.end > most_steps ? plan.end - most_steps : 0;
    plan.first = plan.first > plan.least ? plan.first : plan.least;
    each_block(views, &plan, take_rank);
    if (!choose_ranks(&plan, arena, window, err) || !plan.ranks)
        return plan.ranks == 0 && window->ranks;
    size_t fit = MOST_CELLS / (plan.ranks * stages);
    if (plan.end - plan.first > fit)
        plan.first = plan.end - fit;
    size_t steps = (size_t)(plan.end - plan.first), cells = steps * plan.ranks * stages;
    uint32_t *us = arena_room(arena, cells, sizeof *us, err);
    if (!us)
        return false;
    memset(us, 0xff, cells * sizeof *us);
    struct filling filling = {&plan, us, stages};
    each_block(views, &filling, fill);
    window->first_step = plan.first;
    window->matrix = (struct step_matrix){us, steps, plan.ranks, stages};
    return true;
}

bool step_log_read(const char *folder, size_t stages, size_t most_steps, struct arena *arena,
                   struct step_window *window, struct err *err)
{
    struct view views[FILES];
    int lock;
    *window = (struct step_window){.matrix.stages = stages};
    if (!stages)
        return true;
    if (!lock_folder(folder, &lock, err)) // a block that did not fit may be taken back just now
        return false;
    for (size_t i = 0; i < FILES; i++)
        views[i] = view_file(folder, files[i]);
    close(lock);
    bool ok = true;
    for (size_t i = 0; ok && i < FILES; i++)
        ok = find_blocks(&views[i], arena, err);
    ok = ok && read_views(views, most_steps, arena, window, err);
    for (size_t i = 0; i < FILES; i++)
        if (views[i].at)
            munmap((void *)(uintptr_t)views[i].at, views[i].bytes);
    return ok;
}
