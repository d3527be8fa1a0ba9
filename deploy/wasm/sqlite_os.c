// SPDX-License-Identifier: Apache-2.0
// What SQLite needs of a system without files: time and random bytes.
#include <sqlite3.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int refuse_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    (void)vfs, (void)name, (void)flags, (void)out;
    file->pMethods = NULL;
    return SQLITE_CANTOPEN;
}

static int refuse_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs, (void)name, (void)sync;
    return SQLITE_IOERR_DELETE_NOENT;
}

static int find_nothing(sqlite3_vfs *vfs, const char *name, int flags, int *found)
{
    (void)vfs, (void)name, (void)flags;
    *found = 0;
    return SQLITE_OK;
}

static int keep_path(sqlite3_vfs *vfs, const char *name, int room, char *out)
{
    (void)vfs;
    return snprintf(out, (size_t)room, "%s", name) < room ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int fill_random(sqlite3_vfs *vfs, int count, char *out)
{
    (void)vfs;
    return getentropy(out, (size_t)count) == 0 ? count : 0;
}

static int never_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    return us;
}

static int tell_time(sqlite3_vfs *vfs, double *days)
{
    (void)vfs;
    *days = 2440587.5 + (double)time(NULL) / 86400;
    return SQLITE_OK;
}

int sqlite3_os_init(void)
{
    // lint-allow(mutable-globals): SQLite links it into its list
    static sqlite3_vfs vfs = {.iVersion = 1,
                              .szOsFile = sizeof(sqlite3_file),
                              .mxPathname = 64,
                              .zName = "none",
                              .xOpen = refuse_open,
                              .xDelete = refuse_delete,
                              .xAccess = find_nothing,
                              .xFullPathname = keep_path,
                              .xRandomness = fill_random,
                              .xSleep = never_sleep,
                              .xCurrentTime = tell_time};
    return sqlite3_vfs_register(&vfs, 1);
}

int sqlite3_os_end(void)
{
    return SQLITE_OK;
}
