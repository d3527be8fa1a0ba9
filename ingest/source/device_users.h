// SPDX-License-Identifier: Apache-2.0
// Which processes of a file use which devices: each is a part of the file.
#ifndef INGEST_SOURCE_DEVICE_USERS_H
#define INGEST_SOURCE_DEVICE_USERS_H

#include "ingest/source/format.h"

struct device_user {
    int64_t device, process; // the first device it used
    uint64_t devices;        // all of them: bits by number, below 64
};

struct device_users {
    uint32_t count;
    struct device_user at[FORMAT_MAX_PARTS]; // while adding, the last seen first
};

void device_users_add(struct device_users *users, int64_t process, int64_t device);

// After the last one: orders them by device and process.
void device_users_sort(struct device_users *users);

void device_users_list(const struct device_users *users, struct format_parts *parts);

// Whose a device is: the only process that used it, or else the first. There is one at least.
int64_t device_users_home(const struct device_users *users, int64_t device);

#endif
