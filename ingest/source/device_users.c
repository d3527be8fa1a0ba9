// SPDX-License-Identifier: Apache-2.0
#include "ingest/source/device_users.h"

#include <stdlib.h>

static uint64_t bit_of(int64_t device)
{
    return device >= 0 && device < 64 ? UINT64_C(1) << device : 0;
}

// The one that was added last is mostly the next one, too.
void device_users_add(struct device_users *users, int64_t process, int64_t device)
{
    struct device_user user = {device, process, bit_of(device)};
    uint32_t i = 0;
    while (i < users->count && users->at[i].process != user.process)
        i++;
    if (i == FORMAT_MAX_PARTS)
        return;
    if (i < users->count) {
        user.device = users->at[i].device < device ? users->at[i].device : device;
        user.devices |= users->at[i].devices;
    }
    users->count += i == users->count;
    memmove(users->at + 1, users->at, i * sizeof user);
    users->at[0] = user;
}

static int by_device(const void *left, const void *right)
{
    const struct device_user *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return a->process < b->process ? -1 : a->process > b->process;
}

void device_users_sort(struct device_users *users)
{
    qsort(users->at, users->count, sizeof *users->at, by_device);
}

void device_users_list(const struct device_users *users, struct format_parts *parts)
{
    parts->count = users->count;
    for (uint32_t i = 0; i < parts->count; i++)
        parts->at[i] = users->at[i].process;
}

int64_t device_users_home(const struct device_users *users, int64_t device)
{
    uint32_t found = 0, count = 0;
    for (uint32_t i = 0; i < users->count; i++)
        if (users->at[i].devices & bit_of(device)) {
            found = i;
            count++;
        }
    return users->at[count == 1 ? found : 0].process;
}
