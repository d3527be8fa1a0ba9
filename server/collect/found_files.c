// SPDX-License-Identifier: Apache-2.0
#include "server/collect/found_files.h"

#include "ingest/base/buf.h"
#include "ingest/base/visible.h"
#include "ingest/source/format.h"
#include "ingest/source/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_DEPTH = 16 };

static const char *const endings[] = {".json", ".csv",  ".log",    ".out",    ".txt", ".yaml",
                                      ".yml",  ".toml", ".pickle", ".sqlite", ".db",  ".rpd",
                                      ".pb",   ".prv",  ".pcf",    ".row",    ".tar", ".tgz",
                                      ".zip",  ".html", ".jsonl",  ".ndjson", ".err", ".prom"};
static const char *const codings[] = {".gz", ".zst"};
static const char *const unfinished[] = {".tmp", ".part", ".partial", ".swp", ".lock", "~"};

static bool ends_with(struct str text, const char *end)
{
    size_t len = strlen(end);
    return text.len > len && memcmp(text.at + text.len - len, end, len) == 0;
}

static bool ends_with_one(struct str text, const char *const *ends, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ends_with(text, ends[i]))
            return true;
    return false;
}

static bool is_tfevents(const char *name)
{
    return strstr(name, ".tfevents.");
}

bool found_files_grows(const char *name)
{
    static const char *const logs[] = {".log", ".out", ".err", ".txt", ".csv", ".jsonl", ".ndjson"};
    return ends_with_one(str_of(name), logs, sizeof logs / sizeof *logs) || is_tfevents(name);
}

static bool matches(const char *name, const char *patterns)
{
    char pattern[256];
    for (const char *rest = patterns; *rest;) {
        size_t len = strcspn(rest, ",");
        snprintf(pattern, sizeof pattern, "%.*s", (int)(len < 255 ? len : 255), rest);
        if (fnmatch(pattern, name, 0) == 0)
            return true;
        rest += len + (rest[len] == ',');
    }
    return false;
}

static bool is_unfinished(const char *name)
{
    return ends_with_one(str_of(name), unfinished, sizeof unfinished / sizeof *unfinished);
}

bool found_files_wants(const char *name, const char *only)
{
    struct str text = str_of(name);
    if (name[0] == '.' || is_unfinished(name))
        return false;
    if (only)
        return matches(name, only);
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++)
        if (ends_with(text, codings[i])) {
            text.len -= strlen(codings[i]);
            break;
        }
    return ends_with_one(text, endings, sizeof endings / sizeof *endings);
}

// A name whose ending says nothing: none, or one with a number, as in "nccl_trace_rank_0",
// "events.out.tfevents.1700000000.node7" and "job.o81234".
static bool has_no_kind(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (!dot)
        return true;
    for (const char *at = dot + 1; *at; at++)
        if ((*at | 0x20) < 'a' || (*at | 0x20) > 'z')
            return true;
    return is_tfevents(name);
}

int found_files_open(const char *path, struct err *err)
{
    struct stat info;
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
                           .resolve = RESOLVE_NO_SYMLINKS};
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) // before Linux 5.6, or not allowed
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &info) != 0) {
        bool missing = errno == ENOENT;
        err_set_errno(err, "cannot open it");
        err->code = missing ? ERR_NOT_FOUND : err->code;
    } else if (!S_ISREG(info.st_mode))
        err_set(err, ERR_FORMAT, "found no regular file, expected a file with something in it");
    else
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

// Weights are zip archives and pickles as well, so only what is certainly a record counts.
bool found_files_is_read(const char *path)
{
    struct err ignored = {.pos = ERR_NO_POS};
    struct format_found found = {0};
    int fd = found_files_open(path, &ignored);
    struct source *source = fd >= 0 ? source_fd_take(fd, &ignored) : NULL;
    source = source ? format_open(source, NULL, &found, &ignored) : NULL;
    const struct format *format = source ? found.format : NULL;
    bool is = format && format->kind != FORMAT_DATABASE && format->kind != FORMAT_ARCHIVE &&
              (format->read || format->gather) &&
              format_like(format, found.head, (struct str){"", 0}) == FORMAT_SURE;
    source_close(source);
    return is;
}

int found_files_is_open(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return -1;
    // The kernel grants the owner a read lease only while nobody has the file open for writing.
    int taken = fcntl(fd, F_SETLEASE, F_RDLCK);
    int why = errno;
    if (taken == 0)
        fcntl(fd, F_SETLEASE, F_UNLCK);
    close(fd);
    return taken == 0 ? 0 : why == EAGAIN ? 1 : -1;
}

// --- folders ------------------------------------------------------------------------------------

