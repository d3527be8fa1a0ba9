// SPDX-License-Identifier: Apache-2.0
#include "server/base/startup_pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct mapping {
    uintptr_t begin, end;
    bool is_file; // mapped from one, and not writable
};

// "7f12a000-7f12c000 r-xp 00000000 fe:00 1234   /usr/lib/libc.so.6"
static bool read_mapping(const char *line, struct mapping *mapping)
{
    char access[5], path[2];
    unsigned long begin, end;
    int fields = sscanf(line, "%lx-%lx %4s %*s %*s %*s %1s", &begin, &end, access, path);
    if (fields < 3)
        return false;
    *mapping = (struct mapping){begin, end, fields == 4 && path[0] == '/' && access[1] == '-'};
    return true;
}

// Pages that were written, such as relocated pointers, exist nowhere else: a mapping with any
// stays.
static void look_at(const char *line, struct mapping *mapping)
{
    unsigned long written_kb;
    if (read_mapping(line, mapping) || sscanf(line, "Anonymous: %lu kB", &written_kb) != 1)
        return;
    if (mapping->is_file && written_kb == 0)
        (void)madvise((void *)mapping->begin, mapping->end - mapping->begin, MADV_DONTNEED);
}

void startup_pages_release(void)
{
    enum { LINE_BYTES = 4096 + 128 }; // a path, and what stands before it
    char line[LINE_BYTES];
    struct mapping mapping = {0};
    FILE *maps = fopen("/proc/self/smaps", "re");
    if (!maps)
        return;
    while (fgets(line, sizeof line, maps))
        look_at(line, &mapping);
    fclose(maps);
}
