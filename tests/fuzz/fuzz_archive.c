// SPDX-License-Identifier: Apache-2.0
// Any archive can be walked: names stay text, limits hold, and a tar gives the same members whether
// it is read in order or at any position.
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "ingest/file_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BLOCK = 4096 };

static const struct unpack_limits limits = {
    .max_members = 64, .max_bytes = (uint64_t)1 << 18, .max_ratio = 200};

struct walk {
    uint64_t bytes, members;
};

static void check_name(const char *name)
{
    struct str text = str_of(name);
    if (str_valid_utf8(text) != text.len)
        abort();
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.at[i] < ' ' || text.at[i] == 0x7F)
            abort();
}

static bool drain(void *context, struct file_part *part, struct err *err)
{
    (void)err;
    struct walk *walk = context;
    char block[BLOCK];
    size_t got = 1;
    struct err ignored;
    walk->members += part->process == 0; // a database comes once for each of its processes
    if (part->name)
        check_name(part->name);
    if ((part->source == NULL) != (part->problem.code != ERR_NONE))
        abort();
    // Decompressed members have their own limit, as in ingest_opened.
    for (uint64_t bytes = 0; part->source && got > 0 && bytes < limits.max_bytes; bytes += got) {
        if (!source_read(part->source, block, sizeof block, &got, &ignored))
            break;
        walk->bytes += part->found.layer_count ? 0 : got;
    }
    source_close(part->source);
    return true;
}

static bool is_plain_tar(const struct format_found *found)
{
    return found->format && !found->layer_count && strcmp(found->format->name, "tar") == 0;
}

// A limit on top makes a source sequential.
static struct source *open_bytes(const uint8_t *data, size_t size, bool in_order)
{
    struct err err;
    struct source *source = source_mem_open(data, size, in_order ? 7 : 0, &err);
    return in_order && source
               ? source_limit_open(source, (struct source_limits){limits.max_bytes, 200}, &err)
               : source;
}

static struct walk walk_over(struct source *source, struct scratch scratch,
                             struct format_found *found)
{
    struct walk walk = {0};
    struct err err = {0};
    struct file_parts parts = {
        .source = source, .hint.scratch = scratch, .limits = &limits, .joins = scratch.fd >= 0};
    if (source && !file_parts_each(&parts, drain, &walk, &err) && err.code == ERR_NONE)
        abort();
    bool is_archive = parts.found.format && parts.found.format->kind == FORMAT_ARCHIVE;
    if (is_archive && (walk.members > limits.max_members ||
                       walk.bytes > limits.max_bytes + limits.max_members * BLOCK))
        abort();
    *found = parts.found;
    return walk;
}

// An archive or compressed, as it then may be one. Others have their own targets.
static bool may_be_archive(struct str head)
{
    static const char *const names[] = {"tar", "zip", "gzip", "zstd"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (format_like(format_named(str_of(names[i])), head, STR("")) != FORMAT_UNLIKE)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct format_found found;
    size_t head = size < FORMAT_HEAD_BYTES ? size : FORMAT_HEAD_BYTES;
    if (!may_be_archive((struct str){(const char *)data, head}))
        return 0;
    struct walk anywhere = walk_over(open_bytes(data, size, false), SCRATCH_NONE, &found);
    if (found.format && found.format->kind == FORMAT_ARCHIVE) {
        struct scratch scratch = scratch_open();
        struct walk joined = walk_over(open_bytes(data, size, false), scratch, &found);
        scratch_close(scratch);
        if (joined.members > anywhere.members)
            abort();
    }
    if (!is_plain_tar(&found) || size > limits.max_bytes) // skipped bytes count when read in order
        return 0;
    struct walk in_order = walk_over(open_bytes(data, size, true), SCRATCH_NONE, &found);
    if (anywhere.members != in_order.members || anywhere.bytes != in_order.bytes)
        abort();
    return 0;
}
