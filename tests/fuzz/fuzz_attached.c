// SPDX-License-Identifier: Apache-2.0
// Any bytes as what is kept beside a run: the same figures in pieces as in one.
#include <stdlib.h>
#include <string.h>

#include "ingest/source/format.h"
#include "ingest/source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct buf figures_of(const struct format *format, struct str bytes, size_t step)
{
    struct err err = {.pos = ERR_NO_POS};
    struct arena arena;
    struct buf out = {0};
    struct budget budget = {.limit = (uint64_t)64 << 20};
    char words[64];
    arena_init(&arena, NULL);
    struct figures figures = {.arena = &arena};
    struct format_input input = {.budget = &budget, .figures = &figures};
    input.source = source_mem_open(bytes.at, bytes.len, step, &err);
    bool ok = input.source && format->count(&input, &err);
    if (!ok && err.code == ERR_NONE)
        abort();
    figures_words(&figures, words, sizeof words);
    figures_json(&figures, &out);
    buf_printf(&out, "%d %s", ok, words);
    source_close(input.source);
    arena_free(&arena);
    if (budget.used)
        abort();
    return out;
}

// The one that the bytes are taken for, else any: an input goes through one of them, not all.
static const struct format *choose(struct str bytes)
{
    static const char *const names[] = {"execution-trace", "chakra", "chakra-et", "speedscope",
                                        "perf-script"};
    enum { NAMES = sizeof names / sizeof *names };
    struct str head = {bytes.at, bytes.len < FORMAT_HEAD_BYTES ? bytes.len : FORMAT_HEAD_BYTES};
    const struct format *found = format_find(head, STR(""));
    for (size_t i = 0; found && i < NAMES; i++)
        if (strcmp(found->name, names[i]) == 0)
            return found;
    return format_named(str_of(names[bytes.len ? (unsigned char)bytes.at[0] % NAMES : 0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = {(const char *)data, size};
    const struct format *format = choose(bytes);
    struct buf whole = figures_of(format, bytes, 0), pieces = figures_of(format, bytes, 3);
    if (whole.len != pieces.len || memcmp(whole.at, pieces.at, whole.len) != 0)
        abort();
    buf_free(&whole);
    buf_free(&pieces);
    return 0;
}
