// SPDX-License-Identifier: Apache-2.0
// Makes a service's calls on files in its data folder fail, and calls that allocate memory. A file
// that the test and the service both map says which one fails; every place that makes such calls is
// recorded there, identified by its call stack.
#undef _FORTIFY_SOURCE // it would define the functions that are defined here
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SITES = 16384, FRAMES = 14, SKIPPED_FRAMES = 1, KNOWN_FDS = 4096, SHORT = -1 };

enum kind { NONE, OPEN, READ, WRITE, SYNC, NAME, RESERVE, REMOVE, FOLDER, MEMORY, MAP };

struct site {
    uint64_t hash;
    uint32_t kind;
    uint32_t calls;
    uint64_t frames[FRAMES];
};

// The file, as read and written by faults.mjs too.
struct control {
    atomic_uint recording; // note sites
    atomic_uint kind;      // the kind that should fail, 0 none
    int32_t action;        // errno, or SHORT
    uint32_t lasting;      // 1: every call from then on, 0: one
    atomic_uint fired;     // calls that failed
    uint32_t after;        // calls that succeed before
    uint64_t site;         // its hash, 0 any
    atomic_uint site_count;
    atomic_flag lock;
    uint8_t unused[11];
    char folder[464];
    struct site sites[SITES];
};

_Static_assert(offsetof(struct control, folder) == 48, "as faults.mjs has it");
_Static_assert(offsetof(struct control, sites) == 512, "as faults.mjs has it");
_Static_assert(sizeof(struct site) == 128, "as faults.mjs has it");

enum fd_class { FD_UNKNOWN, FD_DATA, FD_OTHER };

// What the program itself would have called.
struct real {
    int (*open)(const char *, int, ...);
    int (*openat)(int, const char *, int, ...);
    int (*close)(int);
    ssize_t (*read)(int, void *, size_t);
    ssize_t (*pread)(int, void *, size_t, off_t);
    ssize_t (*write)(int, const void *, size_t);
    ssize_t (*pwrite)(int, const void *, size_t, off_t);
    int (*fsync)(int);
    int (*fdatasync)(int);
    int (*renameat)(int, const char *, int, const char *);
    int (*fallocate)(int, int, off_t, off_t);
    int (*posix_fallocate)(int, off_t, off_t);
    int (*ftruncate)(int, off_t);
    int (*unlinkat)(int, const char *, int);
    int (*mkdirat)(int, const char *, mode_t);
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*posix_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                       const posix_spawnattr_t *, char *const *, char *const *);
};

static struct {
    struct real real;
    struct control *control;
    bool is_job; // a sandboxed child: it opens nothing, and may not look at descriptors
    _Atomic unsigned char fds[KNOWN_FDS];
    _Alignas(16) char early[1 << 16]; // memory handed out while the real functions are being looked
                                      // up
    size_t early_used;
} state;

static _Thread_local bool is_inside __attribute__((tls_model("initial-exec")));

// --- deciding -----------------------------------------------------------------------------------

// The low bits of addresses do not depend on where the program is loaded.
static uint64_t hash_frames(enum kind kind, void *const *frames, int count)
{
    uint64_t hash = 0xcbf29ce484222325u ^ (uint64_t)kind;
    for (int i = SKIPPED_FRAMES; i < count; i++)
        hash = (hash ^ ((uintptr_t)frames[i] & 0xfff)) * 0x100000001b3u;
    return hash | 1;
}

static void note(enum kind kind, uint64_t hash, void *const *frames, int count)
{
    struct control *control = state.control;
    while (atomic_flag_test_and_set(&control->lock))
        ;
    unsigned known = atomic_load(&control->site_count), i = 0;
    while (i < known && control->sites[i].hash != hash)
        i++;
    struct site *site = i < SITES ? &control->sites[i] : NULL;
    if (site && i == known) {
        *site = (struct site){.hash = hash, .kind = kind};
        for (int f = SKIPPED_FRAMES; f < count && f - SKIPPED_FRAMES < FRAMES; f++)
            site->frames[f - SKIPPED_FRAMES] = (uintptr_t)frames[f];
        atomic_store(&control->site_count, known + 1);
    }
    if (site)
        site->calls++;
    atomic_flag_clear(&control->lock);
}

