// SPDX-License-Identifier: Apache-2.0
// Which database a data folder belongs to, and the service's name there.
#include "server/store/store_place.h"

#include "server/store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_FILE "node"
enum { PATH_SIZE = 4096 };

// A name that only this folder has, so that after a restart the service owns its jobs again at
// once.
static bool make_name(const char *path, char name[STORE_ID_SIZE], struct err *err)
{
    if (!store_new_name(name, err))
        return false;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    size_t len = strlen(name);
    bool ok = fd >= 0 && write(fd, name, len) == (ssize_t)len && fsync(fd) == 0;
    if (!ok)
        err_set_errno(err, "%s", path);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool name_of(const char *folder, char name[STORE_ID_SIZE], struct err *err)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/" NAME_FILE, folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return make_name(path, name, err);
    ssize_t len = read(fd, name, STORE_ID_SIZE - 1);
    close(fd);
    if (len > 0) {
        name[len] = '\0';
        return true;
    }
    return err_set(err, ERR_IO, "%s is empty; remove it if no service uses this folder", path);
}

struct store *store_open_at(const char *place, const char *folder, struct err *err)
{
    char path[PATH_SIZE], name[STORE_ID_SIZE];
    if (place)
        return name_of(folder, name, err) ? store_open_as(place, name, err) : NULL;
    snprintf(path, sizeof path, "%s/stepscope.db", folder);
    return store_open(path, err);
}
