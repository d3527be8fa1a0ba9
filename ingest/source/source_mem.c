// SPDX-License-Identifier: Apache-2.0
// Bytes in memory, in steps of a chosen size.
#include "ingest/source/source.h"

#include <stdlib.h>
#include <string.h>

struct mem {
    struct source source;
    const char *bytes;
    size_t size, step, at;
};

static bool mem_read(struct source *source, void *bytes, size_t cap, size_t *got, struct err *err)
{
    (void)err;
    struct mem *mem = (struct mem *)source;
    size_t n = mem->size - mem->at;
    n = n < cap ? n : cap;
    n = mem->step && mem->step < n ? mem->step : n;
    if (n)
        memcpy(bytes, mem->bytes + mem->at, n);
    mem->at += n;
    *got = n;
    return true;
}

static void mem_close(struct source *source)
{
    free(source);
}

static uint64_t mem_consumed(const struct source *source)
{
    return ((const struct mem *)source)->at;
}

static bool mem_size(const struct source *source, uint64_t *size)
{
    *size = ((const struct mem *)source)->size;
    return true;
}

static bool mem_read_at(struct source *source, const struct source_place *place, size_t *got,
                        struct err *err)
{
    (void)err;
    const struct mem *mem = (const struct mem *)source;
    size_t left = place->offset < mem->size ? mem->size - (size_t)place->offset : 0;
    *got = left < place->cap ? left : place->cap;
    if (*got)
        memcpy(place->bytes, mem->bytes + place->offset, *got);
    return true;
}

static const struct source_ops mem_ops = {.read = mem_read,
                                          .close = mem_close,
                                          .consumed = mem_consumed,
                                          .size = mem_size,
                                          .read_at = mem_read_at};

struct source *source_mem_open(const void *bytes, size_t size, size_t step, struct err *err)
{
    struct mem *mem = malloc(sizeof *mem);
    if (!mem) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    *mem = (struct mem){{&mem_ops}, bytes, size, step, 0};
    return &mem->source;
}