static bool is_armed(const struct control *control, enum kind kind, uint64_t hash)
{
    return atomic_load(&control->kind) == (unsigned)kind &&
           (!control->site || control->site == hash);
}

// Decides which of the armed calls this is; several threads may make them.
static int take_turn(struct control *control)
{
    unsigned turn = atomic_fetch_add(&control->fired, 1);
    bool fails = control->lasting ? turn >= control->after : turn == control->after;
    return fails ? control->action : 0;
}

// 0: proceed; an errno, or SHORT.
__attribute__((noinline)) static int decide(enum kind kind)
{
    struct control *control = state.control;
    if (!control || is_inside)
        return 0;
    bool records = atomic_load(&control->recording);
    if (!records && atomic_load(&control->kind) != (unsigned)kind)
        return 0;
    void *frames[FRAMES + SKIPPED_FRAMES];
    int saved = errno, action = 0;
    is_inside = true;
    int count = backtrace(frames, FRAMES + SKIPPED_FRAMES);
    uint64_t hash = hash_frames(kind, frames, count);
    if (records)
        note(kind, hash, frames, count);
    if (is_armed(control, kind, hash))
        action = take_turn(control);
    is_inside = false;
    errno = saved;
    return action;
}

// --- which files --------------------------------------------------------------------------------

static bool is_below(const char *path)
{
    const char *folder = state.control->folder;
    size_t len = strlen(folder);
    return len > 0 && strncmp(path, folder, len) == 0;
}

static enum fd_class look_at(int fd)
{
    char link[32], path[1024];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof path - 1);
    path[len > 0 ? len : 0] = '\0';
    return is_below(path) ? FD_DATA : FD_OTHER;
}

static bool is_data_fd(int fd)
{
    if (!state.control || fd < 0 || fd >= KNOWN_FDS)
        return false;
    if (state.fds[fd] == FD_UNKNOWN && !state.is_job) {
        int saved = errno;
        state.fds[fd] = (unsigned char)look_at(fd);
        errno = saved;
    }
    return state.fds[fd] == FD_DATA;
}

static bool is_data_path(int folder_fd, const char *path)
{
    if (!state.control)
        return false;
    return path[0] == '/' || folder_fd == AT_FDCWD ? is_below(path) : is_data_fd(folder_fd);
}

__attribute__((noinline)) static int decide_fd(enum kind kind, int fd)
{
    return is_data_fd(fd) ? decide(kind) : 0;
}

__attribute__((noinline)) static int decide_path(enum kind kind, int folder_fd, const char *path)
{
    return is_data_path(folder_fd, path) ? decide(kind) : 0;
}

// True with errno set if the call should fail; calls that cannot be shortened succeed instead.
static bool fails(int action)
{
    if (action > 0)
        errno = action;
    return action > 0;
}

// Half of it, but at least one byte.
static size_t cut(int action, size_t size)
{
    return action == SHORT && size > 1 ? size / 2 : size;
}

// --- start --------------------------------------------------------------------------------------

