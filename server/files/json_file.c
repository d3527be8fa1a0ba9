// SPDX-License-Identifier: Apache-2.0
#include "server/files/json_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool json_file_save(const char *path, const json_t *document, const char *what, struct err *err)
{
    char part[1032];
    snprintf(part, sizeof part, "%s.part", path);
    char *text = json_dumps(document, JSON_COMPACT);
    int fd = text ? open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    size_t len = text ? strlen(text) : 0;
    bool ok = fd >= 0 && write(fd, text, len) == (ssize_t)len && fdatasync(fd) == 0 &&
              rename(part, path) == 0;
    if (!ok)
        err_set_errno(err, "cannot keep %s", what);
    if (fd >= 0)
        close(fd);
    if (!ok && fd >= 0)
        unlink(part);
    free(text);
    return ok;
}
