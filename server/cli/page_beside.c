// SPDX-License-Identifier: Apache-2.0
#include "server/cli/page_beside.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

// The part of a path before its last name.
static struct str folder_of(const char *path)
{
    const char *end = strrchr(path, '/');
    return (struct str){path, end ? (size_t)(end - path) : 0};
}

static const char *folder_with_page(struct arena *arena, struct str beside, const char *place)
{
    struct err err = {.pos = ERR_NO_POS};
    const char *folder = arena_printf(arena, &err, "%.*s/%s", (int)beside.len, beside.at, place);
    const char *page = folder ? arena_printf(arena, &err, "%s/index.html", folder) : NULL;
    return page && access(page, R_OK) == 0 ? folder : NULL;
}

const char *page_beside_program(struct arena *arena)
{
    char program[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    if (len <= 0)
        return NULL;
    program[len] = '\0';
    struct str bin = folder_of(program);
    const char *found = folder_with_page(arena, bin, "standalone");
    return found ? found : folder_with_page(arena, bin, "../share/stepscope/standalone");
}
