// SPDX-License-Identifier: Apache-2.0
// Windows of a damaged overview of a run's ranks fail cleanly or keep their promises. Fuzzing
// builds do not compare its checksum.
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ingest/base/fd_io.h"
#include "ingest/trace/overview.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct overview_window *window, const struct overview_query *query)
{
    if (window->piece_count == 0 || window->lane_count == 0 || window->lane_count > query->lanes)
        abort();
    for (uint32_t i = 0; i < window->lane_count; i++)
        for (uint32_t k = 0; window->lanes[i].idlest && k < window->piece_count; k++)
            if (window->lanes[i].idlest[k] != OVERVIEW_NOBODY &&
                window->lanes[i].idlest[k] >= window->lanes[i].rank_count)
                abort();
}

static void look(const struct overview *overview, uint32_t px, uint32_t lanes)
{
    const struct overview_header *header = overview_header(overview);
    struct overview_query query = {INT64_MIN, INT64_MAX, px, 0, header->rank_count, lanes};
    struct budget budget = {.limit = (uint64_t)64 << 20};
    struct overview_window window;
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, &budget);
    if (overview_read(overview, &query, &arena, &window, &err))
        check(&window, &query);
    else if (err.code == ERR_NONE)
        abort();
    query = (struct overview_query){
        overview_ranks(overview)[0].begin_ns, INT64_MAX, px, header->rank_count / 2, 1, lanes};
    if (overview_read(overview, &query, &arena, &window, &err))
        check(&window, &query);
    arena_free(&arena);
    if (budget.used)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {0};
    int fd = memfd_create("overview", MFD_CLOEXEC);
    if (fd < 0 || !fd_write(fd, data, size))
        abort();
    struct overview *overview = overview_open_fd(fd, &err);
    if (!overview && err.code == ERR_NONE)
        abort();
    for (uint32_t px = 32; overview && px <= 2048; px *= 8)
        for (uint32_t lanes = 1; lanes <= 64; lanes *= 8)
            look(overview, px, lanes);
    overview_close(overview);
    return 0;
}