static void find(void *function, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

static void find_all(struct real *real)
{
    find(&real->open, "open");
    find(&real->openat, "openat");
    find(&real->close, "close");
    find(&real->read, "read");
    find(&real->pread, "pread");
    find(&real->write, "write");
    find(&real->pwrite, "pwrite");
    find(&real->fsync, "fsync");
    find(&real->fdatasync, "fdatasync");
    find(&real->renameat, "renameat");
    find(&real->fallocate, "fallocate");
    find(&real->posix_fallocate, "posix_fallocate");
    find(&real->ftruncate, "ftruncate");
    find(&real->unlinkat, "unlinkat");
    find(&real->mkdirat, "mkdirat");
    find(&real->calloc, "calloc");
    find(&real->realloc, "realloc");
    find(&real->free, "free");
    find(&real->posix_memalign, "posix_memalign");
    find(&real->aligned_alloc, "aligned_alloc");
    find(&real->mmap, "mmap");
    find(&real->posix_spawn, "posix_spawn");
    find(&real->malloc, "malloc");
}

static struct control *map_control(const char *path)
{
    int fd = path ? state.real.open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return NULL;
    void *at =
        state.real.mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    state.real.close(fd);
    return at == MAP_FAILED ? NULL : at;
}

__attribute__((constructor)) static void begin(int argc, char **argv)
{
    void *frames[2];
    is_inside = true;
    if (!state.real.malloc)
        find_all(&state.real);
    backtrace(frames, 2); // loads the unwinder now
    state.is_job = argc > 1 && argv[1][0] == '_';
    state.control = map_control(getenv("STEPSCOPE_FAULTS"));
    for (int fd = 0; state.control && state.is_job && fd < KNOWN_FDS; fd++)
        state.fds[fd] = (unsigned char)look_at(fd);
    is_inside = false;
}

// --- files --------------------------------------------------------------------------------------

static mode_t take_mode(int flags, va_list args)
{
    return (flags & (O_CREAT | O_TMPFILE)) ? va_arg(args, mode_t) : 0;
}

static void forget(int fd)
{
    if (fd >= 0 && fd < KNOWN_FDS)
        state.fds[fd] = FD_UNKNOWN;
}

static int open_file(int folder_fd, const char *path, int flags, mode_t mode)
{
    if (fails(decide_path(OPEN, folder_fd, path)))
        return -1;
    int fd = state.real.openat(folder_fd, path, flags, mode);
    forget(fd);
    return fd;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = take_mode(flags, args);
    va_end(args);
    return open_file(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = take_mode(flags, args);
    va_end(args);
    return open_file(AT_FDCWD, path, flags, mode);
}

int openat(int folder_fd, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = take_mode(flags, args);
    va_end(args);
    return open_file(folder_fd, path, flags, mode);
}

int openat64(int folder_fd, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = take_mode(flags, args);
    va_end(args);
    return open_file(folder_fd, path, flags, mode);
}

int close(int fd)
{
    forget(fd);
    return state.real.close(fd);
}

ssize_t read(int fd, void *bytes, size_t size)
{
    int action = decide_fd(READ, fd);
    return fails(action) ? -1 : state.real.read(fd, bytes, cut(action, size));
}

ssize_t pread(int fd, void *bytes, size_t size, off_t at)
{
    int action = decide_fd(READ, fd);
    return fails(action) ? -1 : state.real.pread(fd, bytes, cut(action, size), at);
}

ssize_t pread64(int fd, void *bytes, size_t size, off_t at)
{
    int action = decide_fd(READ, fd);
    return fails(action) ? -1 : state.real.pread(fd, bytes, cut(action, size), at);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    int action = decide_fd(WRITE, fd);
    return fails(action) ? -1 : state.real.write(fd, bytes, cut(action, size));
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    int action = decide_fd(WRITE, fd);
    return fails(action) ? -1 : state.real.pwrite(fd, bytes, cut(action, size), at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t at)
{
    int action = decide_fd(WRITE, fd);
    return fails(action) ? -1 : state.real.pwrite(fd, bytes, cut(action, size), at);
}

int fsync(int fd)
{
    return fails(decide_fd(SYNC, fd)) ? -1 : state.real.fsync(fd);
}

int fdatasync(int fd)
{
    return fails(decide_fd(SYNC, fd)) ? -1 : state.real.fdatasync(fd);
}

int rename(const char *from, const char *to)
{
    return fails(decide_path(NAME, AT_FDCWD, to))
               ? -1
               : state.real.renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    return fails(decide_path(NAME, to_fd, to)) ? -1 : state.real.renameat(from_fd, from, to_fd, to);
}

int fallocate(int fd, int mode, off_t at, off_t size)
{
    return fails(decide_fd(RESERVE, fd)) ? -1 : state.real.fallocate(fd, mode, at, size);
}

int fallocate64(int fd, int mode, off_t at, off_t size)
{
    return fails(decide_fd(RESERVE, fd)) ? -1 : state.real.fallocate(fd, mode, at, size);
}

// Returns the error rather than setting errno.
int posix_fallocate(int fd, off_t at, off_t size)
{
    int action = decide_fd(RESERVE, fd);
    return action > 0 ? action : state.real.posix_fallocate(fd, at, size);
}

int posix_fallocate64(int fd, off_t at, off_t size)
{
    int action = decide_fd(RESERVE, fd);
    return action > 0 ? action : state.real.posix_fallocate(fd, at, size);
}

int ftruncate(int fd, off_t size)
{
    return fails(decide_fd(RESERVE, fd)) ? -1 : state.real.ftruncate(fd, size);
}

int ftruncate64(int fd, off_t size)
{
    return fails(decide_fd(RESERVE, fd)) ? -1 : state.real.ftruncate(fd, size);
}

int unlink(const char *path)
{
    return fails(decide_path(REMOVE, AT_FDCWD, path)) ? -1 : state.real.unlinkat(AT_FDCWD, path, 0);
}

int unlinkat(int folder_fd, const char *path, int flags)
{
    return fails(decide_path(REMOVE, folder_fd, path))
               ? -1
               : state.real.unlinkat(folder_fd, path, flags);
}

int mkdir(const char *path, mode_t mode)
{
    return fails(decide_path(FOLDER, AT_FDCWD, path)) ? -1
                                                      : state.real.mkdirat(AT_FDCWD, path, mode);
}

int mkdirat(int folder_fd, const char *path, mode_t mode)
{
    return fails(decide_path(FOLDER, folder_fd, path)) ? -1
                                                       : state.real.mkdirat(folder_fd, path, mode);
}

// --- memory -------------------------------------------------------------------------------------

static void *take_early(size_t size)
{
    size_t at = (state.early_used + 15) & ~(size_t)15;
    if (at + size > sizeof state.early)
        return NULL;
    state.early_used = at + size;
    return state.early + at;
}

static bool is_early(const void *block)
{
    const char *at = block;
    return at >= state.early && at < state.early + sizeof state.early;
}

void *malloc(size_t size)
{
    if (!state.real.malloc)
        return take_early(size);
    return fails(decide(MEMORY)) ? NULL : state.real.malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (!state.real.malloc)
        return take_early(count * size);
    return fails(decide(MEMORY)) ? NULL : state.real.calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    if (is_early(block)) {
        void *moved = malloc(size);
        return moved ? memcpy(moved, block, size) : NULL;
    }
    if (!state.real.malloc)
        return take_early(size);
    return fails(decide(MEMORY)) ? NULL : state.real.realloc(block, size);
}

void free(void *block)
{
    if (!is_early(block) && state.real.free)
        state.real.free(block);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    int action = decide(MEMORY);
    return action > 0 ? action : state.real.posix_memalign(block, alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(decide(MEMORY)) ? NULL : state.real.aligned_alloc(alignment, size);
}

// For files only: memory for threads is mapped by the C library below malloc.
// lint-allow(parameters): the C library's signature
void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (!state.real.mmap)
        find_all(&state.real);
    return fails(decide_fd(MAP, fd)) ? MAP_FAILED
                                     : state.real.mmap(at, size, protection, flags, fd, offset);
}

// lint-allow(parameters): the C library's signature
void *mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (!state.real.mmap)
        find_all(&state.real);
    return fails(decide_fd(MAP, fd)) ? MAP_FAILED
                                     : state.real.mmap(at, size, protection, flags, fd, offset);
}

// --- children -----------------------------------------------------------------------------------

// A child inherits the faults, too, however little of the environment it is given.
// lint-allow(parameters): the C library's signature
int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const *arguments, char *const *given)
{
    enum { MOST = 64 };
    static const char *const names[] = {"LD_PRELOAD", "STEPSCOPE_FAULTS", "ASAN_OPTIONS"};
    char texts[3][1200], *all[MOST + 4];
    size_t count = 0;
    for (; given && given[count] && count < MOST; count++)
        all[count] = given[count];
    for (size_t i = 0; i < 3; i++) {
        const char *value = getenv(names[i]);
        snprintf(texts[i], sizeof texts[i], "%s=%s", names[i], value ? value : "");
        if (value)
            all[count++] = texts[i];
    }
    all[count] = NULL;
    return state.real.posix_spawn(pid, path, actions, attributes, arguments, all);
}
