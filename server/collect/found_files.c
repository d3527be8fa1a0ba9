// SPDX-License-Identifier: Apache-2.0
#include "server/collect/found_files.h"

#include "ingest/base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <unistd.h>

enum { MOST_DEPTH = 16 };

static const char *const endings[] = {".json", ".csv",  ".log",    ".out",    ".txt", ".yaml",
                                      ".yml",  ".toml", ".pickle", ".sqlite", ".db",  ".rpd",
                                      ".pb",   ".prv",  ".pcf",    ".row",    ".tar", ".tgz",
                                      ".zip",  ".html", ".jsonl",  ".ndjson"};
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

bool found_files_grows(const char *name)
{
    static const char *const logs[] = {".log", ".out", ".txt", ".csv", ".jsonl", ".ndjson"};
    return ends_with_one(str_of(name), logs, sizeof logs / sizeof *logs);
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

bool found_files_wants(const char *name, const char *only)
{
    struct str text = str_of(name);
    if (name[0] == '.' || ends_with_one(text, unfinished, sizeof unfinished / sizeof *unfinished))
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
        return depth == MOST_DEPTH || walk_folder(walk, name, depth + 1, err);
    return !S_ISREG(info.st_mode) || info.st_size == 0 || !found_files_wants(last, walk->only) ||
           walk->file(walk->context, name, &info, err);
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
