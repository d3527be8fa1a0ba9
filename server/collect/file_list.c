// SPDX-License-Identifier: Apache-2.0
#include "server/collect/file_list.h"

#include "ingest/base/buf.h"
#include "ingest/base/clock.h"

#include <fcntl.h>
#include <jansson.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#define SECOND_NS 1000000000LL

enum { MOST_FILES = 1 << 20, LONG_LIST = 1 << 16, MOST_LINE = 8192 };

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct listed_file *)a)->name, ((const struct listed_file *)b)->name);
}

static struct listed_file *find(const struct file_list *list, const char *name)
{
    const struct listed_file wanted = {.name = name};
    struct listed_file *const *found = tfind(&wanted, &list->tree, by_name);
    return found ? *found : NULL;
}

static struct listed_file *add(struct file_list *list, const struct listed_file *now,
                               struct err *err)
{
    if (list->count == MOST_FILES) {
        err_set(err, ERR_LIMIT, "found more than %d files in the folder", MOST_FILES);
        return NULL;
    }
    size_t size = strlen(now->name) + 1;
    struct listed_file *file = calloc(1, sizeof *file + size);
    if (file)
        file->name = memcpy(file + 1, now->name, size);
    if (!file || !tsearch(file, &list->tree, by_name)) {
        free(file);
        err_set(err, ERR_MEMORY, "out of memory for the list of files");
        return NULL;
    }
    file->next = list->first;
    list->first = file;
    list->count++;
    return file;
}

struct listed_file file_list_entry(const char *name, const struct stat *info)
{
    return (struct listed_file){.name = name,
                                .bytes = (uint64_t)info->st_size,
                                .modified_ns = (int64_t)info->st_mtim.tv_sec * SECOND_NS +
                                               info->st_mtim.tv_nsec,
                                .since_ns = clock_mono_ns()};
}

struct listed_file *file_list_see(struct file_list *list, const struct listed_file *now,
                                  struct err *err)
{
    struct listed_file *file = find(list, now->name);
    bool is_known = file && file->bytes == now->bytes && file->modified_ns == now->modified_ns;
    if (!file && !(file = add(list, now, err)))
        return NULL;
    file->pass = list->pass;
    if (is_known)
        return file;
    const struct listed_file old = *file;
    *file = *now;
    file->next = old.next;
    file->name = old.name;
    file->pass = old.pass;
    file->was_sent = old.was_sent || old.status == FILE_SENT;
    return file;
}

void file_list_pass(struct file_list *list)
{
    bool is_long = list->count > LONG_LIST;
    struct listed_file **at = &list->first;
    while (is_long && *at) {
        struct listed_file *file = *at;
        if (file->pass == list->pass) {
            at = &file->next;
            continue;
        }
        *at = file->next;
        tdelete(file, &list->tree, by_name);
        free(file);
        list->count--;
    }
    list->pass++;
}

// --- the file -----------------------------------------------------------------------------------

// A line that is not ours, or torn, is passed over: the hub knows what it has.
static bool read_line(struct file_list *list, const char *line, size_t len, struct err *err)
{
    const char *target = NULL, *name = NULL, *status = NULL;
    json_int_t bytes = 0, modified_ns = 0;
    json_t *value = json_loadb(line, len, 0, NULL);
    bool known =
        value && json_unpack(value, "{s:s,s:s,s:s,s:I,s:I}", "to", &target, "name", &name, "status",
                             &status, "bytes", &bytes, "modified_ns", &modified_ns) == 0;
    bool ok = true;
    if (known && bytes >= 0 && strcmp(target, list->target) == 0) {
        const struct listed_file file = {.name = name,
                                         .bytes = (uint64_t)bytes,
                                         .modified_ns = modified_ns,
                                         .status = strcmp(status, "sent") == 0 ? FILE_SENT
                                                                               : FILE_REFUSED};
        ok = file_list_see(list, &file, err) != NULL;
    }
    json_decref(value);
    return ok;
}

static bool read_lines(struct file_list *list, struct err *err)
{
    char line[MOST_LINE];
    int copy = dup(list->fd);
    FILE *in = copy >= 0 ? fdopen(copy, "r") : NULL;
    if (!in) {
        if (copy >= 0)
            close(copy);
        return err_set_errno(err, "cannot read the list of sent files");
    }
    bool ok = true;
    while (ok && fgets(line, sizeof line, in))
        ok = read_line(list, line, strlen(line), err);
    fclose(in);
    return ok;
}

// A line that a full disk cut off must not swallow the next one.
static void end_torn_line(int fd)
{
    char last = '\n';
    off_t end = lseek(fd, 0, SEEK_END);
    if (end > 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n')
        (void)!write(fd, "\n", 1);
}

bool file_list_open(struct file_list *list, const char *path, const char *target, struct err *err)
{
    *list = (struct file_list){.target = target, .fd = -1};
    if (!path)
        return true;
    list->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (list->fd < 0)
        return err_set_errno(err, "cannot write %.150s; choose another --state", path);
    if (flock(list->fd, LOCK_EX | LOCK_NB) != 0)
        return err_set(err, ERR_BUSY, "another process sends the files of %.150s", path);
    if (!read_lines(list, err))
        return false;
    end_torn_line(list->fd);
    return true;
}

void file_list_free(struct file_list *list)
{
    if (list->fd >= 0)
        close(list->fd);
    tdestroy(list->tree, free);
    list->tree = NULL;
    list->first = NULL;
    list->fd = -1;
}

bool file_list_record(struct file_list *list, const struct listed_file *file, const char *note,
                      struct err *err)
{
    struct buf line = {0};
    if (list->fd < 0)
        return true;
    buf_puts(&line, "{\"to\":");
    buf_json(&line, str_of(list->target));
    buf_puts(&line, ",\"name\":");
    buf_json(&line, str_of(file->name));
    buf_printf(&line, ",\"status\":\"%s\",\"bytes\":%llu,\"modified_ns\":%lld,\"note\":",
               file->status == FILE_SENT ? "sent" : "refused", (unsigned long long)file->bytes,
               (long long)file->modified_ns);
    buf_json(&line, str_of(note));
    buf_puts(&line, "}\n");
    bool ok = buf_ok(&line, err) &&
              (line.len < MOST_LINE ||
               err_set(err, ERR_LIMIT, "found a name too long for the list of sent files")) &&
              (write(list->fd, line.at, line.len) == (ssize_t)line.len ||
               err_set_errno(err, "cannot write the list of sent files"));
    buf_free(&line);
    bool tell = !ok && !list->is_broken;
    list->is_broken = !ok;
    return !tell;
}