static bool walk_folder(const struct found_files *walk, const char *below, int depth,
                        struct err *err);

static bool leave(const struct found_files *walk, const char *name, enum file_left why)
{
    if (walk->left && !walk->left->counts[why]++)
        snprintf(walk->left->names[why], sizeof walk->left->names[why], "%s", name);
    return true;
}

static bool is_read(const struct found_files *walk, const char *name, const char *path,
                    const struct stat *info)
{
    return walk->is_read ? walk->is_read(walk->context, name, info, path)
                         : found_files_is_read(path);
}

// FILE_LEFTS for one that is wanted.
static enum file_left judge(const struct found_files *walk, const char *name, const char *path,
                            const struct stat *info)
{
    const char *last = strrchr(path, '/') + 1;
    if (!S_ISREG(info->st_mode))
        return LEFT_NO_FILE;
    if (is_unfinished(last))
        return LEFT_UNFINISHED;
    bool wanted = found_files_wants(last, walk->only);
    if (!wanted && walk->only)
        return LEFT_OTHER_NAME;
    if (info->st_size == 0)
        return LEFT_EMPTY;
    return wanted || (has_no_kind(last) && is_read(walk, name, path, info)) ? FILE_LEFTS
                                                                            : LEFT_UNREAD;
}

static bool visit(const struct found_files *walk, const char *name, int depth, struct err *err)
{
    char path[4096];
    struct stat info;
    const char *slash = strrchr(name, '/');
    const char *last = slash ? slash + 1 : name;
    int len = snprintf(path, sizeof path, "%s/%s", walk->folder, name);
    if (len >= (int)sizeof path || last[0] == '.' || lstat(path, &info) != 0)
        return true;
    if (S_ISDIR(info.st_mode))
        return depth == MOST_DEPTH ? leave(walk, name, LEFT_TOO_DEEP)
                                   : walk_folder(walk, name, depth + 1, err);
    enum file_left why = judge(walk, name, path, &info);
    return why == FILE_LEFTS ? walk->file(walk->context, name, &info, err) : leave(walk, name, why);
}

static bool walk_entries(const struct found_files *walk, DIR *dir, const char *below, int depth,
                         struct err *err)
{
    char name[4096];
    bool ok = true;
    for (const struct dirent *entry; ok && (entry = readdir(dir));) {
        int len = snprintf(name, sizeof name, "%s%s%s", below, *below ? "/" : "", entry->d_name);
        ok = len >= (int)sizeof name || visit(walk, name, depth, err);
    }
    return ok;
}

static bool walk_folder(const struct found_files *walk, const char *below, int depth,
                        struct err *err)
{
    char path[4096];
    int len = snprintf(path, sizeof path, "%s%s%s", walk->folder, *below ? "/" : "", below);
    if (len >= (int)sizeof path)
        return true;
    DIR *dir = opendir(path);
    if (!dir && !*below) {
        bool missing = errno == ENOENT || errno == ENOTDIR;
        err_set_errno(err, "cannot list %.150s", path);
        err->code = missing ? ERR_NOT_FOUND : err->code;
        return false;
    }
    if (!dir)
        return true;
    if (walk->subfolder)
        walk->subfolder(walk->context, path);
    bool ok = walk_entries(walk, dir, below, depth, err);
    closedir(dir);
    return ok;
}

bool found_files_walk(const struct found_files *walk, struct err *err)
{
    return walk_folder(walk, "", 0, err);
}

// --- what was passed over -----------------------------------------------------------------------

void files_left_say(const struct files_left *left, char out[FILES_LEFT_BYTES])
{
    static const char *const words[FILE_LEFTS] = {
        [LEFT_UNREAD] = "of a kind that is not read",
        [LEFT_OTHER_NAME] = "with another name",
        [LEFT_UNFINISHED] = "unfinished",
        [LEFT_EMPTY] = "empty",
        [LEFT_NO_FILE] = "no regular file",
        [LEFT_TOO_DEEP] = "in folders too deep",
    };
    struct buf text = {0};
    size_t all = 0, kinds = 0;
    for (int why = 0; why < FILE_LEFTS; why++)
        all += left->counts[why];
    buf_printf(&text, "%zu (", all);
    for (int why = 0; why < FILE_LEFTS; why++) {
        if (!left->counts[why])
            continue;
        buf_printf(&text, "%s%zu %s, such as ", kinds++ ? "; " : "", left->counts[why], words[why]);
        buf_add_visible(&text, str_of(left->names[why]));
    }
    buf_puts(&text, ")");
    snprintf(out, FILES_LEFT_BYTES, "%s", all && text.at && !text.failed ? text.at : "");
    buf_free(&text);
}
