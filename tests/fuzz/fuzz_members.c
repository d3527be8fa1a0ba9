// SPDX-License-Identifier: Apache-2.0
// Any bytes as an archive that a process takes apart, and as the list that it leaves: each is
// accepted or refused, and no member has bytes that are not there.
#include "server/jobs/members.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BYTES = 1 << 20 };

static int file_of(const void *bytes, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || pwrite(fd, bytes, size, 0) != (ssize_t)size)
        abort();
    return fd;
}

static void check(int list, uint64_t bytes, bool is_ours)
{
    struct budget budget = {.limit = (uint64_t)64 << 20};
    struct arena arena;
    struct member_list members;
    struct err err = {0};
    arena_init(&arena, &budget);
    bool ok = member_list_read(list, bytes, &arena, &members, &err);
    if (!ok && (is_ours || err.code == ERR_NONE))
        abort();
    for (size_t i = 0; ok && i < members.count; i++)
        if (members.at[i].at + members.at[i].bytes > bytes && members.at[i].bytes)
            abort();
    arena_free(&arena);
}

static void take_apart(const void *archive, size_t size)
{
    struct members_work work = {.input = file_of(archive, size),
                                .bytes = file_of("", 0),
                                .list = file_of("", 0),
                                .max_bytes = MAX_BYTES,
                                .memory_bytes = (uint64_t)64 << 20};
    struct err err = {0};
    if (members_write(&work, &err))
        check(work.list, (uint64_t)lseek(work.bytes, 0, SEEK_END), true);
    close(work.input);
    close(work.bytes);
    close(work.list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 4) {
        take_apart(data + 1, size - 1);
        return 0;
    }
    int list = file_of(data + 1, size - 1);
    check(list, MAX_BYTES, false);
    close(list);
    return 0;
}
