// SPDX-License-Identifier: Apache-2.0
#include "server/files/json_file.h"

#include "ingest/base/fd_io.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PATH = 1032 };

// Otherwise the old document may return after a power cut.
static bool sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[MOST_PATH];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

bool json_file_save(const char *path, const json_t *document, const char *what, struct err *err)
{
    char part[MOST_PATH];
    if ((size_t)snprintf(part, sizeof part, "%s.part", path) >= sizeof part)
        return err_set(err, ERR_USAGE, "the path %s is too long", path);
    char *text = json_dumps(document, JSON_COMPACT);
    int fd = text ? open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    size_t len = text ? strlen(text) : 0;
    bool ok = fd >= 0 && fd_write(fd, text, len) && fdatasync(fd) == 0 && rename(part, path) == 0 &&
              sync_folder_of(path);
    if (!ok)
        err_set_errno(err, "cannot keep %s", what);
    if (fd >= 0)
        close(fd);
    if (!ok && fd >= 0)
        unlink(part);
    free(text);
    return ok;
}
